// SPDX-License-Identifier: Apache-2.0
// par::uninitialized_copy, uninitialized_move, uninitialized_fill, uninitialized_default_construct,
// uninitialized_value_construct, destroy: begin and end the lives of objects in raw memory, in
// parallel.
//
//     std::span<double> room(allocator.allocate(n), n);
//     sennit::par::uninitialized_fill(room, 1.0);
//
// Use them where the first access to fresh memory takes the time: the system then supplies its
// pages on all workers. For n elements at a pointer, pass std::span(pointer, n).
//
// Guarantees and cost as for `par::for_each`. Exceptions: when a constructor throws, or after a
// cancellation, the objects that were constructed are destroyed. The elements must be in a row in
// memory. Destructors must not throw.
#pragma once

#include "sennit/par/detail/call_forms.hpp"
#include "sennit/par/detail/fork_in_loop.hpp"

#include <memory>

namespace sennit::par {

namespace detail {

// The objects of a range that a worker has constructed. They are destroyed with the piece, unless
// `keep` was called.
template <class T>
class constructed_piece {
public:
    explicit constructed_piece(T* at) noexcept : first_(at), last_(at) {}
    constructed_piece(constructed_piece&& other) noexcept
        : first_(other.first_), last_(std::exchange(other.last_, other.first_)) {}
    constructed_piece& operator=(constructed_piece&& other) noexcept {
        std::swap(first_, other.first_);
        std::swap(last_, other.last_);
        return *this;
    }
    ~constructed_piece() { std::destroy(first_, last_); }

    // `construct(place)` begins the life of the next object.
    template <class Construct>
    void extend(std::size_t count, Construct construct) {
        if constexpr (std::is_trivially_destructible_v<T>) { // a loop that may be vectorised
            T* at = last_;
            for (T* const end = at + count; at != end; ++at) construct(at);
            last_ = at;
        } else {
            for (; count != 0; --count, ++last_) construct(last_);
        }
    }
    void join(constructed_piece high) noexcept {
        if (last_ != high.first_) return; // The loop was cancelled between both.
        last_ = std::exchange(high.last_, high.first_);
    }
    void keep() noexcept { last_ = first_; }

private:
    T* first_;
    T* last_;
};

// `construct(i)` returns a function that constructs object i, i + 1 and so on, at given places.
template <class T, class Construct>
struct construct_work {
    using value_type = constructed_piece<T>;
    static constexpr bool never_throws = false;

    T* begin;
    Construct construct;

    void run(std::optional<value_type>& piece, std::size_t from, std::size_t to) const {
        if (!piece) piece.emplace(begin + from);
        piece->extend(to - from, construct(from));
    }
    value_type join(value_type low, value_type high) const noexcept {
        low.join(std::move(high));
        return low;
    }
};
template <class T, class Construct>
void construct_all(const with& options, T* begin, std::size_t n, const Construct& construct) {
    auto all = run_loop(construct_work<T, Construct>{begin, construct}, {}, n, options);
    if (all) all->keep();
}

// The address of raw memory for the first element.
template <std::contiguous_iterator I>
std::iter_value_t<I>* raw_memory(const I& first, std::size_t n) noexcept {
    return n == 0 ? nullptr : std::addressof(*first);
}
template <class I>
concept raw_iterator =
    std::contiguous_iterator<I> &&
    std::same_as<std::remove_reference_t<std::iter_reference_t<I>>, std::iter_value_t<I>>;

template <bool Value>
struct construct_algorithm {
    template <class I>
    static constexpr bool accepts =
        raw_iterator<I> && std::default_initializable<std::iter_value_t<I>>;

    template <class I>
    static I run(const with& options, I first, std::size_t n) {
        using T = std::iter_value_t<I>;
        if constexpr (!Value && std::is_trivially_default_constructible_v<T>) {
            // The lives begin without a write.
        } else {
            construct_all(options, raw_memory(first, n), n, [](std::size_t) {
                return [](T* place) {
                    if constexpr (Value)
                        std::construct_at(place);
                    else
                        ::new (static_cast<void*>(place)) T;
                };
            });
        }
        return advanced(first, n);
    }
};

struct uninitialized_fill_algorithm {
    template <class I, class T, class Proj>
    static constexpr bool accepts = std::same_as<Proj, std::identity> && raw_iterator<I> &&
                                    std::constructible_from<std::iter_value_t<I>, const T&>;

    template <class I, class T>
    static I run(const with& options, I first, std::size_t n, T& value, std::identity&) {
        using element = std::iter_value_t<I>;
        construct_all(options, raw_memory(first, n), n,
                      [value = shared_callable<const T>{value}](std::size_t) {
                          return
                              [own = value](element* place) { std::construct_at(place, own.call); };
                      });
        return advanced(first, n);
    }
};

template <bool Move>
struct uninitialized_copy_algorithm {
    template <class I>
    static decltype(auto) element(const I& at) {
        if constexpr (Move)
            return std::ranges::iter_move(at);
        else
            return *at;
    }
    template <class I, class O>
    static constexpr bool accepts =
        raw_iterator<O> &&
        std::constructible_from<
            std::iter_value_t<O>,
            std::conditional_t<Move, std::iter_rvalue_reference_t<I>, std::iter_reference_t<I>>>;

    template <class I, class O>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room) {
        using T = std::iter_value_t<O>;
        const std::size_t count = std::min(n, room);
        construct_all(options, raw_memory(out, count), count, [first](std::size_t from) {
            return [at = advanced(first, from)](T* place) mutable {
                std::construct_at(place, element(at));
                ++at;
            };
        });
        return {advanced(first, count), advanced(out, count)};
    }
    template <class R, class OR, class I, class O>
    static auto borrowed(std::ranges::in_out_result<I, O> result) {
        return borrowed_in_out<R, OR>(result);
    }
};

struct destroy_algorithm {
    template <class I>
    static constexpr bool accepts = raw_iterator<I>;

    template <class I>
    static I run(const with& options, I first, std::size_t n) {
        if constexpr (!std::is_trivially_destructible_v<std::iter_value_t<I>>) {
            loop_control loop(options);
            auto all = [&]() noexcept { destroy_in_parallel(loop, first, 0, n); };
            if (sched::free_slot())
                all();
            else
                sennit::detail::on_default_runtime(all);
        }
        return advanced(first, n);
    }

private:
    // The cancellation does not stop it.
    template <class I>
    static void destroy_in_parallel(loop_control& loop, I first, std::size_t from,
                                    std::size_t to) noexcept {
        if (to - from <= 1024) return std::destroy(advanced(first, from), advanced(first, to));
        const std::size_t half = from + (to - from) / 2;
        auto lower = [&]() noexcept { destroy_in_parallel(loop, first, from, half); };
        auto upper = [&]() noexcept { destroy_in_parallel(loop, first, half, to); };
        fork_in_loop(loop, lower, upper);
    }
};

} // namespace detail

// uninitialized_copy(range, out), uninitialized_copy(first, last, out, out_last), both with options
// in front. Constructs copies of the elements in the output, as far as it reaches. Blocks until all
// are constructed. Returns {in, out} where it stopped. Throws the exception of the first
// constructor that throws, and `cancelled`; the output is raw memory again then.
inline constexpr detail::algorithm<detail::copy_calls<detail::uninitialized_copy_algorithm<false>>>
    uninitialized_copy{};
// Like uninitialized_copy, but moves the elements. After an exception, elements of the input may
// have been moved from.
inline constexpr detail::algorithm<detail::copy_calls<detail::uninitialized_copy_algorithm<true>>>
    uninitialized_move{};
// uninitialized_fill(range, value), uninitialized_fill(first, last, value), both with options in
// front. Constructs a copy of value in each place. Blocks and throws like uninitialized_copy.
// Returns the end.
inline constexpr detail::algorithm<detail::element_calls<detail::uninitialized_fill_algorithm>>
    uninitialized_fill{};
// uninitialized_default_construct(range), uninitialized_default_construct(first, last), both with
// options in front: default-initialised objects, so that numbers have no value. Blocks, returns and
// throws like uninitialized_fill.
inline constexpr detail::algorithm<detail::range_calls<detail::construct_algorithm<false>>>
    uninitialized_default_construct{};
// Like uninitialized_default_construct, for value-initialised objects: numbers are 0.
inline constexpr detail::algorithm<detail::range_calls<detail::construct_algorithm<true>>>
    uninitialized_value_construct{};
// destroy(range), destroy(first, last), both with options in front: calls the destructors. Blocks
// until all have returned. Returns the end. A cancellation does not stop it.
inline constexpr detail::algorithm<detail::range_calls<detail::destroy_algorithm>> destroy{};

} // namespace sennit::par
