// SPDX-License-Identifier: Apache-2.0
// receiver: an address for code that is not an actor. It counts the messages that arrive, and may
// have handlers.
//
//     sennit::receiver here;
//     printer.tell(line{"hello", here.ref()});       // an any_ref: the printer answers there
//     here.wait();                                   // until one message has come
//
// Use it where a thread, a fiber or a forked child waits for several messages, or for actors that
// it did not ask. For one answer to one question `ref.ask(question)` is simpler; for a queue of
// values use a `catcher` or a channel.
//
// Guarantees. Handlers have the forms of open_actor's handlers. They run one at a time on a worker
// of the receiver's runtime, not in the thread that waits. A message is counted when its handlers
// have returned, or immediately if it has no handler; `wait` then sees everything that they did.
// The next wait or consume throws the exception of a handler (the first, if there are several).
// Thread safety: any thread may call all members except the destructor; so may the receiver's own
// handlers.
// Blocking: the waits block. Adding and removing handlers blocks until the earlier messages are
// handled. The destructor blocks while a handler runs. Waits throw `cancelled` in a cancelled
// scope, and have then taken nothing.
// Cost: an actor and a group; a message costs a message to an actor, and a mutex.
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

// Counts the messages that have arrived and were not taken by a wait.
class arrival_counter {
public:
    void count_one(std::exception_ptr error) noexcept;
    std::size_t take(std::size_t most, std::int64_t deadline_ns); // blocks until the first message
    std::size_t count() const;
    void reset();

private:
    mutable mutex lock_; // guards all members below
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
    // Creates a receiver in the caller's runtime, or in the default runtime if the caller is no
    // worker.
    receiver();
    explicit receiver(runtime& where);
    // Ends the receiver: later messages are dead letters. Must not be called by one of the
    // receiver's handlers. Needs no memory.
    ~receiver();
    receiver(const receiver&) = delete;
    receiver& operator=(const receiver&) = delete;

    any_ref ref() const noexcept { return any_ref(actor_.address()); }
    operator any_ref() const noexcept { return ref(); }
    address_of_actor address() const noexcept { return actor_.address(); }

    // These work like the functions of open_actor. They take effect before the next message, and
    // have taken effect when they return.
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
    // Sets the function that gets messages without a handler. Null: such messages are only counted.
    void set_default_handler(std::function<void(const dead_letter&)> what);

    // Blocks until at least one message has arrived that no wait has taken. Then takes all such
    // messages, at most `most`, and returns their number. Returns immediately if `most` is 0.
    std::size_t wait(std::size_t most = 1) { return counted_.take(most, sched::never); }
    // Like wait, but return 0 if no message came in time.
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
    // Blocks until it has taken `exactly` messages.
    void wait_for_all(std::size_t exactly) {
        while (exactly != 0) exactly -= wait(exactly);
    }
    // Takes the messages that have arrived, at most `most`, and returns their number. Does not
    // block.
    std::size_t consume(std::size_t most) { return counted_.take(most, 0); }
    // Returns the number of messages that have arrived and were not taken.
    std::size_t count() const { return counted_.count(); }
    // Sets the count to 0.
    void reset() { counted_.reset(); }

    // Sends a message with this receiver as the sender. Inside an actor's handler, that actor is
    // the sender.
    template <class A, class M>
    void tell(const actor_ref<A>& to, M message) const {
        tell_from(ref(), to, std::move(message));
    }

private:
    // Calls `what` on the receiver's actor, between two messages, or right here if the caller is
    // one of its handlers. Allocates no memory of its own.
    template <class F>
    void change(F what) {
        if (!change_by([](void* f, detail::receiver_actor& me) { (*static_cast<F*>(f))(me); },
                       &what))
            throw ask_failed(ask_error::actor_down);
    }
    // Returns false if the actor has ended.
    bool change_by(void (*how)(void* what, detail::receiver_actor&), void* what);

    detail::arrival_counter counted_;
    actor_group group_;
    actor_ref<detail::receiver_actor> actor_;
};

} // namespace sennit
