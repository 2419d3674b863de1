// SPDX-License-Identifier: Apache-2.0
// accept_request: an owner that waits for calls (waitfor). It holds the calls that the owner
// accepts, and the steps by which an arriving call runs before the owner continues.
//
// State. The object lies in the acceptor's frame. The acceptor stays the owner of all its monitors.
// Their `accepting_` points to the object while the acceptor waits for a call.
//
// Protocol. A task with a matching call claims the request by one compare-and-swap, against other
// calls, the deadline and cancellation. The claimant then acts for the acceptor:
// 1. It clears `accepting_` in all monitors, each under its lock.
// 2. It counts the monitors that the acceptor now has to wait for.
// 3. It makes the arriving task the owner of the monitors of its call.
// 4. It puts the acceptor on the urgent list behind the arriving task.
// A task that reads `accepting_` under a monitor's lock reads living memory, because the acceptor
// does not continue before `accepting_` is cleared in all monitors.
//
// `missing` counts the monitors of the call. If the acceptor's wait may also end for another reason
// (its point is not `sole`), `missing` contains two more: one for the sleep that the acceptor may
// not have begun, and one until the claimant has counted the monitors.
#pragma once

#include "sennit/monitor/waitfor.hpp"

#include <span>

namespace sennit::detail {

struct accept_request {
    using clause_list = std::span<const accept_clause* const>;
    accept_request(clause_list given, std::uintptr_t me, sched::wait_point& where) noexcept
        : clauses(given), self(me, where, where.sole ? 0 : 2), begun_at_(where) {}

    clause_list clauses;
    monitor_set all; // the monitors of all clauses that count
    entrant self;
    queue_nodes places;

    // Called by an arriving task, under the lock of the first monitor that it wants. Returns null
    // if the call is not accepted, or comes too late.
    accept_request* claim_by(const entrant& arrival) noexcept;
    // Called after a claim: makes the arriving task, which runs, the owner of the monitors that it
    // wants.
    void admit(const entrant& arrival) noexcept;
    // Called after a claim by a destructor: the acceptor continues, and the arriving task waits.
    void resume_acceptor() noexcept;

    // Finds an arriving task that already waits, for the first clause that has one. The task is
    // taken off the queue, unless it is a destructor. If `for_whom` is given, the caller holds the
    // locks of its monitors, and the function claims that request.
    struct found {
        std::size_t clause;
        entrant* arrival; // null: there is none
    };
    static found find(clause_list clauses, accept_request* for_whom) noexcept;
    // find for no acceptor, for other sources than waitfor.cpp, where find is inline.
    static found find_arrived(clause_list clauses) noexcept;
    // Finds a task that returns from a wait and lacks only monitors of `all`. `clause`, one more
    // than the last number of a clause, is the number under which the request is claimed.
    static found find_returning(const monitor_set& all, std::size_t clause,
                                accept_request* for_whom) noexcept;

    // The monitors of all clauses that count, and the numbers of the clauses `or_else` and
    // `timeout`, or clauses.size(). Ends the program if `me` is not inside a monitor of a clause.
    struct plan {
        monitor_set all;
        std::size_t otherwise;
        std::size_t late;
    };
    static plan plan_of(clause_list clauses, std::uintptr_t me) noexcept;

    // Returns true if a task may be waiting to return. A hint: a task that comes later meets the
    // acceptance itself, or the next acceptance.
    static bool returning_to(const monitor_set& of) noexcept {
        std::uint32_t any = 0;
        std::size_t i = 0;                     // a set has at least one element
        do any |= of[i].returning_.load_rlx(); // a hint
        while (++i < of.size());
        return any != 0;
    }

    // Called by the acceptor. Both let a task run first that already waits: make_way for an
    // acceptor that is saved, wait_for for an acceptor that then waits for that task.
    void make_way(entrant& arrival) noexcept;
    void wait_for(entrant& arrival, sched::strand& own) noexcept;
    // Called by an acceptor that is a task. Lets a task run first that already waits. The acceptor
    // then waits for `self`, whose count contains one for its sleep.
    void begin_arrival(entrant& arrival) noexcept;
    // Called when the acceptor is saved. Makes arriving calls claim the acceptance, unless a
    // matching call already waits.
    void publish() noexcept;
    void withdraw() noexcept;

private:
    bool claimed(std::size_t clause) noexcept;
    void owe(std::size_t monitors) noexcept;
    void give_places(std::uintptr_t next, const monitor_set& of) noexcept;
    void accept(entrant& arrival) noexcept;
    // The point that is claimed. A claimed acceptor may already wait at another point.
    sched::wait_point& begun_at_;
    bool asleep_ = true; // the acceptor slept when it was claimed; written by the claimant
};

} // namespace sennit::detail
