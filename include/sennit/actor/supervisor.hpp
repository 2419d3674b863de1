// SPDX-License-Identifier: Apache-2.0
// supervisor: an actor that starts others, and starts them again when they fail.
//
//     sennit::child<store> db({}, "file");
//     sennit::child<server> web({.restart = sennit::restart::transient}, db);
//     auto top = sennit::supervise(actors, {.strategy = sennit::strategy::rest_for_one, .restarts =
//     3, .within = 5s}, db, web);
//
// Use it where a part shall go on after an error with a state of which it is known that it is good:
// the one it begins with. Supervisors may be children of supervisors:
// sennit::child<sennit::supervisor>({}, options, children…). Guarantees. Children are started in
// the order in which they are named, and ended in the opposite order, each after the one before has
// ended: no two actors of one child live at a time, unless a supervisor is killed. An end is never
// missed, however early. A child that ends because its group ends is not restarted. What a
// constructor throws at a restart counts as a failure; at the first start it reaches who starts the
// supervisor. Too many restarts. When a restart would be more than `restarts` within `within`, the
// supervisor ends all its children, then itself, with the error `restarts_exceeded`: who watches
// it, is linked to it or joins its group learns that. Ends. With the message `end_supervision` in
// order; when its last child has ended for good, unless `stays`; with `stop` and `kill` at once:
// its children are killed, too, but nobody waits for them. Cost: a message when a child ends, and
// time that grows with the number of children: for some tens or hundreds.
#pragma once

#include "sennit/actor.hpp"
#include "sennit/actor/actor_timer.hpp"
#include "sennit/actor/child.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sennit {

// Who is restarted with a child that has failed.
enum class strategy : unsigned char {
    one_for_one,  // nobody
    one_for_all,  // all children of that supervisor
    rest_for_one, // those that were named after it
};

// How long a restart waits: `first`, after the next failure twice that, and so on, but no longer
// than `most`. A child that has lived for supervision::within begins with `first` again. Of each
// wait a random part, up to the fraction `jitter` of it, is left out, so that what failed together
// does not come back together.
struct backoff {
    std::chrono::nanoseconds first{0};
    std::chrono::nanoseconds most = std::chrono::seconds(30);
    double jitter = 0; // 0 to 1

    // Before restart number `nth` (from 1) in a row; `luck`: from 0 to 1.
    std::chrono::nanoseconds delay(unsigned nth, double luck) const noexcept;
};

struct supervision {
    enum strategy strategy = strategy::one_for_one;
    unsigned restarts = 3; // at most, in any span of this length:
    std::chrono::nanoseconds within = std::chrono::seconds(5);
    struct backoff backoff{};
    bool stays = false; // also when no child is left
    // The clock of `within`.
    std::chrono::steady_clock::time_point (*now)() noexcept = &std::chrono::steady_clock::now;
};

// The end of a supervisor whose children failed too often.
class restarts_exceeded : public std::runtime_error {
public:
    restarts_exceeded(const std::string& child, unsigned restarts, std::exception_ptr cause);
    // What ended the child at last; null where that was no error.
    const std::exception_ptr& cause() const noexcept { return cause_; }

private:
    std::exception_ptr cause_;
};

// A child of whatever class.
class any_child {
public:
    template <class A>
    any_child(const child<A>& of) noexcept : cell_(of.cell()) {}
    const std::shared_ptr<detail::child_cell>& cell() const noexcept {
        return cell_;
    } // for the library

private:
    std::shared_ptr<detail::child_cell> cell_;
};

// To a supervisor: starts one more child, as the last one. The answer comes when it has been made,
// or the error that its constructor threw, which then is no failure.
struct add_child {
    using reply = void;
    any_child which;
};
// To a supervisor: ends the children, the last one first, then the supervisor. The answer comes
// then.
struct end_supervision {
    using reply = void;
};

namespace detail {
struct start_children {
    using reply = void;
};
struct restart_due {
    std::uint64_t which; // 0: all that wait
};
} // namespace detail

class supervisor : public actor<supervisor, add_child, end_supervision, detail::start_children,
                                detail::restart_due, down> {
public:
    // For `supervise`, and as a child. Throws std::invalid_argument for options out of range.
    template <class... As>
    explicit supervisor(const supervision& how, const child<As>&... children)
        : supervisor(how, std::vector<any_child>{any_child(children)...}) {}
    supervisor(const supervision& how, std::vector<any_child> children);

    // For the library.
    void on(detail::start_children, reply_to<void> answer);
    void on(add_child m, reply_to<void> answer);
    void on(end_supervision, reply_to<void> answer);
    void on(detail::restart_due m);
    void on(const down& m);
    void stopped(exit_reason) noexcept;
    static void begin_as_child(const actor_ref<supervisor>& me) {
        me.ask(detail::start_children{}).get();
    }
    static void end_as_child(const actor_ref<supervisor>& me);

private:
    enum class state : unsigned char { down, running, ending, waiting };
    struct entry {
        std::uint64_t number = 0;
        std::shared_ptr<detail::child_cell> cell;
        enum state state = state::down;
        bool must_end = false; // is to be ended
        sched::address who{};
        unsigned failures = 0; // in a row
        std::chrono::steady_clock::time_point started{};
        actor_timer timer{};
    };
    using entries = std::vector<std::unique_ptr<entry>>;

    void add(const any_child& which);
    void start(entry& one);
    void remove(entry& one);
    void failed(entry& one, std::exception_ptr error);
    void end_all(std::exception_ptr error);
    void advance();

    const supervision how_;
    entries children_;
    std::uint64_t numbers_ = 0;
    std::deque<std::chrono::steady_clock::time_point> restarts_; // within the span
    bool restarting_ = false; // together; children end, or a delay passes
    std::chrono::nanoseconds delay_{0};
    actor_timer timer_;
    bool ends_ = false;
    std::exception_ptr error_;
    std::vector<reply_to<void>> waiting_; // for the end
    reply_to<void> starter_;
    std::exception_ptr start_error_;
};

// Makes a supervisor in the group, and starts the children. Throws what a child's constructor
// throws (those that were started have ended then), std::logic_error where a child has a supervisor
// already or is there twice, std::bad_alloc. Blocks the caller until all are made: a fiber or a
// handler leaves its worker to others.
template <class... As>
actor_ref<supervisor> supervise(actor_group& where, const supervision& how,
                                const child<As>&... children) {
    const actor_ref<supervisor> made = where.spawn<supervisor>(how, children...);
    supervisor::begin_as_child(made);
    return made;
}

} // namespace sennit
