// SPDX-License-Identifier: Apache-2.0
// actor_group: actors that end before the block that made them.
//
//     sennit::actor_group actors;
//     auto first = actors.spawn<worker>(arguments…);
//     …
//     actors.join();                     // until all have ended by themselves; rethrows what ended
//     one
//
// Use it as the owner of a part of a program that consists of actors. A group may be made anywhere,
// also in a handler, and belongs to one runtime, which must outlive it. Guarantees. When `join` or
// the destructor returns, all its actors have ended, their destructors have run, and so have those
// of the messages that were left in their mailboxes; but one that somebody sends just while its
// receiver ends may be destroyed a little later, before the runtime. The destructor stops those
// that still live (exit_reason::shutdown), each after the message that it handles, and waits; but
// leaves them in a child of fork(). Thread safety: all members but the destructor from anywhere.
// Blocking: join, and the destructor.
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
    // In the runtime of the caller; the default one if that is none.
    actor_group();
    explicit actor_group(runtime& where);
    ~actor_group();
    actor_group(const actor_group&) = delete;
    actor_group& operator=(const actor_group&) = delete;

    // Makes an actor; in a group that is stopped it ends at once, and so does one whose constructor
    // calls `stop`. Throws std::bad_alloc and what its constructor throws; std::system_error in a
    // child of a fork() since which the runtime has no threads, as `join` does.
    template <class A, class... Args>
        requires(!detail::begins_with_options<Args...>)
    actor_ref<A> spawn(Args&&... args) {
        return spawn_with<A>(nullptr, std::forward<Args>(args)...);
    }
    template <class A, class... Args>
    actor_ref<A> spawn(const spawn_options& how, Args&&... args) {
        return spawn_with<A>(&how, std::forward<Args>(args)...);
    }

    // The living actor of this name, if it is an A. The first one, if several have it.
    template <class A>
    std::optional<actor_ref<A>> find(std::string_view name) const {
        const sched::address found = find_named(name, &type_of<A>);
        if (!found) return std::nullopt;
        return actor_ref<A>(found);
    }

    // Waits until all have ended; then throws the first error that ended one and that nobody was
    // told of by a link or a watch, if there is one. Throws cancelled.
    void join();
    // Ends all, each after the message that it handles; those that are spawned from now on end at
    // once. Sends each a piece of mail; where there is no memory for that, one piece that the group
    // has goes from one to the next.
    void stop() noexcept;
    std::size_t size() const noexcept; // that live

    // Messages that its actors have handled, those that have ended included. One that ends
    // meanwhile may be missed or counted twice. Looks at all actors of the runtime.
    std::uint64_t handled() const;

    // For the library: what ended one, and nobody was told of.
    void failed(std::exception_ptr error) noexcept;

private:
    friend class actor_base;
    friend std::vector<actor_metrics> metrics_of(const actor_group&);
    struct under_construction; // a slot that is taken, until the actor is made
    class spawn_guard {
    public:
        spawn_guard(actor_group& group, const detail::actor_type& type, const spawn_options* how);
        ~spawn_guard(); // gives all back, unless it was begun
        spawn_guard(const spawn_guard&) = delete;
        void* memory() const noexcept { return memory_; }
        sched::address begin(actor_base& made) noexcept;

    private:
        sched::address end_unstarted(exit_reason why, const std::exception_ptr& error) noexcept;
        actor_group& group_;
        const detail::actor_type& type_;
        sched::mailbox* box_ = nullptr;
        sched::mailbox* outer_ = nullptr; // of the one that is being made around this one
        void* memory_ = nullptr;
        sched::address watcher_;
        bool named_;
    };

    // Of A itself, which may be derived from a class of actors.
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
    // The piece of mail that ends, without memory, all that live, one after the other.
    struct stop_visitor : sched::message_node {
        explicit stop_visitor(actor_group& whose) noexcept
            : message_node(&stop_visitor::visit), group(whose) {}
        static void visit(sched::message_node& self, void* object) noexcept;
        actor_group& group;
        std::uint64_t at = 0;   // where it looks next; its own
        bool under_way = false; // lies with an actor, or looks for one; the group's lock guards
                                // this and the next
        bool once_more = true;  // from the start
    };

    static void member_ended(sched::incarnation_owner& family, sched::mailbox& box) noexcept;
    static actor_group* of(const sched::mailbox& box) noexcept;
    sched::address member(const sched::mailbox& box) const noexcept;
    void stop_one(sched::address who) noexcept;
    void send_stop_visitor() noexcept;
    void forward_stop_visitor() noexcept;
    sched::address find_named(std::string_view name, const detail::actor_type* type) const;
    bool wait_for_all(bool at_the_end) noexcept;

    // The living are counted apart for every few workers, by where they were spawned: else all
    // births and ends would meet in one cache line. Each branch with living ones counts as one in
    // `populated_shards_`, from before its first one lives until after its last one has ended; so
    // that is 0 when nobody lives, and only then.
    struct alignas(base::cache_line) shard {
        mutable base::spin_lock
            lock; // guards all below; lock_ may be taken inside it, not the other way
        std::size_t living = 0;
        std::uint64_t handled = 0; // by those that have ended
        bool stopped = false;
    };
    static constexpr unsigned shard_count = 8;
    unsigned shard_here() const noexcept;

    sched::runtime_core& runtime_;
    std::array<shard, shard_count> shards_;
    mutable base::spin_lock lock_; // guards all below
    unsigned populated_shards_ = 0;
    stop_visitor stop_visitor_{*this};
    sched::wait_list joiners_;
    std::exception_ptr error_;
};

} // namespace sennit
