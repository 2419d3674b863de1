// SPDX-License-Identifier: Apache-2.0
// monitor, enter, condition, waitfor: objects whose member functions run one at a time, and can
// wait for each other.
//
//     class buffer : public sennit::monitor {
//         sennit::condition not_full{*this}, not_empty{*this};
//     public:
//         void put(int value) {
//             auto in = sennit::enter<&buffer::put>(*this);  // until the end of the block
//             if (values.size() == most) not_full.wait();    // `if`: no other task comes first
//             values.push_back(value);
//             not_empty.signal();
//         }
//
// Use it where several tasks share an object and have to wait for each other's changes to it. Do
// not use it for a few instructions of exclusion, where `mutex` is as fast and less strict, or
// where only the last value counts (`event`).
//
// Entering. `enter(a, b, …)` enters all monitors together, in one global order, so no order of
// arguments deadlocks. A task that is inside may enter again. Enter each set as a whole: nested
// scopes are entered in the order of the program, without a global order. A scope belongs to the
// fiber (forked child, thread) that created it. Waiting to enter is not a point of cancellation.
// Leaving hands the monitor to the next task. Signalled tasks come before entering tasks, the
// newest signal first. Entering tasks come in the order of arrival. The monitor is never free while
// a task waits, so no task overtakes.
// Internal scheduling: `condition`. External scheduling: `waitfor(accept<&T::member>(t), …)` lets
// calls of these members run before the caller continues, if they enter with `enter<&T::member>`.
// Both are points of cancellation: in a cancelled nursery or with_timeout they take their monitors
// again and throw `cancelled`.
// A task awaits `async_enter(a, b, …)` to enter (sennit/monitor/async_enter.hpp), and
// `condition::async_wait` and `async_waitfor` to wait inside (sennit/monitor/async_wait.hpp).
// Errors that end the program: waiting, signalling or accepting without being inside all the
// monitors concerned; destroying a monitor that is in use, or a condition with waiters.
// `enter_destructor` in a destructor waits for the users of the monitor.
// Cost without contention: for each monitor one compare-and-swap to enter and one to leave.
// After Buhr, Fortier and Coffin, Monitor Classification, 1995 (priority signalling); Delisle and
// Buhr, Advanced Control-flow and Concurrency in C-for-all, 2021 (several at once; external
// scheduling over sets).
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/monitor/condition.hpp"
#include "sennit/monitor/core.hpp"
#include "sennit/monitor/waitfor.hpp"

#include <array>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace sennit {

// The time inside N monitors, as returned by `enter`. The destructor leaves the monitors that the
// constructor has entered.
template <std::size_t N>
class [[nodiscard]] inside {
public:
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;
    [[gnu::always_inline]] ~inside() {
        if constexpr (N > 1)
            leave(std::make_index_sequence<N>());
        else if (fresh_ != 0 && !all_[0]->leave_elided(me_)) [[unlikely]]
            all_[0]->transfer_and_notify();
    }

private:
    friend struct detail::entrance;
    // The members are initialised directly, not through an array. A copy of a whole array right
    // after the stores to its elements would wait for those stores.
    template <class... M>
    [[gnu::always_inline]] explicit inside(detail::member_key member, M*... all) noexcept
        : me_(detail::self_identity()), all_{all...} {
        if constexpr (N > 1) {
            sort();
            enter(member, std::make_index_sequence<N>());
        } else {
            fresh_ =
                all_[0]->enter_elided(me_) || detail::monitor_ops::enter_one(*all_[0], me_, member)
                    ? 1u
                    : 0u;
        }
    }
    // The monitors, in order, have been entered.
    inside(const std::array<monitor*, N>& sorted, std::uintptr_t me, unsigned fresh) noexcept
        : me_(me), all_(sorted), fresh_(fresh) {}
    struct adopting {};
    static bool try_enter(monitor& one, std::uintptr_t me) noexcept { return one.enter_elided(me); }
    inside(monitor& entered, std::uintptr_t me, bool fresh) noexcept
        : me_(me), all_{&entered}, fresh_(fresh ? 1 : 0) {}
    inside(monitor& reserved, adopting) noexcept
        : me_(detail::self_identity()), all_{&reserved}, fresh_(1) {
        detail::monitor_ops::adopt(reserved);
    }
    // Enters several monitors in order; `leave` leaves them in reverse order. In single-threaded
    // mode, one begin_exclusive covers all of them.
    template <std::size_t... I>
    [[gnu::always_inline]] void enter(detail::member_key member,
                                      std::index_sequence<I...>) noexcept {
        unsigned fresh = 0; // in a register: entering is a barrier for values in memory
        bool done = false;
        if (base::begin_exclusive()) {
            done = ((all_[I]->enter_in_solitude(me_) && (fresh |= 1u << I) != 0) && ...);
            base::end_exclusive();
        } else {
            done = ((all_[I]->enter_now(me_) && (fresh |= 1u << I) != 0) && ...);
        }
        if (!done) [[unlikely]] {
            const auto next = static_cast<std::size_t>(std::popcount(fresh));
            fresh |= detail::monitor_ops::enter_from(all_.data(), N, next, me_, member);
        }
        fresh_ = fresh;
    }
    template <std::size_t... I>
    [[gnu::always_inline]] void leave(std::index_sequence<I...>) noexcept {
        const unsigned fresh = fresh_;
        std::size_t last = N - 1;
        const auto ours = [&](std::size_t i) { return (fresh >> (last = i) & 1) != 0; };
        bool done = false;
        if (base::begin_exclusive()) {
            done = ((!ours(N - 1 - I) || all_[N - 1 - I]->leave_in_solitude(me_)) && ...);
            base::end_exclusive();
        } else {
            done = ((!ours(N - 1 - I) || all_[N - 1 - I]->leave_now(me_)) && ...);
        }
        if (!done) [[unlikely]]
            detail::monitor_ops::leave_from(all_.data(), last + 1, fresh, me_);
    }
    void sort() noexcept { sort(all_); }
    // N is small, so the function exchanges each pair that may be out of order.
    static void sort(std::array<monitor*, N>& all) noexcept {
        for (std::size_t i = 1; i < N; ++i)
            for (std::size_t k = i; k > 0; --k) {
                monitor *low = all[k - 1], *high = all[k];
                const bool swapped = std::less<>()(high, low);
                all[k - 1] = swapped ? high : low;
                all[k] = swapped ? low : high;
            }
    }
    static bool try_enter_next(monitor& one, std::uintptr_t me) noexcept {
        return one.enter_now(me);
    }

    std::uintptr_t me_;
    std::array<monitor*, N> all_;
    unsigned fresh_ = 0; // bit i: the caller was not inside all_[i] before
};

namespace detail {

// Creates scopes.
struct entrance {
    template <class... M>
    static inside<sizeof...(M)> into(member_key member, M&... monitors) noexcept {
        return inside<sizeof...(M)>(member, &as_monitor(monitors)...);
    }
    // The two ends of a task's entry.
    static bool try_enter(monitor& one, std::uintptr_t me) noexcept {
        return inside<1>::try_enter(one, me);
    }
    static inside<1> entered(monitor& one, std::uintptr_t me, bool fresh) noexcept {
        return inside<1>(one, me, fresh);
    }
    template <std::size_t N>
    static void sort(std::array<monitor*, N>& all) noexcept {
        inside<N>::sort(all);
    }
    static bool try_enter_next(monitor& one, std::uintptr_t me) noexcept {
        return inside<2>::try_enter_next(one, me);
    }
    template <std::size_t N>
    static inside<N> entered(const std::array<monitor*, N>& sorted, std::uintptr_t me,
                             unsigned fresh) noexcept {
        return inside<N>(sorted, me, fresh);
    }
    static inside<1> adopted(monitor& reserved) noexcept {
        return inside<1>(reserved, inside<1>::adopting());
    }
};

} // namespace detail

// Enters all monitors, at most 8, and returns the scope. Blocks until the caller is inside all of
// them. Does not throw.
template <std::derived_from<monitor>... M>
    requires(sizeof...(M) > 0 && sizeof...(M) <= detail::max_monitors)
[[nodiscard]] inside<sizeof...(M)> enter(M&... monitors) noexcept {
    return detail::entrance::into(nullptr, monitors...);
}
// Enters all monitors as a call of `Member`, which waitfor may accept. `Member` is a member
// function of the first monitor's class whose first parameters are the other monitors, or a
// function whose first parameters are all of the monitors. Blocks until the caller is inside all of
// them. Does not throw.
template <auto Member, std::derived_from<monitor>... M>
    requires(sizeof...(M) > 0 && sizeof...(M) <= detail::max_monitors)
[[nodiscard]] inside<sizeof...(M)> enter(M&... monitors) noexcept {
    static_assert(detail::is_call_on<decltype(Member), M...>,
                  "sennit: not a function of these monitors");
    return detail::entrance::into(&detail::key_of_member<Member>, monitors...);
}
// Explains a call that the other overloads refuse.
template <class... M>
base::refused_call enter(M&...) noexcept {
    static_assert((std::derived_from<M, monitor> && ...) || base::refused<M...>,
                  "sennit: enter takes objects whose classes derive from sennit::monitor; wrap "
                  "others in sennit::monitored");
    static_assert(!(std::derived_from<M, monitor> && ...) || base::refused<M...>,
                  "sennit: enter takes from 1 to 8 monitors");
    return {};
}
template <auto Member, class... M>
base::refused_call enter(M&... monitors) noexcept {
    return enter(monitors...);
}
// Call it first in the destructor of a class that derives from monitor. It blocks until all tasks
// that are inside or arrived earlier have left. accept_destructor accepts it.
[[nodiscard]] inline inside<1> enter_destructor(monitor& dying) noexcept {
    return detail::entrance::into(&detail::key_of_destructor, dying);
}

// ---- external scheduling
// -------------------------------------------------------------------------------------------

// The clauses of waitfor. accept accepts a call of `Member` on exactly these monitors; `.then(f)`
// sets the function that runs after the call.
template <auto Member, std::derived_from<monitor>... M>
    requires(sizeof...(M) > 0 && sizeof...(M) <= detail::max_monitors)
detail::clause_with<> accept(M&... monitors) noexcept {
    static_assert(detail::is_call_on<decltype(Member), M...>,
                  "sennit: not a function of these monitors");
    return {{.what = detail::accept_clause::kind::call,
             .member = &detail::key_of_member<Member>,
             .of = detail::monitor_set(monitors...)}};
}
// Explains a call that the overload above refuses.
template <auto Member, class... M>
base::refused_call accept(M&...) noexcept {
    static_assert((std::derived_from<M, monitor> && ...) || base::refused<M...>,
                  "sennit: accept takes objects whose classes derive from sennit::monitor");
    static_assert(!(std::derived_from<M, monitor> && ...) || base::refused<M...>,
                  "sennit: accept takes from 1 to 8 monitors");
    return {};
}
// Accepts the destruction of the monitor. waitfor then returns immediately, and the destructor
// continues when the caller has left.
inline detail::clause_with<> accept_destructor(monitor& mine) noexcept {
    return {{.what = detail::accept_clause::kind::call,
             .member = &detail::key_of_destructor,
             .of = detail::monitor_set(mine)}};
}
// A clause that happens when no call of the other clauses has come within `duration`.
template <class Rep, class Period>
detail::clause_with<> timeout(const std::chrono::duration<Rep, Period>& duration) {
    return {{.what = detail::accept_clause::kind::timeout,
             .deadline_ns = sched::deadline_in(duration)}};
}
// A clause that happens when no call of the other clauses waits now.
inline detail::clause_with<> or_else() noexcept {
    return {{.what = detail::accept_clause::kind::otherwise}};
}
// Returns the clause, switched off unless `condition` holds.
template <std::derived_from<detail::accept_clause> Clause>
Clause when(bool condition, Clause which) {
    which.enabled = which.enabled && condition;
    return which;
}

// Lets one call of the clauses run, and blocks until there is one. If several calls wait, it takes
// the first clause with a waiting call, and the oldest call of that clause. Then it calls the
// clause's function and returns the clause's number, counted from 0; it returns `no_clause` when
// all clauses are switched off. The caller must be inside all monitors of the clauses, and is
// inside again when waitfor returns. Throws `cancelled` and the exceptions of the clause's
// function. An exception of the accepted call goes to the caller of that call.
template <class... Clauses>
    requires(std::derived_from<std::remove_cvref_t<Clauses>, detail::accept_clause> && ...)
std::size_t waitfor(Clauses&&... clauses) {
    const std::array<const detail::accept_clause*, sizeof...(Clauses)> all{&clauses...};
    const std::size_t chosen = detail::run_waitfor(all);
    std::size_t i = 0;
    ((chosen == i++ ? void(clauses.function()) : void(0)), ...);
    return chosen;
}
// Explains a call that the overload above refuses.
template <class... Clauses>
base::refused_call waitfor(Clauses&&...) {
    static_assert(base::refused<Clauses...>,
                  "sennit: waitfor takes clauses: accept<&T::member>(object), "
                  "accept_destructor(object), timeout(duration) and or_else()");
    return {};
}

} // namespace sennit

#include "sennit/monitor/async_enter.hpp" // IWYU pragma: export
#include "sennit/monitor/async_wait.hpp"  // IWYU pragma: export
