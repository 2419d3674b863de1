// SPDX-License-Identifier: Apache-2.0
// An owner that waits for calls (waitfor): which ones it accepts, and how one that comes goes
// before it.
//
// In the acceptor's frame. It stays the owner of all its monitors, whose `accepting_` points here
// while it waits for a call to come. Who claims it (one compare-and-swap, against other calls, the
// deadline and cancellation) acts for the acceptor: it makes all monitors forget the acceptance,
// each under its lock, counts what the acceptor is owed from now on, makes the caller the owner of
// what it calls on, and puts the acceptor behind it, urgent. A look under a monitor's lock is at
// living memory, since the acceptor does not go on before all monitors have forgotten it.
//
// What is `missing`: the monitors of the call; and, of an acceptor whose wait may end otherwise,
// too (its point is not `sole`), one for the sleep that it may not have begun, and one until
// whoever claims has counted the monitors.
#pragma once

#include "sennit/monitor/waitfor.hpp"

#include <span>

namespace sennit::detail {

struct accept_request {
    using clause_list = std::span<const accept_clause* const>;
    accept_request(clause_list given, std::uintptr_t me, sched::wait_point& where) noexcept
        : clauses(given), self(me, where, where.sole ? 0 : 2), begun_at_(where) {}

    clause_list clauses;
    monitor_set all; // of all clauses that count
    entrant self;
    queue_nodes places;

    // By an arrival, under the lock of the first monitor that it wants: null if it is not accepted
    // or comes too late.
    accept_request* claim_by(const entrant& arrival) noexcept;
    // Then: the arrival, which runs, becomes the owner of what it wants.
    void admit(const entrant& arrival) noexcept;
    // Then, for a destructor: the acceptor goes on, and the arrival waits.
    void resume_acceptor() noexcept;

    // An arrival that waits already, of the first clause that has one; it is off the queue then,
    // unless it is a destructor's. `for_whom`: its monitors' locks are held, and it must be claimed
    // for that.
    struct found {
        std::size_t clause;
        entrant* arrival; // null: none
    };
    static found find(clause_list clauses, accept_request* for_whom) noexcept;
    // The same for who comes back from a wait, and lacks nothing but some of `all`. `clause`: as
    // which it is claimed, one behind the last.
    static found find_returning(const monitor_set& all, std::size_t clause,
                                accept_request* for_whom) noexcept;

    // Whether somebody may wait to come back. A hint: who comes later meets the acceptance itself,
    // or the next one.
    static bool returning_to(const monitor_set& of) noexcept {
        std::uint32_t any = 0;
        std::size_t i = 0;                     // there is one at least
        do any |= of[i].returning_.load_rlx(); // a hint
        while (++i < of.size());
        return any != 0;
    }

    // The acceptor's. Lets one that waits already go first; and the same, of an acceptor that waits
    // for that.
    void make_way(entrant& arrival) noexcept;
    void wait_for(entrant& arrival, sched::strand& own) noexcept;
    // When it is saved: makes calls that come claim the acceptance, unless one is there already.
    void publish() noexcept;
    void withdraw() noexcept;

private:
    bool claimed(std::size_t clause) noexcept;
    void owe(std::size_t monitors) noexcept;
    void give_places(std::uintptr_t next, const monitor_set& of) noexcept;
    void accept(entrant& arrival) noexcept;
    sched::wait_point&
        begun_at_;       // what is claimed; who has been claimed may wait at another one already
    bool asleep_ = true; // when it was claimed; written by who has claimed it
};

} // namespace sennit::detail
