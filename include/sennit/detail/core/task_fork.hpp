// SPDX-License-Identifier: Apache-2.0
// The fork-join of tasks, on the fork stack. `async_fork_join` and `async_fork_each` are built on
// it.
//
// A task_fork is a range of children, numbered from 0, and lies in the frame of its parent, a task
// that waits for all of them. A walk runs a part of the range, one child after another, in one
// strand. The parent's own walk runs in the parent's strand, so a child that is not stolen costs
// its frame and no identity. While a child runs, the rest of the walk's range is one detached fork
// on the fork stack of the context (detached_fork.hpp).
//
//   R1  A walk that begins a child pushes the rest first: two stores.
//   R2  The child ends, and continues the walk. If the rest is still the newest slot of the context
//       that runs here, the walk pops it and begins the next child. The last child continues the
//       parent directly.
//   R3  A thief takes the rest. It makes a strand with a walk of its own over the rest.
//   R4  A child suspends. Then the activation that resumed its strand pops the rest, and makes a
//       strand like a thief (core/task/activation.hpp). The child may continue on another context,
//       or find the head of the fork stack elsewhere: R2 then finds another slot, or none.
//   R5  A walk whose rest has been taken ends: the parent's walk by R6, another walk with its own
//       strand.
//
// Shares. `unfinished_` counts the walks that have not ended, and the rest of each walk. The rest
// is counted before it is pushed, since a thief may take it at once. The parent's walk and its rest
// are counted from the start. A walk that has begun all its children drops its own share and that
// of its rest together; the parent's walk drops nothing then, because no other thread has a share.
//
//   R6  The parent publishes its wait, and drops its share. R7: another walk drops its shares when
//       its strand has ended. The drop that reaches zero continues the parent. It acquires the
//       writes that the other drops released: the results of all children.
//
// Why a rest is found by its numbers. Parts of one range never overlap, so the parent's address and
// the first number name the rest of one walk. Its slot holds both until a later push. R2 compares
// the slot below the head, which is in use. So the comparison is equal only if that rest is there.
//
// Exceptions. A child's exception drops the children that its own walk has not begun. Stolen rests
// continue.
//
// Tested by tests/unit/task/fork_join_test.cpp and tests/sim/scenarios/task_fork.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/detached_fork.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/core/task_transfer.hpp"
#include "sennit/detail/core/verbs.hpp"

#include <coroutine>
#include <cstdint>
#include <exception>
#include <new>

// clang before 19 moves locals of an inlined await_suspend into the coroutine's frame, which
// another worker may have freed (llvm #56301).
#if defined(__clang__) && __clang_major__ < 19
#define SENNIT_START_OF_FORK [[gnu::noinline]]
#else
#define SENNIT_START_OF_FORK
#endif

namespace sennit::sched {

class task_fork;

// The part of a walk that does not depend on the children. It is the frame that each child but the
// last continues.
struct fork_walk : plain_frame {
    task_fork* fork;
    std::coroutine_handle<> after; // Continues when the walk has ended.
    fork_slot* slot;               // Where the rest lies while a child runs; null: there is none.
    std::uint32_t next;            // The next child to begin.
    std::uint32_t last;            // The end of the range.
    bool rest_counted;             // True if the rest has a share.
};

class task_fork {
public:
    struct functions {
        // Makes a strand with a walk over the children from `first` to `last`, and stores the
        // coroutine that it runs first. Null: there is no memory, and the first child has failed.
        task_strand* (*make_strand)(task_fork&, std::uint32_t first, std::uint32_t last,
                                    std::coroutine_handle<>& begins) noexcept;
    };
    task_fork(const functions& which, cancel_scope* parents) noexcept
        : type(which), scope(parents) {}
    task_fork(const task_fork&) = delete;

    // R6. Returns the coroutine to continue: `parent`, or one that does nothing. The caller must
    // not touch the fork afterwards.
    [[gnu::noinline]] std::coroutine_handle<> join(std::coroutine_handle<> parent) noexcept;
    // In await_resume of the parent.
    void end_join() noexcept {
        if (waits_) end_wait_of_join();
    }
    // Orders nothing: the caller has a share.
    void add_share() noexcept { unfinished_.fetch_add_rlx(1); }
    // R7. The fork may be gone when the call returns.
    void drop_shares(std::uint32_t count) noexcept {
        // Pairs with the drops of the other walks and with join.
        if (unfinished_.fetch_sub_acq_rel(count) == count) wake(*waiter_);
    }

    const functions& type;
    cancel_scope* const scope; // That of the parent.

private:
    static void end_wait_of_join() noexcept;

    base::atomic<std::uint32_t> unfinished_{2};
    bool waits_ = false;
    wait_point* waiter_ = nullptr; // Written before the parent drops its share.
};

// The functions of a slot that holds the rest of a walk.
extern const detached_fork::functions rest_of_walk;

// R2. Takes the rest of the walk back. Returns false if it is not there any more. May suspend the
// calling context while a thief copies the slot.
inline bool take_rest(fork_walk& walk) noexcept {
    fork_slot* slot = walk.slot;
    if (!slot) return true; // There was no room for it, so it was never offered.
    if (free_slot() != slot + 1 || slot->run != &detached_mark) [[unlikely]]
        return false;
    const auto& rest = slot->as<detached_fork>();
    return rest.object == walk.fork && rest.first == walk.next && pop_fork(slot);
}

// True if the running context has room for one more detached fork.
[[gnu::noinline]] bool has_room_for_rest() noexcept;

// Each walk has an object of `Data`, which has a constructor without arguments. `Self` derives from
// the class, and has these members:
//   begin(data, index, after) noexcept
//                           creates the child and returns its coroutine, which continues `after`.
//                           Null: the child has ended already
//   ended(data, index) noexcept
//                           called when a child has ended, and once more for the last child that
//                           a walk has begun. Returns false if the child has failed
//   out_of_memory(index) noexcept
//                           the child fails because there is no memory for its strand
template <class Self, class Data>
class typed_task_fork : public task_fork {
public:
    explicit typed_task_fork(cancel_scope* parents) noexcept : task_fork(type_of_self, parents) {}

    // In await_suspend of the parent, as the last action. Returns the coroutine to continue. Not
    // for zero children.
    [[gnu::always_inline]] std::coroutine_handle<> start(std::uint32_t count,
                                                         std::coroutine_handle<> parent) noexcept {
        own_.resume = &typed_task_fork::child_ended;
        own_.fork = this;
        own_.after = parent;
        own_.next = 1;
        own_.last = count;
        own_.rest_counted = true;
        std::coroutine_handle<> next = parent;
        if (count != 1) {
            push_rest(own_, 1, count);
            next = own_.handle();
        }
        if (std::coroutine_handle<> child = static_cast<Self&>(*this).begin(own_.data, 0, next))
            return transfer(child);
        return transfer(after_immediate_end(own_));
    }
    // In await_resume of the parent, if `ended` stores anything: the last child of the parent's
    // walk continues the parent directly.
    void end_own_walk() noexcept {
        (void)static_cast<Self&>(*this).ended(own_.data, own_.next - 1);
    }

private:
    struct walk_of : fork_walk {
        [[no_unique_address]] Data data;
    };

    static Self& self_of(fork_walk& walk) noexcept { return static_cast<Self&>(*walk.fork); }
    static bool is_own(const fork_walk& walk) noexcept {
        return &walk == &static_cast<typed_task_fork*>(walk.fork)->own_;
    }

    // R1. Begins the next child. Returns its coroutine; null: the child has ended already.
    [[gnu::always_inline]] static std::coroutine_handle<> begin_next(walk_of& walk) noexcept {
        const std::uint32_t index = walk.next;
        const std::uint32_t last = walk.last;
        walk.next = index + 1;
        std::coroutine_handle<> next = walk.after;
        if (index + 1 != last) {
            if (!walk.rest_counted) [[unlikely]] {
                walk.fork->add_share();
                walk.rest_counted = true;
            }
            push_rest(walk, index + 1, last);
            next = walk.handle();
        }
        return self_of(walk).begin(walk.data, index, next);
    }
    // Continues a walk whose child has ended inside of `begin`. Returns the coroutine to continue.
    [[gnu::noinline]] static std::coroutine_handle<> after_immediate_end(walk_of& walk) noexcept {
        for (;;) {
            if (walk.next == walk.last) {
                (void)self_of(walk).ended(walk.data, walk.next - 1);
                return walk.after;
            }
            if (std::coroutine_handle<> other = continues(walk)) return other;
            if (std::coroutine_handle<> child = begin_next(walk)) return child;
        }
    }
    // The numbers are in `walk`, too. A load of both at once would wait for the store of one.
    [[gnu::always_inline]] static void push_rest(walk_of& walk, std::uint32_t first,
                                                 std::uint32_t last) noexcept {
        fork_slot* slot = free_slot();
        // The room is looked at where a group of slots begins.
        constexpr std::uintptr_t group = 16 * sizeof(fork_slot);
        if (reinterpret_cast<std::uintptr_t>(slot) % group == 0 && !has_room_for_rest())
            [[unlikely]] {
            walk.slot = nullptr;
            return;
        }
        walk.slot = slot;
        push_detached(slot, {&rest_of_walk, walk.fork, first, last});
    }
    // R2, after the end of child `walk.next - 1`, which was not the last one. Returns null if the
    // walk has taken its rest back, and begins the next child. Otherwise returns the coroutine to
    // continue.
    [[gnu::always_inline]] static std::coroutine_handle<> continues(walk_of& walk) noexcept {
        const bool good = self_of(walk).ended(walk.data, walk.next - 1);
        if (!take_rest(walk)) [[unlikely]]
            return leave(walk); // R5
        return good ? nullptr : walk.after;
    }
    [[gnu::noinline]] static std::coroutine_handle<> leave(walk_of& walk) noexcept {
        if (is_own(walk)) return walk.fork->join(walk.after);
        walk.rest_counted = false; // The share has gone with the rest.
        return walk.after;
    }
    // The frame's function: a child has ended.
    static void child_ended(void* frame) {
        auto& walk = static_cast<walk_of&>(*static_cast<plain_frame*>(frame));
        std::coroutine_handle<> next = continues(walk);
        if (!next) {
            next = begin_next(walk);
            if (!next) [[unlikely]]
                next = after_immediate_end(walk);
        }
        SENNIT_RESUME_AND_RETURN(transfer(next));
    }

    // A walk over a part of the range, in a strand of its own.
    class alignas(16) strand_of_walk final : public task_strand {
    public:
        strand_of_walk(task_fork& of, std::uint32_t first, std::uint32_t last) noexcept
            : task_strand(*current_runtime(), calls_at_end<&strand_of_walk::has_ended>),
              scope_(of.scope) {
            if (of.scope) identity().scope = &scope_;
            walk_.resume = &typed_task_fork::child_ended;
            walk_.fork = &of;
            walk_.after = end();
            walk_.next = first;
            walk_.last = last;
            walk_.rest_counted = false;
        }
        static task_strand* make(task_fork& of, std::uint32_t first, std::uint32_t last,
                                 std::coroutine_handle<>& begins) noexcept {
            void* memory;
            try {
                memory = take_memory(sizeof(strand_of_walk));
            } catch (const std::bad_alloc&) {
                static_cast<Self&>(of).out_of_memory(first);
                return nullptr;
            }
            auto* made = ::new (memory) strand_of_walk(of, first, last);
            begins = std::coroutine_handle<>::from_address(&made->starter_);
            made->starter_.resume = &strand_of_walk::starts;
            made->starter_.walk = &made->walk_;
            return made;
        }

    private:
        // The frame that the strand runs first.
        struct starter : sched::plain_frame {
            walk_of* walk;
        };
        static void starts(void* frame) {
            walk_of& walk = *static_cast<starter&>(*static_cast<sched::plain_frame*>(frame)).walk;
            std::coroutine_handle<> next = begin_next(walk);
            if (!next) next = after_immediate_end(walk);
            SENNIT_RESUME_AND_RETURN(transfer(next));
        }
        static void has_ended(task_strand& self) noexcept {
            auto& me = static_cast<strand_of_walk&>(self);
            task_fork& of = *me.walk_.fork;
            (void)self_of(me.walk_).ended(me.walk_.data, me.walk_.next - 1);
            const std::uint32_t shares = me.walk_.rest_counted ? 2 : 1;
            me.~strand_of_walk();
            give_memory(&me, sizeof(strand_of_walk));
            of.drop_shares(shares);
        }
        walk_of walk_;
        starter starter_;
        cancel_scope scope_;
    };

    static constexpr functions type_of_self{&strand_of_walk::make};
    walk_of own_;
};

} // namespace sennit::sched
