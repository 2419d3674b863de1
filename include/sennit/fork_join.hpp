// SPDX-License-Identifier: Apache-2.0
// fork_join: runs callables in parallel and returns all their results.
//
// Use it wherever the code has two or more independent computations: divide and conquer is written
// as the plain recursion it is. Do not use it for a number of children known only at run time
// (`fork_each`, `scope`) or for loops over ranges (`par::for_each`).
//
//     long fib(int n) {
//         if (n < 2) return n;
//         auto [a, b] = sennit::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
//         return a + b;
//     }
//
// Guarantees. The first callable starts on the caller immediately. The caller also runs the other
// callables in order, except those that a free worker steals. All callables have ended when
// fork_join returns or throws. A wait for a stolen child suspends the calling context and leaves
// its worker free; the worker never runs unrelated tasks on top of the caller. A child may
// therefore block in any call of Sennit. A system call in a child blocks its worker, unless it is
// wrapped in `sennit::blocking`. The caller may continue in another thread: do not hold a
// std::mutex over the call, and do not read the same thread_local before and after it.
//
// Exceptions. If the first callable throws, its exception wins: callables that have not started are
// dropped, running callables are awaited, and their exceptions are dropped. Otherwise fork_join
// throws the exception of the first callable in order that threw.
//
// When a thread that is no worker calls it, the whole call runs on the default runtime and blocks
// the thread.
//
// Cost. A fork that is not stolen takes about 1 ns, with no allocation and no locked instruction. A
// stolen fork takes less than 1 µs. Small closures that are trivially copyable are copied. The
// limit is 48 bytes, and excludes the first closure; on a thread that is no worker the limit is 64
// bytes and includes it. Larger closures are called where they are.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/base/result.hpp"
#include "sennit/detail/core/fork_stack.hpp"
#include "sennit/runtime.hpp"

#include <exception>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

// Implemented in src/fork_join/fork_join.cpp. `catch_pending` keeps the exception that is being
// handled. `abandon` waits until no thread uses `slot` any more (null: there is no slot), drops the
// content of the slot, and throws the kept exception. `rethrow_from` throws the exception that a
// thief left in the slot. Neither `abandon` nor `rethrow_from` is marked noreturn, on purpose: a
// path that seems to come back to the function's normal exit lets clang keep leaf calls free of
// saved registers (fib(39): 0.315 s instead of 0.334 s).
[[gnu::cold, gnu::noinline]] void catch_pending() noexcept;
[[gnu::cold, gnu::noinline]] void
abandon(sched::fork_slot* slot, void (*drop_result)(sched::fork_slot*, void*) noexcept, void* room);
[[gnu::cold, gnu::noinline]] void rethrow_from(sched::fork_slot* slot);

struct nothing {};

// True if T can be copied as bytes. std::is_trivially_copyable is not enough: it is also true for
// types whose copy constructor is deleted (a type with an atomic member) or explicit.
template <class T>
inline constexpr bool trivially_copied =
    std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> &&
    std::is_convertible_v<T&, T>;

// True if a callable is copied into the slot instead of referred to: it is an object, not a
// function, and it is small.
template <class G>
consteval bool copied_within(std::size_t bytes) {
    if constexpr (std::is_object_v<G>)
        return trivially_copied<G> && alignof(G) <= 16 && sizeof(G) <= bytes;
    else
        return false;
}

// The content of a slot for a child with closure G and result R: first the closure, after the child
// has run the result or the exception.
template <class G, class R>
struct child {
    using stored = stored_t<R>;
    static constexpr std::size_t room = sched::fork_slot::capacity;
    static constexpr bool result_in_slot = sizeof(stored) <= room && alignof(stored) <= 16;
    static constexpr bool copied = copied_within<G>(room - (result_in_slot ? 0 : 16));
    using closure = std::conditional_t<copied, G, G*>;
    using result_address = std::conditional_t<result_in_slot, nothing, stored*>;

    struct payload {
        closure function;
        [[no_unique_address]] result_address result;
    };

    static G& callable(payload& from) noexcept {
        if constexpr (copied)
            return from.function;
        else
            return *from.function;
    }

    static void* place(sched::fork_slot* slot, const payload& from) noexcept {
        if constexpr (result_in_slot)
            return slot->data;
        else
            return from.result;
    }

    static bool run(sched::fork_slot* slot) noexcept {
        payload own = slot->as<payload>();
        try {
            store_result<R>(place(slot, own), callable(own));
            return false;
        } catch (...) {
            ::new (static_cast<void*>(slot->data)) std::exception_ptr(std::current_exception());
            return true;
        }
    }

    // Destroys a result that is not needed. `elsewhere` is the address of a result that is too
    // large for the slot.
    static void drop(sched::fork_slot* slot, [[maybe_unused]] void* elsewhere) noexcept {
        if constexpr (result_in_slot)
            std::destroy_at(std::addressof(slot->as<stored>()));
        else
            std::destroy_at(static_cast<stored*>(elsewhere));
    }
};

// Room for a result that is too large for a slot.
template <class Stored, bool Needed>
struct spare_room {
    static constexpr nothing address() noexcept { return {}; }
    static constexpr void* memory() noexcept { return nullptr; }
};
template <class Stored>
struct spare_room<Stored, true> {
    alignas(Stored) std::byte bytes[sizeof(Stored)];
    void* memory() noexcept { return bytes; }
    Stored* address() noexcept {
        // SAFETY: the child has constructed the result there.
        return reinterpret_cast<Stored*>(bytes);
    }
};

template <class R>
struct destroy_after {
    R& value;
    ~destroy_after() { std::destroy_at(std::addressof(value)); }
};

// Calls `first`. If `first` throws, it gives the slot up before the exception continues.
template <class R, class F>
[[gnu::always_inline]] inline result_t<R> run_first(F& first, sched::fork_slot* slot,
                                                    [[maybe_unused]] void (*drop)(sched::fork_slot*,
                                                                                  void*) noexcept,
                                                    [[maybe_unused]] void* room = nullptr) {
    if constexpr (std::is_nothrow_invocable_v<F&>) {
        return invoke_result<R>(first);
    } else {
        try {
            return invoke_result<R>(first);
        } catch (...) {
            catch_pending();
        }
        abandon(slot, drop, room);
        if constexpr (std::is_void_v<R>)
            return {}; // never reached; see abandon
        else if constexpr (trivially_copied<result_t<R>> && !std::is_reference_v<R> &&
                           sizeof(result_t<R>) <= sched::fork_slot::capacity)
            return sched::free_slot()->as<result_t<R>>(); // never reached; see abandon
        else
            __builtin_unreachable();
    }
}

// True for a small trivially copyable object: the code then uses a copy, which the compiler can
// keep in registers. Every other callable is used in place.
template <class T>
consteval bool has_own_copy() {
    if constexpr (std::is_object_v<T>)
        return trivially_copied<T> && sizeof(T) <= 64;
    else
        return false; // a function
}
template <class T>
using own_copy = std::conditional_t<has_own_copy<T>(), T, T&>;

template <class F, class G>
using both_t = std::tuple<result_t<std::invoke_result_t<F&>>, result_t<std::invoke_result_t<G&>>>;

template <class F, class G>
[[gnu::noinline, gnu::cold]] both_t<F, G> fork_outside(F& first, G& second);

// Runs two callables in parallel and returns their results as a tuple. `slot` is the free slot of
// the running context. All other forms of fork are built on this function.
template <class F, class G>
[[gnu::always_inline]] inline both_t<F, G> fork_two_at(sched::fork_slot* slot, F& first,
                                                       G& second) {
    using R1 = std::invoke_result_t<F&>;
    using R2 = std::invoke_result_t<G&>;
    using both = both_t<F, G>;
    using kid = child<G, R2>;

    [[maybe_unused]] spare_room<typename kid::stored, !kid::result_in_slot> room;
    slot->run = &kid::run;
    if constexpr (kid::copied)
        ::new (static_cast<void*>(slot->data)) typename kid::payload{second, room.address()};
    else
        ::new (static_cast<void*>(slot->data))
            typename kid::payload{std::addressof(second), room.address()};
    sched::push_fork(slot);

    result_t<R1> mine = run_first<R1>(first, slot, &kid::drop, room.memory());

    if (sched::pop_fork(slot)) [[likely]] {
        if constexpr (kid::copied) {
            G function = slot->as<typename kid::payload>().function;
            return both(std::forward<result_t<R1>>(mine), invoke_result<R2>(function));
        } else {
            return both(std::forward<result_t<R1>>(mine), invoke_result<R2>(second));
        }
    }
    if (slot->done.failed()) rethrow_from(slot);
    typename kid::stored* theirs;
    if constexpr (kid::result_in_slot)
        theirs = std::addressof(slot->as<typename kid::stored>());
    else
        theirs = room.address();
    destroy_after<typename kid::stored> guard{*theirs};
    return both(std::forward<result_t<R1>>(mine), load_result<R2>(*theirs));
}

// fork_two for code that runs on a worker in any case, such as the inside of a loop.
template <class F, class G>
[[gnu::always_inline]] inline both_t<F, G> fork_two_on_worker(F& first, G& second) {
    return fork_two_at(sched::free_slot(), first, second);
}

// Runs two callables in parallel, on any thread.
template <class F, class G>
[[gnu::always_inline]] inline both_t<F, G> fork_two(F& first, G& second) {
    sched::fork_slot* slot = sched::free_slot();
    if (!slot) [[unlikely]] {
        // The call works on copies, so that the addresses of the originals do not escape and the
        // originals can live in registers.
        own_copy<F> outside_first = first;
        own_copy<G> outside_second = second;
        return fork_outside(outside_first, outside_second);
    }
    return fork_two_at(slot, first, second);
}

template <class F, class G>
both_t<F, G> fork_outside(F& first, G& second) {
    auto both = [&] { return fork_two_on_worker(first, second); };
    return on_default_runtime(both);
}

// Runs N callables as nested pairs. A thief therefore takes the whole rest in one steal, the
// largest possible task.
template <class F>
[[gnu::always_inline]] inline auto fork_all(F& only) {
    using R = std::invoke_result_t<F&>;
    return std::tuple<result_t<R>>(invoke_result<R>(only));
}
template <class F, class G>
[[gnu::always_inline]] inline auto fork_all(F& first, G& second) {
    return fork_two(first, second);
}
template <class F, class G, class H, class... Rest>
[[gnu::always_inline]] inline auto fork_all(F& first, G& second, H& third, Rest&... rest) {
    auto others = [&] { return fork_all(second, third, rest...); };
    auto pair = fork_two(first, others);
    return std::tuple_cat(
        std::tuple<std::tuple_element_t<0, decltype(pair)>>(
            std::forward<std::tuple_element_t<0, decltype(pair)>>(std::get<0>(pair))),
        std::get<1>(std::move(pair)));
}

} // namespace detail

// Runs all callables, in parallel where workers are free, and returns their results as a std::tuple
// in the order of the arguments. Blocks the calling context until all callables have ended. Throws
// as the head of this file says. A result of type void appears as std::monostate; if all results
// are void, fork_join returns void.
template <class... F>
    requires(sizeof...(F) >= 2 && (std::is_invocable_v<F&> && ...))
[[gnu::always_inline]] inline auto fork_join(F&&... functions) {
    if constexpr ((std::is_void_v<std::invoke_result_t<F&>> && ...))
        (void)detail::fork_all(functions...);
    else
        return detail::fork_all(functions...);
}
// Explains a call that the other overload refuses.
template <class... F>
base::refused_call fork_join(F&&...) {
    static_assert(sizeof...(F) >= 2 || base::refused<F...>,
                  "sennit: fork_join runs two or more functions; call a single function directly");
    static_assert(sizeof...(F) < 2 || base::refused<F...>,
                  "sennit: fork_join calls each function without arguments; capture the arguments "
                  "in a lambda");
    return {};
}

} // namespace sennit
