// SPDX-License-Identifier: Apache-2.0
// waituntil: waits until a combination of events holds, such as "this and that, or the other". It
// generalises select, which waits for the first event.
//
//     sennit::waituntil((sennit::on_ready(first, show) and sennit::on_ready(second, show))
//                       or sennit::after(2s, [] { give_up(); }));
//
// Clauses are the cases of select: on_pop, on_push, on_ready, on_lock, on_acquire, on_set, after,
// at, on_stop. They are combined by `and`, `or` and parentheses. `and` binds more tightly;
// compilers warn about an expression that relies on it.
//
// Use it to wait for several of many events. For the first event it is select, at the same cost.
// For all events, when_all, a nursery or plain waits one after the other do as well.
//
// Consumption. Clauses happen one after the other, as they become ready. A clause that happens
// takes its value: the value is out of the channel, the token out of the semaphore. The clause's
// function then runs on the calling fiber, and the next clause follows when it has returned. Only a
// clause that may still be needed happens: one of `a or b`; in `(a or b) and c` no second clause of
// the first two. A clause that has happened is not undone, even if the other side of an `or` held
// in the end, or the wait ended by an exception. A clause that has not happened has taken nothing.
// A mutex of on_lock is held while the clause's function runs, not until the whole expression
// holds.
// Fairness. Among the ready clauses (a time that has come counts) a random clause is next, so none
// starves. At one source the call is one waiter, served in the order of arrival.
// Guards. `when(condition, …)` leaves out a clause, or a whole side, if the condition is false: of
// `a and b`, the other side alone is then needed. With `otherwise` as the second argument the call
// does not wait. It happens when no needed clause is ready and the expression does not hold.
// Clauses that were ready before have happened by then.
// Exceptions and cancellation: throws `cancelled`, as select does. An exception of a clause's
// function leaves the call, and no other clause happens. Throws std::logic_error when all clauses
// are left out and there is no `otherwise`. Times count from the creation of the clause.
// Cost: one select of the remaining clauses for each clause that happens; no allocation.
// After Parsons, Advanced Concurrency Control in C-for-all, 2023 (`waituntil`). There, too, a
// clause is not needed once the other side of its `or` holds, but it may still happen.
#pragma once

#include "sennit/detail/base/refused.hpp"
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

// A node of an expression, as the driver sees it. The root is the last node.
struct wait_term {
    enum class kind : std::uint8_t { clause, all, any };
    kind what;
    std::uint8_t left, right; // of a clause: its number; otherwise the nodes of both sides
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
    std::array<select_case*, Clauses + 1> clauses{}; // the last element is the `otherwise` case
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

// `clauses` has one place more than the expression has clauses: for `otherwise`, or null. Returns a
// bit for each clause that has happened; bit `max_select_cases - 1` says that the expression
// holds.
std::uint64_t run_waituntil(std::span<select_case*> clauses, std::span<const wait_term> terms);

// the last case is `otherwise`
inline constexpr std::size_t max_wait_clauses = max_select_cases - 1;

} // namespace detail

// The result of a waituntil.
class waited {
public:
    // True if the expression holds; false if `otherwise` happened.
    explicit operator bool() const noexcept { return (bits_ >> detail::max_wait_clauses & 1) != 0; }
    // Returns true if the clause of this number has happened. Clauses are numbered from 0 in the
    // order of the source text.
    bool happened(std::size_t clause) const noexcept {
        return clause < detail::max_wait_clauses && (bits_ >> clause & 1) != 0;
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

// Returns the expression, left out unless `condition` holds.
template <detail::joint How, class L, class R>
detail::joined<How, L, R> when(bool condition, detail::joined<How, L, R> which) {
    if (!condition) detail::disable(which);
    return which;
}

// Blocks until the expression holds. Takes at most 63 clauses. Throws as the head of this file
// says.
template <detail::wait_expression E>
waited waituntil(E&& expression) {
    constexpr std::size_t count = detail::clauses_in<std::remove_cvref_t<E>>;
    static_assert(count <= detail::max_wait_clauses, "sennit: waituntil takes at most 63 clauses");
    detail::wait_plan<count> plan;
    plan.add(expression);
    return waited(detail::run_waituntil(plan.clauses, plan.terms));
}
// Does not block: calls `fallback` if the expression does not hold now.
template <detail::wait_expression E, class F>
waited waituntil(E&& expression, detail::default_case<F> fallback) {
    constexpr std::size_t count = detail::clauses_in<std::remove_cvref_t<E>>;
    static_assert(count <= detail::max_wait_clauses, "sennit: waituntil takes at most 63 clauses");
    detail::wait_plan<count> plan;
    plan.add(expression);
    plan.clauses[count] = &fallback;
    return waited(detail::run_waituntil(plan.clauses, plan.terms));
}

// Explains a call that the other overloads refuse.
template <class E, class... Fallback>
base::refused_call waituntil(E&&, Fallback&&...) {
    static_assert(base::refused<E>, "sennit: waituntil takes clauses such as on_pop, on_lock or "
                                    "after, joined by && and ||, and at most one `otherwise`");
    return {};
}

} // namespace sennit
