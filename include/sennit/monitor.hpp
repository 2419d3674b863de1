// SPDX-License-Identifier: Apache-2.0
// monitor, enter, condition, waitfor: objects whose members run one at a time, and wait for each
// other.
//
//     class buffer : public sennit::monitor {
//         sennit::condition not_full{*this}, not_empty{*this};
//     public:
//         void put(int value) {
//             auto in = sennit::enter<&buffer::put>(*this);         // until the end of the block
//             if (values.size() == most) not_full.wait();           // `if`: nobody comes between
//             the signal and us values.push_back(value); not_empty.signal();
//         }
//
// Use it where several threads of control share an object and have to wait for what the others do
// to it. Not for a few instructions of exclusion, where `mutex` is as fast and less strict, nor
// where only the last value counts (`event`).
//
// Entering. `enter(a, b, …)` enters all at once, in one global order, so no order of arguments
// deadlocks. Who is inside may enter again. Enter each set as a whole: one inside another's scope
// is taken in the order of the program. A scope belongs to the fiber (forked child, thread) that
// made it. Waiting to enter is no point of cancellation. Leaving hands the monitor to who is next:
// signalled before entering, newest signal first; entering in the order of arrival. It is never
// free while somebody waits, so nobody overtakes. Internal scheduling: `condition`. External
// scheduling: `waitfor(accept<&T::member>(t), …)` lets calls of those members that say so
// (`enter<&T::member>`) run before the caller goes on. Both are points of cancellation: in a
// cancelled nursery or with_timeout they take their monitors again and throw `cancelled`. Errors
// that end the program: waiting, signalling, accepting without being inside all monitors concerned;
// destroying a monitor that is in use, or a condition that somebody waits on. `enter_destructor` in
// a destructor waits for its users. Cost, nobody else inside: one compare-and-swap to enter, one to
// leave, for each monitor. After Buhr, Fortier and Coffin, Monitor Classification, 1995 (priority
// signalling); Delisle and Buhr, Advanced Control-flow and Concurrency in C-for-all, 2021 (several
// at once; external scheduling over sets).
#pragma once

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

// The time inside N monitors: what `enter` returns. Leaves those that its making entered.
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
    // Not an array: copied as a whole from where it was just written in parts, it would wait for
    // these.
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
    struct adopting {};
    inside(monitor& reserved, adopting) noexcept
        : me_(detail::self_identity()), all_{&reserved}, fresh_(1) {
        detail::monitor_ops::adopt(reserved);
    }
    // Several, in order, and left the other way round. One worker alone says so once for all of
    // them.
    template <std::size_t... I>
    [[gnu::always_inline]] void enter(detail::member_key member,
                                      std::index_sequence<I...>) noexcept {
        unsigned fresh = 0; // in a register: entering is a barrier for what is in memory
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
    // N is small: each pair that may be out of order is exchanged.
    void sort() noexcept {
        for (std::size_t i = 1; i < N; ++i)
            for (std::size_t k = i; k > 0; --k) {
                monitor *low = all_[k - 1], *high = all_[k];
                const bool swapped = std::less<>()(high, low);
                all_[k - 1] = swapped ? high : low;
                all_[k] = swapped ? low : high;
            }
    }

    std::uintptr_t me_;
    std::array<monitor*, N> all_;
    unsigned fresh_ = 0; // bit i: all_[i] was not ours before
};

namespace detail {

// Makes scopes.
struct entrance {
    template <class... M>
    static inside<sizeof...(M)> into(member_key member, M&... monitors) noexcept {
        return inside<sizeof...(M)>(member, &as_monitor(monitors)...);
    }
    static inside<1> adopted(monitor& reserved) noexcept {
        return inside<1>(reserved, inside<1>::adopting());
    }
};

} // namespace detail

// Enters them all; blocks until they are the caller's. At most 8.
template <std::derived_from<monitor>... M>
    requires(sizeof...(M) > 0 && sizeof...(M) <= detail::most_monitors)
[[nodiscard]] inside<sizeof...(M)> enter(M&... monitors) noexcept {
    return detail::entrance::into(nullptr, monitors...);
}
// The same as the call of `Member`, which waitfor may accept. `Member` is a member function of the
// first monitor's class with the others as its first parameters, or a function with all of them as
// its first parameters.
template <auto Member, std::derived_from<monitor>... M>
    requires(sizeof...(M) > 0 && sizeof...(M) <= detail::most_monitors)
[[nodiscard]] inside<sizeof...(M)> enter(M&... monitors) noexcept {
    static_assert(detail::is_call_on<decltype(Member), M...>,
                  "sennit: not a function of these monitors");
    return detail::entrance::into(&detail::key_of_member<Member>, monitors...);
}
// First thing in the destructor of a class that derives from monitor: waits until all that are
// inside or came before have left. Accepted by accept_destructor.
[[nodiscard]] inline inside<1> enter_destructor(monitor& dying) noexcept {
    return detail::entrance::into(&detail::key_of_destructor, dying);
}

// ---- external scheduling
// -------------------------------------------------------------------------------------------

// Clauses of waitfor. A call of `Member` on exactly these monitors; `.then(f)` says what to do
// after it.
template <auto Member, std::derived_from<monitor>... M>
    requires(sizeof...(M) > 0 && sizeof...(M) <= detail::most_monitors)
detail::clause_with<> accept(M&... monitors) noexcept {
    static_assert(detail::is_call_on<decltype(Member), M...>,
                  "sennit: not a function of these monitors");
    return {{.what = detail::accept_clause::kind::call,
             .member = &detail::key_of_member<Member>,
             .of = detail::monitor_set(monitors...)}};
}
// Somebody destroys it: waitfor returns at once, and the destructor goes on when the caller has
// left.
inline detail::clause_with<> accept_destructor(monitor& mine) noexcept {
    return {{.what = detail::accept_clause::kind::call,
             .member = &detail::key_of_destructor,
             .of = detail::monitor_set(mine)}};
}
template <class Rep, class Period>
detail::clause_with<> timeout(const std::chrono::duration<Rep, Period>& duration) {
    return {{.what = detail::accept_clause::kind::timeout,
             .deadline_ns = sched::deadline_in(duration)}};
}
// When no call of the other clauses waits now.
inline detail::clause_with<> or_else() noexcept {
    return {{.what = detail::accept_clause::kind::otherwise}};
}
// The clause, if `condition` holds; else it is left out.
template <std::derived_from<detail::accept_clause> Clause>
Clause when(bool condition, Clause which) {
    which.enabled = which.enabled && condition;
    return which;
}

// Lets one call of the clauses run, waiting for it if there is none: of those that wait the oldest
// of the first clause that has one. Then calls that clause's function, and returns its number,
// counted from 0; `no_clause` when all are left out. The caller must be inside all monitors of the
// clauses, and is again when it returns. Throws `cancelled`, and what the function throws; what the
// accepted call throws is its caller's.
template <class... Clauses>
    requires(std::derived_from<std::remove_cvref_t<Clauses>, detail::accept_clause> && ...)
std::size_t waitfor(Clauses&&... clauses) {
    const std::array<const detail::accept_clause*, sizeof...(Clauses)> all{&clauses...};
    const std::size_t chosen = detail::run_waitfor(all);
    std::size_t i = 0;
    ((chosen == i++ ? void(clauses.function()) : void(0)), ...);
    return chosen;
}

} // namespace sennit
