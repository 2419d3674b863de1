// SPDX-License-Identifier: Apache-2.0
// nursery: fibers that end before the block that made them; the first error cancels the others.
//
//     sennit::nursery pages;
//     for (const url& u : urls) pages.start([&, u] { store(fetch(u)); });
//     pages.join();                         // rethrows the first error, when all have ended
//
// Guarantees. All children have ended when `join` returns or throws, and when the nursery is
// destroyed, however the block is left. The first exception of a child cancels the rest. Cancelling
// wakes every blocked call of every child, and of what children have in nurseries of their own: it
// throws `cancelled`, which ends the child and is no error of the nursery. Children that have not
// started yet do not start. Locks are not interrupted; their owners are, and free them. A child
// that computes sees it by its stop token or this_fiber::checkpoint(); stop callbacks run in the
// canceller and must not block (std::stop_callback knows threads, not fibers). Nesting: a nursery
// made by a child belongs to it; a nursery made inside with_timeout or another nursery's child is
// cancelled with it. Destruction without join cancels, waits, and drops errors if the block is left
// by an exception, else throws the first. Thread safety: `start`, `cancel`, `cancelled` from
// anywhere while the nursery lives and is not yet joined; children may start siblings. The rest
// from the fiber that made it. Cost of a child: that of a fiber, and an entry in the nursery's list
// of scopes, about 40 ns together.
#pragma once

#include "sennit/cancelled.hpp"
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
    nursery();
    ~nursery() noexcept(false);
    nursery(const nursery&) = delete;
    nursery& operator=(const nursery&) = delete;

    // Calls `function()` in a new fiber, with a std::stop_token if it takes one. Throws
    // std::bad_alloc, and what copying the function throws. Ignored once the nursery is cancelled.
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

    // Waits until all children have ended, then reports how they ended:
    //   * A child threw: `join` throws the first such exception, whether or not `cancel` was called
    //   too.
    //   * `cancel` was called and no child threw: `join` returns normally, although children were
    //   cut short or never
    //     started. `cancelled()` tells this end from one in which every child has finished its
    //     work.
    //   * Only an enclosing nursery or with_timeout cancelled this nursery: `join` throws
    //   sennit::cancelled if a child
    //     was cut short or did not start, or if the cancellation interrupted `join` itself.
    // The nursery may be used again when it was not cancelled.
    void join();

    // Cancels the children (see "Guarantees" above). A later `join` does not report this: it
    // returns normally unless a child threw an exception of its own. May be called any number of
    // times.
    void cancel() noexcept;
    // True after a call of `cancel`, after an exception of a child, and after an enclosing scope
    // was cancelled.
    bool cancelled() const noexcept { return scope_.cancelled(); }

    // Tells children that compute. Asked for by one that was thrown `cancelled`, it tells of a
    // stop; one that was asked for before may do so a moment later. May throw std::bad_alloc at the
    // first call.
    std::stop_token get_stop_token();

private:
    // A child's cancel scope lives in its block: the block outlives what runs in it.
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
            std::destroy_at(
                std::addressof(me.function)); // as the child: it may use its fiber_locals
        }
        // The nursery may be gone as soon as it has been told.
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
            F function; // until the body has run
        };
    };

    template <class F>
    void start_from(const void* made_at, const fiber_attributes* how, F&& function) {
        if (cancelled()) return cut_short(); // or join would not tell
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
            record(std::current_exception()); // thrown by hand: an error like others
        } catch (...) {
            record(std::current_exception());
        }
    }
    void begin(sched::fiber_block& fresh, launch policy) noexcept;
    void child_ended() noexcept;
    void record(std::exception_ptr error) noexcept;
    void cut_short() noexcept; // a child did not start, or did not end by itself
    void cancel_children() noexcept;
    void wait_for_children() noexcept;

    sched::cancel_scope scope_;
    const int uncaught_at_start_;
    base::spin_lock lock_; // guards all below
    std::size_t children_ = 0;
    sched::wait_list joiner_;
    std::exception_ptr error_;
    bool cut_short_ = false;    // some child was
    bool by_ourselves_ = false; // because of an error, or of a call of cancel
    std::unique_ptr<std::stop_source> stop_source_;
};

} // namespace sennit
