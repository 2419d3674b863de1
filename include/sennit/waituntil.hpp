// SPDX-License-Identifier: Apache-2.0
// waituntil: waits until a combination of events holds: this and that, or the other; what select is
// for the first one.
//
//     sennit::waituntil((sennit::on_ready(first, show) and sennit::on_ready(second, show))
//                       or sennit::after(2s, [] { give_up(); }));
//
// Clauses are the cases of select: on_pop, on_push, on_ready, on_lock, on_acquire, on_set, after,
// at, on_stop. They are combined by `and`, `or` (`and` binds more tightly; compilers warn if you
// rely on it) and parentheses. Use it for some of many events; for the first of all it is select at
// the same cost, for all of them when_all, a nursery or plain waits one after the other do as well.
//
// What is consumed when. One clause after the other happens, as they become ready: it takes what it
// waits for (the value is out of the channel, the token out of the semaphore), its function runs at
// once on the calling fiber, and the next is looked at when that has returned. Only a clause that
// may still be needed happens: of `a or b` one; in
// `(a or b) and c` no second of the two. What has happened stays so, if in the end it was the other
// side of an `or` that held, or the wait ended by an exception. A clause that has not happened has
// taken nothing. A mutex of on_lock is held while its clause's function runs, not until the whole
// holds. Fairness. Of clauses that are ready, a time that has come included, a random one is next,
// so none starves; among waiters of one source it is one, in the order of coming. Guards.
// `when(condition, …)` leaves a clause, or a whole side, out if the condition is false: of `a and
// b`, the other is needed alone. `otherwise` as the second argument makes it not wait: it happens
// when no clause that is needed is ready and the whole does not hold. Clauses that were ready
// before it have happened. Point of cancellation: throws `cancelled`, as select does; and what a
// clause's function throws, after which no other clause happens. Throws std::logic_error when all
// clauses are left out and there is no `otherwise`. Times count from the making of the clause.
// Cost: one select of the clauses left for each that happens; no allocation. After Parsons,
// Advanced Concurrency Control in C-for-all, 2023 (`waituntil`); there, a clause needs no more of
// an `or` that holds already either, but may still happen.
#pragma once

#include "sennit/select.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

// A place of an expression, as the driver sees it: the root comes last.
struct wait_term {
    enum class kind : std::uint8_t { clause, all, any };
    kind what;
    std::uint8_t left, right; // of a clause: its number; else the places of both sides
};

enum class joint : bool { all, any };

template <joint How, class L, class R>
struct joined {
    L left;
    R right;
};

template <class T>
inline constexpr std::size_t clauses_in = std::derived_from<T, select_case> ? 1 : 0;
template <joint How, class L, class R>
inline constexpr std::size_t clauses_in<joined<How, L, R>> = clauses_in<L> + clauses_in<R>;

template <class T>
inline constexpr bool is_default_case = false;
template <class F>
inline constexpr bool is_default_case<default_case<F>> = true;

template <class T>
concept wait_expression = clauses_in<T> > 0 && !is_default_case<T>;

template <std::size_t Clauses>
struct wait_plan {
    std::array<select_case*, Clauses + 1> clauses{}; // the last one: what happens otherwise
    std::array<wait_term, 2 * Clauses - 1> terms{};
    std::size_t clause_count = 0, term_count = 0;

    template <std::derived_from<select_case> Case>
    std::uint8_t add(Case& one) noexcept {
        clauses[clause_count] = &one;
        return add(
            wait_term{wait_term::kind::clause, static_cast<std::uint8_t>(clause_count++), 0});
    }
    template <joint How, class L, class R>
    std::uint8_t add(joined<How, L, R>& both) noexcept {
        const std::uint8_t left = add(both.left), right = add(both.right);
        return add(wait_term{How == joint::all ? wait_term::kind::all : wait_term::kind::any, left,
                             right});
    }
    std::uint8_t add(wait_term term) noexcept {
        terms[term_count] = term;
        return static_cast<std::uint8_t>(term_count++);
    }
};

// `clauses` has one more place than the expression has clauses: `otherwise`, or null. Returns which
// have happened; bit `most_select_cases - 1`: the expression holds.
std::uint64_t run_waituntil(std::span<select_case*> clauses, std::span<const wait_term> terms);

inline constexpr std::size_t most_wait_clauses = most_select_cases - 1; // and `otherwise`

} // namespace detail

// What has come of it.
class waited {
public:
    // The expression holds; false: `otherwise` happened.
    explicit operator bool() const noexcept {
        return (bits_ >> detail::most_wait_clauses & 1) != 0;
    }
    // Whether the clause of this number has happened; they count from 0 as they are written.
    bool happened(std::size_t clause) const noexcept {
        return clause < detail::most_wait_clauses && (bits_ >> clause & 1) != 0;
    }

private:
    template <detail::wait_expression E>
    friend waited waituntil(E&& expression);
    template <detail::wait_expression E, class F>
    friend waited waituntil(E&& expression, detail::default_case<F> fallback);
    explicit waited(std::uint64_t bits) noexcept : bits_(bits) {}
    std::uint64_t bits_;
};

namespace detail {

template <wait_expression L, wait_expression R>
joined<joint::all, L, R> operator&&(L&& left, R&& right) {
    return {std::move(left), std::move(right)};
}
template <wait_expression L, wait_expression R>
joined<joint::any, L, R> operator||(L&& left, R&& right) {
    return {std::move(left), std::move(right)};
}

inline void disable(select_case& one) noexcept {
    one.enabled = false;
}
template <joint How, class L, class R>
void disable(joined<How, L, R>& both) noexcept {
    disable(both.left);
    disable(both.right);
}

} // namespace detail

// The expression, if `condition` holds; else it is left out.
template <detail::joint How, class L, class R>
detail::joined<How, L, R> when(bool condition, detail::joined<How, L, R> which) {
    if (!condition) detail::disable(which);
    return which;
}

// Blocks until the expression holds. At most 63 clauses.
template <detail::wait_expression E>
waited waituntil(E&& expression) {
    constexpr std::size_t count = detail::clauses_in<std::remove_cvref_t<E>>;
    static_assert(count <= detail::most_wait_clauses, "sennit: waituntil takes at most 63 clauses");
    detail::wait_plan<count> plan;
    plan.add(expression);
    return waited(detail::run_waituntil(plan.clauses, plan.terms));
}
// Does not block.
template <detail::wait_expression E, class F>
waited waituntil(E&& expression, detail::default_case<F> fallback) {
    constexpr std::size_t count = detail::clauses_in<std::remove_cvref_t<E>>;
    static_assert(count <= detail::most_wait_clauses, "sennit: waituntil takes at most 63 clauses");
    detail::wait_plan<count> plan;
    plan.add(expression);
    plan.clauses[count] = &fallback;
    return waited(detail::run_waituntil(plan.clauses, plan.terms));
}

} // namespace sennit
