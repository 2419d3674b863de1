// SPDX-License-Identifier: Apache-2.0
// router: several actors with one task, behind one name.
//
//     sennit::router<worker> pool(sennit::routing::least_full);
//     for (int i = 0; i < 4; ++i) pool.add(actors.spawn<worker>());
//     pool.tell(job{7});                          // to one of them
//     pool.tell_for(customer, order{3});          // always to the same member
//     pool.broadcast(flush{});                    // to all
//
// Use it for pools of workers, and for state that is divided among several actors. A router is no
// actor: the sender chooses the member, so the router is no bottleneck and a message makes no
// detour.
//
// Guarantees. A router drops members that have ended. A `child` stays a member while it restarts.
// Meanwhile other members get the messages that are not bound to a key, and the messages of its
// keys are dead letters. When a member comes or goes only its own keys move (rendezvous hashing:
// Thaler and Ravishankar, 1998). Routers to which as many members were added in the same order
// agree.
//
// Thread safety: any thread may call all members; the users of a router keep it alive. Blocking:
// for a moment, while another thread is inside. Cost: a lock, and time that grows with the number
// of members for least_full, keys and broadcast.
#pragma once

#include "sennit/actor/actor_metrics.hpp"
#include "sennit/actor/actor_ref.hpp"
#include "sennit/actor/child.hpp"
#include "sennit/detail/core/random.hpp"
#include "sennit/mutex.hpp"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sennit {

// The choice of a member for a message that is bound to no key.
enum class routing : unsigned char {
    round_robin, // the members take turns
    random,
    // The member with the fewest waiting messages. A mailbox without a bound counts as empty (see
    // actor_metrics).
    least_full,
};

namespace detail {

// The members of a router, independent of their class.
class member_list {
public:
    explicit member_list(routing how) noexcept : how_(how) {}
    void add(sched::address whom, std::shared_ptr<child_cell> of);
    bool remove(sched::address whom, const child_cell* of);
    std::size_t size();
    sched::address pick();
    sched::address pick_for(std::uint64_t hash);
    std::vector<sched::address> all();

private:
    struct member {
        std::uint64_t number;
        sched::address who;
        std::shared_ptr<child_cell> of; // null: the member is the actor `who`
        sched::address now() const noexcept { return of ? of->current() : who; }
    };
    void clear();

    mutex lock_; // guards all members below
    const routing how_;
    std::vector<member> members_;
    std::uint64_t numbers_ = 0;
    std::size_t next_ = 0;
};

} // namespace detail

template <class A>
class router {
public:
    explicit router(routing how = routing::round_robin) noexcept : members_(how) {}
    router(const router&) = delete;
    router& operator=(const router&) = delete;

    // Throws std::bad_alloc.
    void add(const actor_ref<A>& whom) { members_.add(whom.address(), nullptr); }
    void add(const child<A>& whom) { members_.add({}, whom.cell()); }
    // True: the actor or child was a member.
    bool remove(const actor_ref<A>& whom) { return members_.remove(whom.address(), nullptr); }
    bool remove(const child<A>& whom) { return members_.remove({}, whom.cell().get()); }
    // The number of members. An actor that has ended does not count; a child always counts.
    std::size_t size() { return members_.size(); }

    // Returns the next member by the routing rule; null: there is no member.
    actor_ref<A> pick() { return actor_ref<A>(members_.pick()); }
    // Returns the member of this key, whose type may be any that std::hash knows.
    template <class Key>
    actor_ref<A> pick_for(const Key& key) {
        return actor_ref<A>(members_.pick_for(std::hash<Key>()(key)));
    }

    // Each calls the member of actor_ref with that name. Without members the message is a dead
    // letter.
    template <class M>
    void tell(M message) {
        pick().tell(std::move(message));
    }
    template <class M>
    future<reply_of<M>> ask(M message) {
        return pick().ask(std::move(message));
    }
    template <class M, class Rep, class Period>
    ask_result<reply_of<M>> ask(M message, const std::chrono::duration<Rep, Period>& limit) {
        return pick().ask(std::move(message), limit);
    }
    template <class Key, class M>
    void tell_for(const Key& key, M message) {
        pick_for(key).tell(std::move(message));
    }
    template <class Key, class M>
    future<reply_of<M>> ask_for(const Key& key, M message) {
        return pick_for(key).ask(std::move(message));
    }
    // Tells each member a copy, and returns the number of members. Throws std::bad_alloc, and the
    // exceptions of a copy; then some members have the message.
    template <class M>
    std::size_t broadcast(const M& message) {
        static_assert(std::copy_constructible<M>,
                      "sennit: each member gets a copy, so the message must be copyable");
        const auto all = members_.all();
        for (const sched::address one : all) actor_ref<A>(one).tell(M(message));
        return all.size();
    }

private:
    detail::member_list members_;
};

} // namespace sennit
