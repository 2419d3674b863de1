// SPDX-License-Identifier: Apache-2.0
// topic: one message for all subscribers.
//
//     sennit::topic<price> prices;
//     prices.subscribe(self());                   // price is in the protocol
//     prices.publish(price{42});
//
// Use it where the sender must not know the receivers. For one receiver, or for receivers that take
// turns, use a reference or a router. Publish a large message as std::shared_ptr<const T>, because
// each subscriber gets a copy.
//
// Guarantees. All subscribers get the messages of a topic in one and the same order. A topic drops
// ended subscribers, and they get no dead letters. An actor that subscribes in its constructor gets
// the messages that are published after `spawn` has returned. A full mailbox treats a published
// message like any other.
//
// Thread safety: any thread may call all members; the users of a topic keep it alive. Blocking: for
// a moment, while another thread is inside. A dead-letter handler must not use a topic. Cost: a
// `tell` for each subscriber.
#pragma once

#include "sennit/actor/actor_metrics.hpp"
#include "sennit/actor/actor_ref.hpp"
#include "sennit/mutex.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <vector>

namespace sennit {

template <class M>
class topic {
    static_assert(std::copy_constructible<M>,
                  "sennit: each subscriber gets a copy, so a topic's message is copyable");

public:
    topic() = default;
    topic(const topic&) = delete;
    topic& operator=(const topic&) = delete;

    // Tells `whom` all messages that are published from now on; each message once, however often
    // the actor subscribes. Throws std::bad_alloc.
    template <class A>
    void subscribe(const actor_ref<A>& whom) {
        const subscriber next{whom.address(),
                              [](sched::address to, const M& m) { actor_ref<A>(to).tell(M(m)); }};
        std::lock_guard guard(lock_);
        if (find(next.who) == all_.end()) all_.push_back(next);
    }
    // True: the actor was subscribed. Messages that were published before still arrive.
    template <class A>
    bool unsubscribe(const actor_ref<A>& whom) {
        std::lock_guard guard(lock_);
        const auto found = find(whom.address());
        if (found == all_.end()) return false;
        all_.erase(found);
        return true;
    }

    // Tells all subscribers, and returns their number. Throws std::bad_alloc, and the exceptions of
    // a copy; then some subscribers have the message.
    std::size_t publish(const M& message) {
        std::lock_guard guard(lock_);
        std::size_t told = 0;
        clear();
        for (const subscriber& one : all_) {
            if (!sched::alive(one.who)) continue;
            one.tell(one.who, message);
            ++told;
        }
        return told;
    }
    // The number of subscribers that have not ended.
    std::size_t size() {
        std::lock_guard guard(lock_);
        clear();
        return all_.size();
    }

private:
    struct subscriber {
        sched::address who;
        void (*tell)(sched::address, const M&);
    };
    auto find(sched::address whom) {
        return std::find_if(all_.begin(), all_.end(),
                            [&](const subscriber& one) { return one.who == whom; });
    }
    void clear() {
        std::erase_if(all_, [](const subscriber& one) { return detail::ended(one.who); });
    }

    mutex lock_; // guards all members below
    std::vector<subscriber> all_;
};

} // namespace sennit
