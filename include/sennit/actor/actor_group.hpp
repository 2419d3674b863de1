// SPDX-License-Identifier: Apache-2.0
// actor_group: actors that end before the block that made them.
//
//     sennit::actor_group actors;
//     auto first = actors.spawn<worker>(arguments…);
//     …
//     actors.join();        // waits until all have ended by themselves; rethrows the first error
//
// Use it as the owner of a part of a program that consists of actors. A group may be made anywhere,
// also in a handler. It belongs to one runtime, which must outlive it.
//
// Guarantees. When `join` or the destructor returns, all actors of the group have ended, and their
// destructors have run. So have the destructors of the messages that were left in their mailboxes.
// Only a message that is sent just while its receiver ends may be destroyed a little later, before
// the runtime. The destructor stops the living actors (exit_reason::shutdown), each after the
// message that it handles, and waits for them; in a child of fork() it leaves them.
//
// Thread safety: any thread may call all members but the destructor. Blocking: join, and the
// destructor.
#pragma once

#include "sennit/actor/actor_base.hpp"
#include "sennit/actor/actor_ref.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/runtime.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sennit {

struct actor_metrics; // actor_metrics.hpp

namespace detail {
template <class... Args>
inline constexpr bool begins_with_options = false;
template <class First, class... Rest>
inline constexpr bool begins_with_options<First, Rest...> =
    std::is_same_v<std::remove_cvref_t<First>, spawn_options>;
} // namespace detail

class actor_group : private sched::incarnation_owner {
public:
    // Makes a group in the runtime of the caller; in the default runtime if the caller is in none.
    actor_group();
    explicit actor_group(runtime& where);
    ~actor_group();
    actor_group(const actor_group&) = delete;
    actor_group& operator=(const actor_group&) = delete;

    // Makes an actor. In a stopped group the actor ends immediately; so does an actor whose
    // constructor calls `stop`. Throws std::bad_alloc, and the exceptions of the constructor. In a
    // child of a fork() after which the runtime has no threads, `spawn` and `join` throw
    // std::system_error.
    template <class A, class... Args>
        requires(!detail::begins_with_options<Args...>)
    actor_ref<A> spawn(Args&&... args) {
        return spawn_with<A>(nullptr, std::forward<Args>(args)...);
    }
    template <class A, class... Args>
    actor_ref<A> spawn(const spawn_options& how, Args&&... args) {
        return spawn_with<A>(&how, std::forward<Args>(args)...);
    }

    // Returns the living actor with this name, if it is an A. If several actors have the name,
    // returns the first one.
    template <class A>
    std::optional<actor_ref<A>> find(std::string_view name) const {
        const sched::address found = find_named(name, &type_of<A>);
        if (!found) return std::nullopt;
        return actor_ref<A>(found);
    }

    // Waits until all actors have ended. Then throws the first error that ended an actor and that
    // no link or watch has reported, if there is one. Throws cancelled.
    void join();
    // Ends all actors, each after the message that it handles; actors that are spawned from now on
    // end immediately. Sends a message to each actor; if there is no memory for that, one message
    // that the group contains goes from actor to actor.
    void stop() noexcept;
    std::size_t size() const noexcept; // the number of living actors

    // The number of messages that the group's actors have handled, ended actors included. An actor
    // that ends meanwhile may be missed or counted twice. Walks all actors of the runtime.
    std::uint64_t handled() const;

    // For the library: records an error that ended an actor and that no watcher was told of.
    void failed(std::exception_ptr error) noexcept;

private:
    friend class actor_base;
    friend std::vector<actor_metrics> metrics_of(const actor_group&);
    struct under_construction; // a slot that is taken, until the actor is made
    class spawn_guard {
    public:
        spawn_guard(actor_group& group, const detail::actor_type& type, const spawn_options* how);
        ~spawn_guard(); // returns all resources, unless `begin` was called
        spawn_guard(const spawn_guard&) = delete;
        void* memory() const noexcept { return memory_; }
        sched::address begin(actor_base& made) noexcept;

    private:
        sched::address end_unstarted(exit_reason why, const std::exception_ptr& error) noexcept;
        actor_group& group_;
        const detail::actor_type& type_;
        sched::mailbox* box_ = nullptr;
        sched::mailbox* outer_ = nullptr; // the slot of the enclosing construction
        void* memory_ = nullptr;
        sched::address watcher_;
        bool named_;
    };

    // The type of A itself, which may be derived from a class of actors.
    template <class A>
    static inline const detail::actor_type type_of = detail::type_of_actor<A>(A::detail_find);
    template <class A, class... Args>
    actor_ref<A> spawn_with(const spawn_options* how, Args&&... args) {
        static_assert(std::derived_from<A, actor_base>,
                      "sennit: spawn makes classes that derive from sennit::actor");
        static_assert(std::is_constructible_v<A, Args...>,
                      "sennit: the actor has no constructor for these arguments");
        spawn_guard one(*this, type_of<A>, how);
        A* made = ::new (one.memory()) A(std::forward<Args>(args)...);
        return actor_ref<A>(one.begin(*made));
    }
    // The message that ends all living actors without memory, one after the other.
    struct stop_visitor : sched::message_node {
        explicit stop_visitor(actor_group& whose) noexcept
            : message_node(&stop_visitor::visit), group(whose) {}
        static void visit(sched::message_node& self, void* object) noexcept;
        actor_group& group;
        std::uint64_t at = 0; // the slot that it looks at next; only the visitor uses it
        // True while the visitor lies with an actor, or looks for one. The group's lock guards
        // `under_way` and `once_more`.
        bool under_way = false;
        bool once_more = true; // true if it must walk once more from the first slot
    };

    static void member_ended(sched::incarnation_owner& family, sched::mailbox& box) noexcept;
    static actor_group* of(const sched::mailbox& box) noexcept;
    sched::address member(const sched::mailbox& box) const noexcept;
    void stop_one(sched::address who) noexcept;
    void send_stop_visitor() noexcept;
    void forward_stop_visitor() noexcept;
    sched::address find_named(std::string_view name, const detail::actor_type* type) const;
    bool wait_for_all(bool at_the_end) noexcept;

    // Living actors are counted in one shard for every few workers, by the worker that spawned
    // them. Otherwise all births and ends would meet in one cache line. Each shard with living
    // actors counts as one in `populated_shards_`, from before its first actor is alive until after
    // its last actor has ended. So `populated_shards_` is 0 if and only if no actor is alive.
    struct alignas(base::cache_line) shard {
        // Guards all members below. lock_ may be taken inside this lock, but not the other way
        // round.
        mutable base::spin_lock lock;
        std::size_t living = 0;
        std::uint64_t handled = 0; // messages handled by actors that have ended
        bool stopped = false;
    };
    static constexpr unsigned shard_count = 16;
    unsigned shard_here() const noexcept;

    sched::runtime_core& runtime_;
    std::array<shard, shard_count> shards_;
    mutable base::spin_lock lock_; // guards all members below
    unsigned populated_shards_ = 0;
    stop_visitor stop_visitor_{*this};
    sched::wait_list joiners_;
    std::exception_ptr error_;
};

} // namespace sennit
