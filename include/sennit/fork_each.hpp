// SPDX-License-Identifier: Apache-2.0
// fork_each: calls one callable for each of n indices, or for each element of a range, in parallel,
// and returns the results.
//
// Use it for a handful to some thousands of children that are worth a call each. The typical case
// is a node of a search tree with its branches. For long loops over cheap elements use
// `par::for_each_n`, which works in chunks.
//
//     auto count_branch = [&](std::size_t i) { return count(branch[i]); };
//     std::array<long, 8> eight = sennit::fork_each<8>(count_branch);
//     std::vector<long> parts = sennit::fork_each(n, count_branch);
//     sennit::fork_each(n, count_branch, out);  // results go to out[0], …, out[n-1]
//     std::vector<long> sizes =
//         sennit::fork_each(names, [](const std::string& s) { return measure(s); });
//
// Guarantees as for fork_join. Index 0 runs on the caller immediately, and the caller continues
// with 1, 2, …. A free worker takes all remaining indices, and offers half of them to the next free
// worker. All calls have ended when fork_each returns or throws. After an exception, indices that
// have not started are dropped. If several calls throw, the exception of the lowest range wins.
//
// Memory: one 64-byte slot for all children. Cost of a child that is not stolen: about 1 ns. The
// only allocation is the vector of results.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/fork_join.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <type_traits>
#include <vector>

namespace sennit {

namespace detail {

// Calls `body(i)` for first <= i < last. One slot stands for all indices after the running one. It
// is pushed again for each index, so that a thief takes the whole rest.
template <class Body>
void fork_indices(Body& body, std::size_t first, std::size_t last);

struct index_range {
    void* body;
    std::size_t first;
    std::size_t last;
};

template <class Body>
bool run_stolen_indices(sched::fork_slot* slot) noexcept {
    const index_range mine = slot->as<index_range>();
    // SAFETY: the owner of the body waits for this task.
    Body& body = *static_cast<Body*>(mine.body);
    try {
        const std::size_t half = mine.first + (mine.last - mine.first + 1) / 2;
        if (half == mine.last) {
            fork_indices(body, mine.first, mine.last);
        } else {
            // The victim will soon be out of work, so this thief offers it the upper half as one
            // task.
            auto lower = [&] { fork_indices(body, mine.first, half); };
            auto upper = [&] { fork_indices(body, half, mine.last); };
            fork_two_on_worker(lower, upper);
        }
        return false;
    } catch (...) {
        ::new (static_cast<void*>(slot->data)) std::exception_ptr(std::current_exception());
        return true;
    }
}

template <class Body>
[[gnu::always_inline]] inline void fork_indices_here(Body& shared, std::size_t first,
                                                     std::size_t last) {
    // Thieves see the body through its address. The copy of this function can live in registers.
    own_copy<Body> body = shared;
    sched::fork_slot* slot = sched::free_slot();
    slot->run = &run_stolen_indices<Body>;
    auto* rest = ::new (static_cast<void*>(slot->data)) index_range{&shared, first, last};
    // The loop has one call site for all indices. A second call site would cost one more saved
    // register, and the last index needs no push and pop.
    for (std::size_t i = first;; ++i) {
        const bool more = i + 1 < last;
        if (more) {
            // Only this word of the slot changes: forks of the body use memory behind the slot.
            rest->first = i + 1;
            sched::push_fork(slot);
        }
        auto one = [&] { body(i); };
        run_first<void>(one, more ? slot : nullptr, [](sched::fork_slot*, void*) noexcept {});
        if (!more) return;
        if (!sched::pop_fork(slot)) [[unlikely]] {
            if (slot->done.failed()) rethrow_from(slot);
            return;
        }
    }
}

template <class Body>
void fork_indices(Body& body, std::size_t first, std::size_t last) {
    fork_indices_here(body, first, last);
}

template <class Body>
[[gnu::noinline, gnu::cold]] void fork_count_outside(Body& body, std::size_t count) {
    auto all = [&] { fork_indices(body, 0, count); };
    on_default_runtime(all);
}

// Not inlined. The caller's own path for a leaf then needs no saved registers, and one more call is
// cheap compared with the children. (skynet(8), one worker, g++ 12: 1.2 times the time of the plain
// function instead of 2.1 times.)
template <class Body>
[[gnu::noinline]] void fork_count(Body& body, std::size_t count) {
    if (count == 0) return;
    if (sched::free_slot()) [[likely]]
        fork_indices_here(body, 0, count);
    else
        fork_count_outside(body, count);
}

// Calls `function(i)` and stores the result in `out[i]`.
template <class F, class Out>
struct keep_result {
    own_copy<F> function;
    Out out;
    [[gnu::always_inline]] void operator()(std::size_t i) {
        out[static_cast<std::iter_difference_t<Out>>(i)] = function(i);
    }
};
template <class F, class R>
struct keep_optional {
    own_copy<F> function;
    std::optional<R>* out;
    void operator()(std::size_t i) { out[i].emplace(function(i)); }
};

// The result type of a call for one index, in the form that a vector or an array can hold.
template <class F>
struct kept_result {
    using type = std::remove_cv_t<std::invoke_result_t<F&, std::size_t>>;
    static_assert(std::is_void_v<type> || std::is_object_v<type>,
                  "fork_each cannot keep references; return pointers or std::reference_wrapper");
};

// True for a result that may stay unwritten when an exception cuts the loop short.
template <class R>
inline constexpr bool plain_result =
    std::is_trivially_default_constructible_v<R> && std::is_trivially_copyable_v<R> &&
    std::is_move_assignable_v<R>;

// Separate functions, because GCC before 14 copies a result on return when it is declared in a
// nested block.
template <class R, std::size_t Count, class F>
[[gnu::always_inline]] inline std::array<R, Count> fork_array(F& function) {
    std::array<R, Count> results;
    keep_result<F, R*> body{function, results.data()};
    fork_count(body, Count);
    return results;
}
template <class R, std::size_t Count, class F>
std::array<R, Count> fork_array_of_optionals(F& function) {
    std::array<std::optional<R>, Count> slots;
    keep_optional<F, R> body{function, slots.data()};
    fork_count(body, Count);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<R, Count>{std::move(*slots[I])...};
    }(std::make_index_sequence<Count>{});
}
template <class R, class F>
std::vector<R> fork_vector(std::size_t count, F& function) {
    std::vector<R> results;
    if constexpr (plain_result<R> && !std::same_as<R, bool>) {
        results.resize(count);
        keep_result<F, R*> body{function, results.data()};
        fork_count(body, count);
    } else {
        std::vector<std::optional<R>> slots(count);
        keep_optional<F, R> body{function, slots.data()};
        fork_count(body, count);
        results.reserve(count);
        for (auto& slot : slots) results.push_back(std::move(*slot));
    }
    return results;
}

// The calls that fork_each accepts.
template <class Count, class F, class... Out>
concept forks_indices =
    std::convertible_to<Count, std::size_t> && std::invocable<F&, std::size_t> &&
    sizeof...(Out) <= 1 && (std::random_access_iterator<std::decay_t<Out>> && ...);
template <class Range, class F, class... Out>
concept forks_range =
    sizeof...(Out) == 0 && std::ranges::random_access_range<Range> &&
    std::ranges::sized_range<Range> && std::invocable<F&, std::ranges::range_reference_t<Range>>;

} // namespace detail

// Calls `function(i)` for 0 <= i < count and writes the result to `out[i]`. Blocks until all calls
// have ended. Throws the exception of the lowest range that threw.
template <class F, std::random_access_iterator Out>
    requires std::invocable<F&, std::size_t>
[[gnu::always_inline]] inline void fork_each(std::size_t count, F&& function, Out out) {
    static_assert(!std::same_as<std::iter_reference_t<Out>, std::vector<bool>::reference>,
                  "fork_each cannot write to a std::vector<bool>: its elements share words");
    detail::keep_result<std::remove_reference_t<F>, Out> body{function, out};
    detail::fork_count(body, count);
}

// Calls `function(i)` for 0 <= i < count. Returns the results as a vector in the order of the
// indices, or nothing if `function` returns void. Blocks until all calls have ended. Throws the
// exception of the lowest range that threw, and std::bad_alloc for the vector.
template <class F>
    requires std::invocable<F&, std::size_t>
auto fork_each(std::size_t count, F&& function) {
    using R = typename detail::kept_result<F>::type;
    if constexpr (std::is_void_v<R>)
        detail::fork_count(function, count);
    else
        return detail::fork_vector<R>(count, function);
}

// Calls `function(i)` for 0 <= i < Count, a number known at compile time, and returns the results
// as a std::array. Needs no allocation. Blocks until all calls have ended. Throws the exception of
// the lowest range that threw.
template <std::size_t Count, class F>
    requires std::invocable<F&, std::size_t>
[[gnu::always_inline]] inline auto fork_each(F&& function) {
    using R = typename detail::kept_result<F>::type;
    static_assert(Count > 0, "fork_each<Count> needs at least one index");
    if constexpr (std::is_void_v<R>)
        detail::fork_count(function, Count);
    else if constexpr (detail::plain_result<R>)
        return detail::fork_array<R, Count>(function);
    else
        return detail::fork_array_of_optionals<R, Count>(function);
}

// Calls `function(element)` for each element of a random-access range. Returns the results as a
// vector in the order of the elements, or nothing if `function` returns void. Blocks and throws
// like the form for indices.
template <std::ranges::random_access_range Range, class F>
    requires std::ranges::sized_range<Range> &&
             std::invocable<F&, std::ranges::range_reference_t<Range>>
auto fork_each(Range&& range, F&& function) {
    auto begin = std::ranges::begin(range);
    using difference = std::ranges::range_difference_t<Range>;
    return fork_each(
        static_cast<std::size_t>(std::ranges::size(range)),
        [&](std::size_t i) -> std::invoke_result_t<F&, std::ranges::range_reference_t<Range>> {
            return std::invoke(function, begin[static_cast<difference>(i)]);
        });
}

// Explains a call that the other overloads refuse.
template <std::size_t Count, class F>
base::refused_call fork_each(F&&) {
    static_assert(base::refused<F>, "sennit: fork_each<Count> calls the function with an index; "
                                    "give it one parameter of type std::size_t");
    return {};
}
template <class Elements, class F, class... Out>
    requires(!detail::forks_indices<Elements, F, Out...> &&
             !detail::forks_range<Elements, F, Out...>)
base::refused_call fork_each(Elements&&, F&&, Out&&...) {
    constexpr bool counts = std::convertible_to<Elements, std::size_t>;
    constexpr bool ranges =
        std::ranges::random_access_range<Elements> && std::ranges::sized_range<Elements>;
    static_assert(counts || ranges || base::refused<F>,
                  "sennit: fork_each needs random access to the elements, and their number; copy "
                  "them into a std::vector, or spawn a child for each of them in a sennit::scope");
    static_assert(!counts || std::invocable<F&, std::size_t> || base::refused<F>,
                  "sennit: fork_each calls the function with an index; give it one parameter of "
                  "type std::size_t");
    static_assert(!counts || !std::invocable<F&, std::size_t> || base::refused<F>,
                  "sennit: fork_each(count, function, out) writes the results to a random access "
                  "iterator; pass the begin of a std::vector that has the size");
    static_assert(counts || !ranges || base::refused<F>,
                  "sennit: fork_each calls the function with one element of the range; give it one "
                  "parameter of that type");
    return {};
}

} // namespace sennit
