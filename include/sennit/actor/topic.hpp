// SPDX-License-Identifier: Apache-2.0
// topic: one message for all that want it.
//
//     sennit::topic<price> prices;
//     prices.subscribe(self());                   // price is in the protocol
//     prices.publish(price{42});
//
// Use it where who sends shall not know who receives. For one receiver, or receivers that take
// turns, use a reference or a router. A large message is best published as std::shared_ptr<const
// T>: everyone gets a copy. Guarantees. All subscribers get the messages of a topic in one and the
// same order. One that has ended is dropped, and gets no dead letters; one that subscribes in its
// constructor gets what is published once `spawn` has returned. A full mailbox does with the
// message what it does with any. Thread safety: all members; who shares a topic keeps it alive as
// long as it is used. Blocking: for a moment, where others are inside. A dead-letter handler must
// not use a topic. Cost: a `tell` for each subscriber.
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

    // From here on it is told what is published; once, however often it subscribes. Throws
    // std::bad_alloc.
    template <class A>
    void subscribe(const actor_ref<A>& whom) {
        const subscriber next{whom.address(),
                              [](sched::address to, const M& m) { actor_ref<A>(to).tell(M(m)); }};
        std::lock_guard guard(lock_);
        if (find(next.who) == all_.end()) all_.push_back(next);
    }
    // True: it was subscribed. What was published before still comes.
    template <class A>
    bool unsubscribe(const actor_ref<A>& whom) {
        std::lock_guard guard(lock_);
        const auto found = find(whom.address());
        if (found == all_.end()) return false;
        all_.erase(found);
        return true;
    }

    // Tells all; returns how many. Throws std::bad_alloc, and what the message's copy throws: some
    // have it then.
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
    // Of those that have not ended.
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

    mutex lock_; // guards all below
    std::vector<subscriber> all_;
};

} // namespace sennit
