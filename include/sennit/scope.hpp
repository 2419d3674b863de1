// SPDX-License-Identifier: Apache-2.0
// scope: a number of children known only at run time, joined at the scope's end; the first error
// cancels the rest.
//
// Use it when children are found one by one, or spawn siblings. For a fixed number use `fork_join`,
// for an indexed family `fork_each`: both are cheaper.
//
//     sennit::scope children;
//     for (node* n = first; n; n = n->next) children.spawn([n] { visit(n); });
//     children.join();                      // rethrows the first exception
//
// Guarantees. `spawn` never blocks and never runs the child. Any child may spawn into the scope,
// from any worker, until `join` has returned. A child may wait in any call of Sennit; it never runs
// on top of code that waits. The destructor joins; an exception that no `join` has delivered is
// thrown from the destructor, unless the scope is being left by another exception. Cancellation.
// The first exception of a child requests stop: children that have not started are dropped, those
// that run can see it in `get_stop_token()`. `request_stop()` does the same by hand. Thread safety:
// `spawn`, `request_stop`, `get_stop_token` from any thread while the scope lives and is not yet
// joined; the rest from the context that made it, in the reverse order of the scopes' making and
// not from inside a fork that began after the scope's first spawn (checked: the program stops with
// a message). Cost of a child that nobody takes: a few ns where the scope's own context spawns it
// and its closure fits 32 bytes and moves without throwing; otherwise one allocation and a trip
// over the worker's queue, about 50 ns.
#pragma once

#include "sennit/detail/core/fork_stack.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/runtime.hpp"

#include <concepts>
#include <exception>
#include <memory>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace sennit {

class scope {
public:
    scope();
    ~scope() noexcept(false);
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    // Adds a child. Throws std::bad_alloc only when the child needs an allocation that is refused;
    // it was not added then. Ignored once stop was requested.
    template <class F>
        requires std::invocable<std::decay_t<F>&>
    void spawn(F&& function) {
        using closure = std::decay_t<F>;
        if (stopped()) return;
        if constexpr (fits<closure>) {
            if (sched::fork_slot* slot = slot_for_child()) {
                ::new (static_cast<void*>(slot->data)) in_slot<closure>{
                    {this, &in_slot<closure>::act}, closure(std::forward<F>(function))};
                slot->run = &scope::run_stolen;
                ++slots_;
                expected_ = slot + 1;
                sched::push_fork(slot);
                return;
            }
        }
        add(*new in_queue<closure>(*this, std::forward<F>(function)));
    }

    // Waits for all children and throws the first exception of one, if any. The scope may be used
    // again afterwards.
    void join();

    // Asks the children to end early; those that have not started are dropped.
    void request_stop() noexcept;
    bool stop_requested() const noexcept { return stopped(); }

    // A token that tells of `request_stop` and of the first exception. May throw std::bad_alloc at
    // its first call.
    std::stop_token get_stop_token();

private:
    enum class action { run, drop };

    struct slot_header {
        scope* owner;
        void (*act)(slot_header*, action);
    };
    template <class F>
    struct in_slot : slot_header {
        F function;
        in_slot(slot_header header, F&& f) noexcept : slot_header(header), function(std::move(f)) {}
        // Moves the closure out first: what it forks reuses the slot.
        static void act(slot_header* header, action what) {
            auto* me = static_cast<in_slot*>(header);
            F own(std::move(me->function));
            std::destroy_at(me);
            if (what == action::run) own();
        }
    };
    struct queued : sched::runnable {
        queued(scope& s, void (*f)(sched::runnable*) noexcept) noexcept : runnable(f), owner(s) {}
        scope& owner;
    };
    template <class F>
    struct in_queue : queued {
        template <class G>
        in_queue(scope& s, G&& g) : queued(s, &in_queue::go), function(std::forward<G>(g)) {}
        static void go(sched::runnable* self) noexcept {
            std::unique_ptr<in_queue> me(static_cast<in_queue*>(self));
            scope& owner = me->owner;
            if (!owner.stopped()) {
                sched::strand_frame child;
                owner.guarded([&] { me->function(); });
            }
            me.reset();
            owner.child_ended();
        }
        F function;
    };

    template <class F>
    static constexpr bool fits = sizeof(in_slot<F>) <= sched::fork_slot::capacity &&
                                 alignof(F) <= 16 && std::is_nothrow_move_constructible_v<F>;

    template <class F>
    void guarded(F&& body) noexcept {
        try {
            body();
        } catch (...) {
            record(std::current_exception());
        }
    }

    bool stopped() const noexcept { return stopped_.load_acq() != 0; } // pairs with request_stop
    sched::fork_slot* slot_for_child() noexcept;
    static bool run_stolen(sched::fork_slot* slot) noexcept;
    void run_or_drop(slot_header* header) noexcept;
    void add(queued& child) noexcept;
    void child_ended() noexcept;
    void record(std::exception_ptr error) noexcept;
    void join_children() noexcept;

    const void* const home_;     // the context that made the scope; null: none
    const void* const maker_;    // and who ran there
    sched::fork_slot* expected_; // home only: the owner context's free slot if it has forked
                                 // nothing since; null: no context
    std::uint32_t slots_ = 0;    // children in the fork stack; home only
    const int uncaught_at_start_;

    base::atomic<std::uint32_t> stopped_{0};
    base::atomic<std::uint32_t> queued_{
        1}; // children in queues or running from there, and one for the owner
    sched::one_shot all_ended_;

    base::spin_lock lock_; // guards the two below
    std::exception_ptr error_;
    std::unique_ptr<std::stop_source> stop_source_;
};

} // namespace sennit
