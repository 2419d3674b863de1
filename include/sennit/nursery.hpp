// SPDX-License-Identifier: Apache-2.0
// nursery: a group of fibers that end before the block that created them. The first error cancels
// the other fibers.
//
//     sennit::nursery pages;
//     for (const url& u : urls) pages.start([&, u] { store(fetch(u)); });
//     pages.join();                         // rethrows the first error, when all have ended
//
// Use it for tasks that must not outlive a block. For one fiber use `fiber`; for children that
// compute and rarely block use `fork_join` or `scope`, which are cheaper.
//
// Guarantees. All children have ended when `join` returns or throws, and when the nursery is
// destroyed, however the block is left. The first exception of a child cancels the other children.
// Cancelling wakes every blocked call of every child, and of the nurseries that the children own:
// the call throws `cancelled`, which ends the child and is no error of the nursery. Children that
// have not started yet do not start. A wait for a lock is not interrupted; the lock's owner is, and
// releases the lock. A child that computes learns of the cancellation by its stop token or
// this_fiber::checkpoint(). Stop callbacks run in the canceller and must not block, because
// std::stop_callback knows threads, not fibers.
// Nesting: a nursery that a child creates belongs to that child. A nursery created inside
// with_timeout, or in a child of another nursery, is cancelled with it.
// Destruction without join cancels the children and waits for them. The destructor then throws the
// first error; it drops errors if the block is left by an exception.
// Thread safety: any thread may call `start`, `cancel` and `cancelled` while the nursery lives and
// is not yet joined; children may start siblings. Only the fiber that created the nursery may call
// the other members.
// Cost of a child: a fiber and an entry in the nursery's list of scopes, about 40 ns together.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/fiber.hpp"

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <stop_token>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace sennit {

class nursery {
public:
    // Creates a nursery without children, inside the scope of cancellation of the caller.
    nursery();
    ~nursery() noexcept(false);
    nursery(const nursery&) = delete;
    nursery& operator=(const nursery&) = delete;

    // Calls `function()` in a new fiber, with a std::stop_token if the function takes one. Does not
    // block. Does nothing once the nursery is cancelled. Throws std::bad_alloc and the exceptions
    // of copying the function.
    template <class F>
        requires std::invocable<std::decay_t<F>&> ||
                 std::invocable<std::decay_t<F>&, std::stop_token>
    [[gnu::always_inline]] void start(F&& function) {
        start_from(sched::here(), nullptr, std::forward<F>(function));
    }
    template <class F>
        requires std::invocable<std::decay_t<F>&> ||
                 std::invocable<std::decay_t<F>&, std::stop_token>
    [[gnu::always_inline]] void start(const fiber_attributes& how, F&& function) {
        start_from(sched::here(), &how, std::forward<F>(function));
    }
    // Explains a call that the other overloads refuse.
    template <class F>
    base::refused_call start(F&&) {
        static_assert(base::refused<F>,
                      "sennit: nursery::start calls the function without arguments, or with a "
                      "std::stop_token; capture other arguments in a lambda");
        return {};
    }
    template <class F>
    base::refused_call start(const fiber_attributes&, F&& function) {
        return start(std::forward<F>(function));
    }

    // Blocks until all children have ended, then reports how they ended:
    // * A child threw: `join` throws the first such exception, whether or not `cancel` was called
    //   too.
    // * `cancel` was called and no child threw: `join` returns normally, although children were cut
    //   short or never started. `cancelled()` distinguishes this end from one in which every child
    //   has finished its work.
    // * Only an enclosing nursery or with_timeout cancelled this nursery: `join` throws
    //   sennit::cancelled if a child was cut short or did not start, or if the cancellation
    //   interrupted `join` itself.
    // The nursery may be used again when it was not cancelled.
    void join();

    // Cancels the children (see "Guarantees" in the head of this file). Does not block. A later
    // `join` does not report this: it returns normally unless a child threw an exception of its
    // own. May be called any number of times.
    void cancel() noexcept;
    // True after a call of `cancel`, after an exception of a child, and after an enclosing scope
    // was cancelled.
    bool cancelled() const noexcept { return scope_.cancelled(); }

    // Returns a token for children that compute. If a child that was thrown `cancelled` asks for
    // the token, the token reports the stop. A token that was requested earlier may report it a
    // moment later. The first call may throw std::bad_alloc.
    std::stop_token get_stop_token();

private:
    // A child's cancel scope lives in its block, and the block outlives the code that runs in it.
    template <class F>
    struct child final : sched::fiber_block {
        template <class G>
        child(nursery& family, const fiber_attributes* how, const void* made_at, G&& given)
            : fiber_block(detail::runtime_for(how), type, made_at), owner(family),
              scope(&family.scope_) {
            if (how && !how->plain()) detail::apply_to(*this, *how);
            self().scope = &scope;
            other_token = [](fiber_block& me) {
                return static_cast<child&>(me).owner.get_stop_token();
            };
            std::construct_at(std::addressof(function), std::forward<G>(given));
        }
        ~child() {}
        static void body(sched::fiber_block& block) noexcept {
            auto& me = static_cast<child&>(block);
            me.owner.run_child([&me] {
                if constexpr (std::invocable<F&>)
                    me.function();
                else
                    me.function(me.owner.get_stop_token());
            });
            // The destructor runs as the child, because it may use the child's fiber_locals.
            std::destroy_at(std::addressof(me.function));
        }
        // The nursery may be destroyed as soon as child_ended has told it of the end. The block is
        // therefore freed first.
        static void destroy(sched::fiber_block* block) noexcept {
            auto* me = static_cast<child*>(block);
            nursery& family = me->owner;
            me->~child();
            sched::give_memory(me, sizeof(child));
            family.child_ended();
        }
        static constexpr sched::fiber_type type{&body, &destroy, &typeid(F)};
        nursery& owner;
        sched::cancel_scope scope;
        union {
            F function; // alive until the body has run
        };
    };

    template <class F>
    void start_from(const void* made_at, const fiber_attributes* how, F&& function) {
        if (cancelled()) return cut_short(); // otherwise join would not report it
        auto* one = make_child(how, made_at, std::forward<F>(function));
        begin(*one, how ? how->policy : launch::enqueue);
    }

    template <class F>
    child<std::decay_t<F>>* make_child(const fiber_attributes* how, const void* made_at,
                                       F&& function) {
        using type = child<std::decay_t<F>>;
        static_assert(alignof(type) <= 16, "sennit: a fiber's closure is over-aligned");
        void* memory = sched::take_memory(sizeof(type));
        try {
            return ::new (memory) type(*this, how, made_at, std::forward<F>(function));
        } catch (...) {
            sched::give_memory(memory, sizeof(type));
            throw;
        }
    }

    template <class Body>
    void run_child(Body&& body) noexcept {
        if (cancelled()) return cut_short();
        try {
            body();
        } catch (const sennit::cancelled&) {
            if (cancelled()) return cut_short();
            // user code threw `cancelled` itself: an error like any other
            record(std::current_exception());
        } catch (...) {
            record(std::current_exception());
        }
    }
    void begin(sched::fiber_block& fresh, launch policy) noexcept;
    void child_ended() noexcept;
    void record(std::exception_ptr error) noexcept;
    void cut_short() noexcept; // notes that a child did not start, or did not finish
    void cancel_children() noexcept;
    void wait_for_children() noexcept;

    sched::cancel_scope scope_;
    const int uncaught_at_start_;
    base::spin_lock lock_; // guards all members below
    std::size_t children_ = 0;
    sched::wait_list joiner_;
    std::exception_ptr error_;
    bool cut_short_ = false;    // a child did not start, or did not finish
    bool by_ourselves_ = false; // cancelled because of an error or a call of cancel
    std::unique_ptr<std::stop_source> stop_source_;
};

} // namespace sennit
