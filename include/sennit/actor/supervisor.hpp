// SPDX-License-Identifier: Apache-2.0
// supervisor: an actor that starts other actors, and restarts them when they fail.
//
//     sennit::child<store> db({}, "file");
//     sennit::child<server> web({.restart = sennit::restart::transient}, db);
//     auto top = sennit::supervise(
//         actors, {.strategy = sennit::strategy::rest_for_one, .restarts = 3, .within = 5s},
//         db, web);
//
// Use it where a part of a program must continue after an error, with a state that is known to be
// good: its initial state. Supervisors may be children of supervisors:
// sennit::child<sennit::supervisor>({}, options, children…).
//
// Guarantees. A supervisor starts its children in the order in which they are named. It ends them
// in the opposite order, each after the one before has ended. So no two actors of one child are
// alive at a time, unless a supervisor is killed. No end is missed, however early. A child that
// ends because its group ends is not restarted. An exception of a constructor at a restart counts
// as a failure; at the first start, the exception reaches the caller that starts the supervisor.
//
// Too many restarts. If one more restart would exceed `restarts` within `within`, the supervisor
// ends all its children, then itself, with the error `restarts_exceeded`. The watchers and links of
// the supervisor, and the caller that joins its group, get that error.
//
// Ends. The message `end_supervision` ends a supervisor in order. The end of its last child ends
// it, unless `stays`. `stop` and `kill` end it immediately: its children are killed, too, but the
// supervisor does not wait for them.
//
// Cost: a message when a child ends, and time that grows with the number of children: for some tens
// or hundreds of children.
#pragma once

#include "sennit/actor.hpp"
#include "sennit/actor/actor_timer.hpp"
#include "sennit/actor/child.hpp"
#include "sennit/backoff.hpp"

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

// The children that restart together with a failed child.
enum class strategy : unsigned char {
    one_for_one,  // no other child
    one_for_all,  // all children of that supervisor
    rest_for_one, // the children that were named after it
};

// The delay of a restart is that of `backoff` (sennit/backoff.hpp), where the attempts are the
// restarts of a child. A child that has lived for supervision::within begins with `first` again.
struct supervision {
    enum strategy strategy = strategy::one_for_one;
    unsigned restarts = 3; // the most restarts in any span of the length `within`
    std::chrono::nanoseconds within = std::chrono::seconds(5);
    struct backoff backoff{};
    bool stays = false; // true: the supervisor stays when no child is left
    // The clock that measures `within`.
    std::chrono::steady_clock::time_point (*now)() noexcept = &std::chrono::steady_clock::now;
};

// The error of a supervisor whose children failed too often.
class restarts_exceeded : public std::runtime_error {
public:
    restarts_exceeded(const std::string& child, unsigned restarts, std::exception_ptr cause);
    // The error that ended the child last; null if the child ended without an error.
    const std::exception_ptr& cause() const noexcept { return cause_; }

private:
    std::exception_ptr cause_;
};

// A child of any class.
class any_child {
public:
    template <class A>
    any_child(const child<A>& of) noexcept : cell_(of.cell()) {}
    // For the library.
    const std::shared_ptr<detail::child_cell>& cell() const noexcept { return cell_; }

private:
    std::shared_ptr<detail::child_cell> cell_;
};

// Asks a supervisor to start one more child, as the last one. The answer comes when the child has
// been made. If the constructor throws, the answer is that error, which does not count as a
// failure.
struct add_child {
    using reply = void;
    any_child which;
};
// Asks a supervisor to end its children, the last one first, then itself. The answer comes after
// that.
struct end_supervision {
    using reply = void;
};

namespace detail {
struct start_children {
    using reply = void;
};
struct restart_due {
    std::uint64_t which; // the child's number; 0: all waiting children
};
} // namespace detail

class supervisor : public actor<supervisor, add_child, end_supervision, detail::start_children,
                                detail::restart_due, down> {
public:
    // For `supervise`, and as a child. Throws std::invalid_argument if an option is out of range.
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
        bool must_end = false; // true: the supervisor must end this child
        sched::address who{};
        unsigned failures = 0; // failures in a row
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
    std::deque<std::chrono::steady_clock::time_point> restarts_; // the restarts within the span
    // True while several children restart together: children end, or a delay passes.
    bool restarting_ = false;
    std::chrono::nanoseconds delay_{0};
    actor_timer timer_;
    bool ends_ = false;
    std::exception_ptr error_;
    std::vector<reply_to<void>> waiting_; // the askers that wait for the end
    reply_to<void> starter_;
    std::exception_ptr start_error_;
};

// Makes a supervisor in the group, and starts the children. Throws the exceptions of a child's
// constructor; the children that were started have ended then. Throws std::logic_error if a child
// has a supervisor already or is given twice, and std::bad_alloc. Blocks the caller until all
// children are made; a blocked fiber or handler leaves its worker to other tasks.
template <class... As>
actor_ref<supervisor> supervise(actor_group& where, const supervision& how,
                                const child<As>&... children) {
    const actor_ref<supervisor> made = where.spawn<supervisor>(how, children...);
    supervisor::begin_as_child(made);
    return made;
}

} // namespace sennit
