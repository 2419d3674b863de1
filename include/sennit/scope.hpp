// SPDX-License-Identifier: Apache-2.0
// scope: a group of children whose number is known only at run time, joined at the end of the
// scope. The first error cancels the remaining children.
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
// on top of code that waits. The destructor joins. If no `join` has delivered an exception, the
// destructor throws it, unless another exception is leaving the scope.
// Cancellation. The first exception of a child requests stop: children that have not started are
// dropped, and running children can see the request in `get_stop_token()`. `request_stop()` has the
// same effect.
// Thread safety: any thread may call `spawn`, `request_stop` and `get_stop_token` while the scope
// lives and is not yet joined. Only the context that created the scope may call the other members.
// It must join scopes in the reverse order of their creation, and not from inside a fork that began
// after the scope's first spawn. This is checked: the program stops with a message.
// Cost of a child that is not stolen: a few ns if the scope's own context spawns it and its closure
// fits 32 bytes and moves without throwing. Otherwise a child takes one allocation and a pass
// through the worker's queue, about 50 ns.
#pragma once

#include "sennit/detail/base/refused.hpp"
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
    // Creates a scope without children.
    scope();
    ~scope() noexcept(false);
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    // Adds a child. Does not block. Does nothing once stop was requested. Throws std::bad_alloc if
    // the child needs an allocation that is refused; the child was not added then.
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
    // Explains a call that the other overload refuses.
    template <class F>
    base::refused_call spawn(F&&) {
        static_assert(base::refused<F>, "sennit: scope::spawn calls the function without "
                                        "arguments; capture the arguments in a lambda");
        return {};
    }

    // Blocks until all children have ended, and throws the first exception of a child, if any. The
    // scope may be used again afterwards.
    void join();

    // Asks the running children to end early, and drops those that have not started. Does not
    // block.
    void request_stop() noexcept;
    // Returns true after request_stop or an exception of a child, until join has returned.
    bool stop_requested() const noexcept { return stopped(); }

    // Returns a token that reports `request_stop` and the first exception. The first call may throw
    // std::bad_alloc.
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
        // Moves the closure out of the slot first, because forks of the closure reuse the slot.
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

    // Pairs with request_stop.
    bool stopped() const noexcept { return stopped_.load_acq() != 0; }
    sched::fork_slot* slot_for_child() noexcept;
    static bool run_stolen(sched::fork_slot* slot) noexcept;
    void run_or_drop(slot_header* header) noexcept;
    void add(queued& child) noexcept;
    void child_ended() noexcept;
    void record(std::exception_ptr error) noexcept;
    void join_children() noexcept;

    const void* const home_;  // the context that created the scope; null: none
    const void* const maker_; // the strand that ran on home_ at that time
    // Used by the home context only. The free slot of the home context, if it has forked nothing
    // since; null: no context.
    sched::fork_slot* expected_;
    std::uint32_t slots_ = 0; // children in the fork stack; home context only
    const int uncaught_at_start_;

    base::atomic<std::uint32_t> stopped_{0};
    // Number of children that are in queues or were started from there, plus one for the owner.
    base::atomic<std::uint32_t> queued_{1};
    sched::one_shot all_ended_;

    base::spin_lock lock_; // guards the two members below
    std::exception_ptr error_;
    std::unique_ptr<std::stop_source> stop_source_;
};

} // namespace sennit
