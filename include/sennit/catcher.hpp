// SPDX-License-Identifier: Apache-2.0
// catcher: a queue of messages of one type, with an address, for code that is not an actor.
//
//     sennit::catcher<result> results;
//     worker.tell(job{7, results.ref()});            // an actor_ref<accepts<result>>
//     const result r = results.pop().message;        // waits
//
// Use it to receive the answers of many actors one after the other. If no address is needed, a
// channel is simpler.
//
// Guarantees: messages of one sender come out in the order in which they were sent. A catcher on a
// receiver catches the receiver's messages of type M, and the receiver counts them: wait on the
// receiver, then call try_pop.
// Thread safety: any thread may call all members except the destructor. Blocking: pop and pop_for
// block; the constructor and the destructor block like a receiver's add_handler and remove_handler.
// Cost: a receiver; for each message the push and pop of a channel.
#pragma once

#include "sennit/channel.hpp"
#include "sennit/receiver.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace sennit {

template <class M>
class catcher {
public:
    struct caught {
        M message;
        any_ref from; // null: the sender is not an actor
    };

    // Creates a catcher with a receiver of its own: in the caller's runtime (the default runtime if
    // the caller is no worker), or in `where`.
    catcher() : own_(std::make_unique<receiver>()), at_(*own_) { listen(); }
    explicit catcher(runtime& where) : own_(std::make_unique<receiver>(where)), at_(*own_) {
        listen();
    }
    // Creates a catcher on the receiver `at`, which must outlive the catcher. If M can only be
    // moved, `at` must have no other handler for M.
    explicit catcher(receiver& at) : at_(at) { listen(); }
    ~catcher() {
        if (!own_) (void)at_.remove_handler(handler_);
    }
    catcher(const catcher&) = delete;
    catcher& operator=(const catcher&) = delete;

    // Returns the address to which messages are sent.
    actor_ref<accepts<M>> ref() const noexcept { return at_.ref(); }
    operator actor_ref<accepts<M>>() const noexcept { return ref(); }

    // Adds a message, as if it had been sent here. Throws std::bad_alloc.
    void push(M message, any_ref from = {}) { put(*queue_, std::move(message), from); }
    // Blocks until a message is there, and returns it. Throws cancelled.
    caught pop() { return std::move(*queue_->pop()); }
    // Blocks until a message is there, but at most for the limit. Returns nothing if no message
    // came in time. Throws cancelled.
    template <class Rep, class Period>
    std::optional<caught> pop_for(const std::chrono::duration<Rep, Period>& limit) {
        std::optional<caught> one;
        (void)queue_->pop_for(one, limit);
        return one;
    }
    // Returns the oldest message, or nothing if there is none. Does not block.
    std::optional<caught> try_pop() {
        std::optional<caught> one;
        (void)queue_->try_pop(one);
        return one;
    }
    // Returns the number of messages in the queue.
    std::size_t size() const { return queue_->size(); }
    bool empty() const { return size() == 0; }

private:
    void listen() {
        handler_ = at_.add_handler(
            [queue = queue_](M&& message, any_ref from) { put(*queue, std::move(message), from); });
    }
    using queue = channel<caught>;
    static void put(queue& to, M&& message, any_ref from) {
        (void)to.push(caught{std::move(message), from});
    }

    // The handler shares the queue: if another handler of the message destroys the catcher, the
    // catcher's handler still runs for that message.
    std::shared_ptr<queue> queue_ = std::make_shared<queue>(queue::unbounded);
    std::unique_ptr<receiver> own_;
    receiver& at_;
    handler_id handler_{};
};

} // namespace sennit
