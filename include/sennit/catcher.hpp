// SPDX-License-Identifier: Apache-2.0
// catcher: a queue of messages of one type, with an address; for code that is no actor.
//
//     sennit::catcher<result> results;
//     worker.tell(job{7, results.ref()});            // an actor_ref<accepts<result>>
//     const result r = results.pop().message;        // waits
//
// Use it where the answers of many actors are wanted one after the other. Without an address, a
// channel is simpler. On a receiver it catches that one's messages of the type M, which that one
// counts: wait there, then try_pop. Guarantees: messages of one sender come out in the order in
// which they were sent. Thread safety: all members but the destructor, from anywhere. Blocking:
// pop, pop_for; the constructor and the destructor as a receiver's add_handler and remove_handler.
// Cost: as a receiver, and a channel's push and pop for a message.
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
        any_ref from; // null: no actor sent it
    };

    // With a receiver of its own, in the runtime of the caller (the default one if that is none),
    // or in `where`.
    catcher() : own_(std::make_unique<receiver>()), at_(*own_) { listen(); }
    explicit catcher(runtime& where) : own_(std::make_unique<receiver>(where)), at_(*own_) {
        listen();
    }
    // On `at`, which must outlive it. An M that can only be moved must have no other handler there.
    explicit catcher(receiver& at) : at_(at) { listen(); }
    ~catcher() {
        if (!own_) (void)at_.remove_handler(handler_);
    }
    catcher(const catcher&) = delete;
    catcher& operator=(const catcher&) = delete;

    actor_ref<accepts<M>> ref() const noexcept { return at_.ref(); }
    operator actor_ref<accepts<M>>() const noexcept { return ref(); }

    // As if it had been sent here. Throws std::bad_alloc.
    void push(M message, any_ref from = {}) { put(*queue_, std::move(message), from); }
    // Waits for one. Throws cancelled.
    caught pop() { return std::move(*queue_->pop()); }
    // Nothing: none came in time.
    template <class Rep, class Period>
    std::optional<caught> pop_for(const std::chrono::duration<Rep, Period>& limit) {
        std::optional<caught> one;
        (void)queue_->pop_for(one, limit);
        return one;
    }
    std::optional<caught> try_pop() {
        std::optional<caught> one;
        (void)queue_->try_pop(one);
        return one;
    }
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

    // Its handler's, too: where a handler of the same message destroys the catcher, that one still
    // comes.
    std::shared_ptr<queue> queue_ = std::make_shared<queue>(queue::unbounded);
    std::unique_ptr<receiver> own_;
    receiver& at_;
    handler_id handler_{};
};

} // namespace sennit
