// SPDX-License-Identifier: Apache-2.0
// receiver: an address for code that is no actor. It counts what comes, and may have handlers.
//
//     sennit::receiver here;
//     printer.tell(line{"hello", here.ref()});       // an any_ref: the printer answers there
//     here.wait();                                   // until one message has come
//
// Use it where a thread, a fiber or a forked child waits for several messages, or for actors that
// it did not ask; for one answer to one question `ref.ask(question)` is simpler, for a queue of
// values a `catcher` or a channel. Guarantees. Handlers have the forms of open_actor's and run one
// at a time on a worker of the receiver's runtime, not in the thread that waits. A message is
// counted when its handlers have returned, also when there are none; then `wait` sees all they did.
// What a handler throws is thrown by the next wait or consume (the first of several). Thread
// safety: all members but the destructor, from anywhere, its own handlers included. Blocking: the
// waits; adding and removing handlers, until the messages before are handled; the destructor, for a
// handler under way. Waits throw `cancelled` in a cancelled scope, and have then taken nothing.
// Cost: an actor and a group; a message as one to an actor, and a mutex.
#pragma once

#include "sennit/actor.hpp"
#include "sennit/condition_variable.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/mutex.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

namespace sennit {

namespace detail {

// How many messages have come and were not waited for.
class arrival_counter {
public:
    void count_one(std::exception_ptr error) noexcept;
    std::size_t take(std::size_t most, std::int64_t deadline_ns); // waits for the first
    std::size_t count() const;
    void reset();

private:
    mutable mutex lock_; // guards all below
    condition_variable come_;
    std::size_t count_ = 0;
    std::exception_ptr error_;
};

// The actor behind a receiver.
struct receiver_actor : open_actor<receiver_actor> {
    explicit receiver_actor(arrival_counter& counted) { count_in(counted); }

    using open_actor::is_registered;
    using open_actor::register_handler;
    using open_actor::remove_registered;
    using open_actor::replace_default;
};

} // namespace detail

class receiver {
public:
    // In the runtime of the caller; the default one if that is none.
    receiver();
    explicit receiver(runtime& where);
    // What comes from now on is a dead letter. Not from one of its handlers. Needs no memory.
    ~receiver();
    receiver(const receiver&) = delete;
    receiver& operator=(const receiver&) = delete;

    any_ref ref() const noexcept { return any_ref(actor_.address()); }
    operator any_ref() const noexcept { return ref(); }
    address_of_actor address() const noexcept { return actor_.address(); }

    // As those of open_actor: they take effect before the next message, and have when they return.
    template <class M = void, class F>
    handler_id add_handler(F&& f) {
        static_assert(!std::is_member_function_pointer_v<std::decay_t<F>>,
                      "sennit: a receiver's handler is a callable; write a lambda that calls the "
                      "member function");
        auto made = detail::make_handler<detail::receiver_actor, M>(std::forward<F>(f));
        handler_id added{};
        change([&](detail::receiver_actor& me) { added = me.register_handler(std::move(made)); });
        return added;
    }
    bool remove_handler(handler_id which); // needs no memory
    bool has_handler(handler_id which);
    // Gets what no handler is there for; null: nobody, it is counted only.
    void set_default_handler(std::function<void(const dead_letter&)> what);

    // Waits until at least one message has come that was not waited for yet, then takes as many as
    // there are, at most `most`, and returns how many; with `most` 0 at once.
    std::size_t wait(std::size_t most = 1) { return counted_.take(most, sched::never); }
    // 0: none came in time.
    template <class Rep, class Period>
    std::size_t wait_for(const std::chrono::duration<Rep, Period>& limit, std::size_t most = 1) {
        return counted_.take(most, sched::deadline_in(limit));
    }
    template <class Clock, class Duration>
    std::size_t wait_until(const std::chrono::time_point<Clock, Duration>& when,
                           std::size_t most = 1) {
        return sched::wait_until(when, std::size_t{0},
                                 [&](std::int64_t until) { return counted_.take(most, until); });
    }
    // Waits until it has taken `exactly` messages.
    void wait_for_all(std::size_t exactly) {
        while (exactly != 0) exactly -= wait(exactly);
    }
    // As many as are there, at most `most`. Does not wait.
    std::size_t consume(std::size_t most) { return counted_.take(most, 0); }
    std::size_t count() const {
        return counted_.count();
    } // that have come, and were not waited for
    void reset() { counted_.reset(); } // to none

    // Sends, with this receiver as the sender. In a handler of an actor, that actor is the sender.
    template <class A, class M>
    void tell(const actor_ref<A>& to, M message) const {
        tell_from(ref(), to, std::move(message));
    }

private:
    // Calls `what` by the actor, in its turn; right here, if this is its turn. Takes no memory of
    // its own.
    template <class F>
    void change(F what) {
        if (!change_by([](void* f, detail::receiver_actor& me) { (*static_cast<F*>(f))(me); },
                       &what))
            throw ask_failed(ask_error::actor_down);
    }
    bool change_by(void (*how)(void* what, detail::receiver_actor&),
                   void* what); // false: that has ended

    detail::arrival_counter counted_;
    actor_group group_;
    actor_ref<detail::receiver_actor> actor_;
};

} // namespace sennit
