// SPDX-License-Identifier: Apache-2.0
// nursery: a group of fibers that end before the block that created them. The first error cancels
// the other fibers.
//
//     sennit::nursery pages;
//     for (const url& u : urls) pages.start([&, u] { store(fetch(u)); });
//     pages.join();                         // rethrows the first error, when all have ended
//
//     sennit::nursery downloads({.limit = 16});           // at most 16 children run at a time
//     while (auto u = urls.pop()) downloads.start([u] { store(fetch(*u)); });
//     downloads.join();
//
// Use it for tasks that must not outlive a block. For one fiber use `fiber`; for children that
// compute and rarely block use `fork_join` or `scope`, which are cheaper. For the elements of a
// range use `for_each_concurrent` and `map_concurrent`, which are bounded nurseries around a loop.
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
// Limit. With `nursery_options::limit` at most that many children run at a time. `start` by the
// owner, the fiber that created the nursery, waits for a free place. `start` by any other fiber or
// thread never blocks: the child is queued, and starts when a place is free. So a child that starts
// siblings at the limit causes no deadlock. Queued children come before a waiting owner, in the
// order of their starts. A `start` that is cancelled, or that throws, gives its place back.
// Destruction without join cancels the children and waits for them. The destructor then throws the
// first error; it drops errors if the block is left by an exception.
// Thread safety: any thread may call `start`, `cancel` and `cancelled` while the nursery lives and
// is not yet joined; children may start siblings. Only the fiber that created the nursery may call
// the other members.
// Cost of a child: a fiber and an entry in the nursery's list of scopes, about 40 ns together. A
// limit adds no lock. A `start` that waits costs a switch to another fiber and back.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/detail/core/task_forward.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/exception_list.hpp"
#include "sennit/fiber.hpp"
#include "sennit/task_attributes.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
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

namespace sched {
class task_strand;
}

namespace detail {

// A function that a nursery calls in a fiber.
template <class F>
concept runs_in_nursery = (std::invocable<F> && !returns_task<F>) ||
                          (std::invocable<F, std::stop_token> && !returns_task<F, std::stop_token>);
// A function that returns a task, or a task: a child without a stack.
template <class F>
concept task_in_nursery =
    is_task<std::remove_cvref_t<F>> || returns_task<F> || returns_task<F, std::stop_token>;

template <class F>
concept no_task_in_nursery = !task_in_nursery<F>;

template <class F>
class nursery_task;

struct nursery_access;
} // namespace detail

struct nursery_options {
    // The most children that run at a time, at least 1. A child counts from its start to its end.
    std::size_t limit = SIZE_MAX;
    // True: an exception of a child does not cancel the other children. `join` throws an
    // exception_list with the exceptions of all children that failed, in the order of the failures.
    bool collect_errors = false;
};

class nursery {
public:
    // Creates a nursery without children, inside the scope of cancellation of the caller. The first
    // form has no limit. The second form ends the program with a message if the limit is 0.
    nursery();
    explicit nursery(const nursery_options& how);
    ~nursery() noexcept(false);
    nursery(const nursery&) = delete;
    nursery& operator=(const nursery&) = delete;

    // Calls `function()` in a new fiber, with a std::stop_token if the function takes one. Does
    // nothing once the nursery is cancelled. Blocks only in a nursery with a limit, while the owner
    // waits for a free place; it then throws `cancelled` when an enclosing scope is cancelled.
    // Throws std::bad_alloc and the exceptions of copying the function; the nursery is then
    // unchanged. The policy of the attributes applies only if a place is free.
    template <class F>
        requires detail::runs_in_nursery<std::decay_t<F>&>
    [[gnu::always_inline]] void start(F&& function) {
        start_from(sched::here(), nullptr, std::forward<F>(function));
    }
    template <class F>
        requires detail::no_task_in_nursery<std::decay_t<F>> &&
                 detail::runs_in_nursery<std::decay_t<F>&>
    [[gnu::always_inline]] void start(const fiber_attributes& how, F&& function) {
        start_from(sched::here(), &how, std::forward<F>(function));
    }
    // Starts a child as `start` does if a place is free. Otherwise, and in a cancelled nursery, it
    // returns false, and the function was not moved from. Never blocks. Throws like `start`.
    template <class F>
        requires detail::runs_in_nursery<std::decay_t<F>&>
    [[gnu::always_inline, nodiscard]] bool try_start(F&& function) {
        return start_if_free(sched::here(), nullptr, std::forward<F>(function));
    }
    template <class F>
        requires detail::no_task_in_nursery<std::decay_t<F>> &&
                 detail::runs_in_nursery<std::decay_t<F>&>
    [[gnu::always_inline, nodiscard]] bool try_start(const fiber_attributes& how, F&& function) {
        return start_if_free(sched::here(), &how, std::forward<F>(function));
    }
    // Starts a task as a child: the task that `function()` or `function(token)` returns, or a task
    // that exists. The function is kept until the task has ended. Otherwise like the first form.
    template <class F>
        requires detail::task_in_nursery<std::decay_t<F>>
    [[gnu::always_inline]] void start(F&& function) {
        start_task(sched::here(), nullptr, std::forward<F>(function));
    }
    template <class F>
        requires detail::task_in_nursery<std::decay_t<F>>
    [[gnu::always_inline]] void start(const task_attributes& how, F&& function) {
        start_task(sched::here(), &how, std::forward<F>(function));
    }
    template <class F>
        requires detail::task_in_nursery<std::decay_t<F>>
    [[gnu::always_inline, nodiscard]] bool try_start(F&& function) {
        return start_task_if_free(sched::here(), nullptr, std::forward<F>(function));
    }
    template <class F>
        requires detail::task_in_nursery<std::decay_t<F>>
    [[gnu::always_inline, nodiscard]] bool try_start(const task_attributes& how, F&& function) {
        return start_task_if_free(sched::here(), &how, std::forward<F>(function));
    }
    // Explains a call that the other overloads refuse.
    template <class F>
    base::refused_call start(F&&) {
        static_assert(base::refused<F>,
                      "sennit: nursery::start calls the function without arguments, or with a "
                      "std::stop_token; capture other arguments in a lambda");
        return {};
    }
    template <class Attributes, class F>
        requires(std::same_as<Attributes, fiber_attributes> &&
                 detail::task_in_nursery<std::decay_t<F>>)
    base::refused_call start(const Attributes&, F&&) {
        static_assert(base::refused<F>,
                      "sennit: a task in a nursery has no fiber attributes; start it without them, "
                      "or with sennit::task_attributes");
        return {};
    }
    template <class F>
        requires detail::no_task_in_nursery<std::decay_t<F>>
    base::refused_call start(const fiber_attributes&, F&&) {
        static_assert(base::refused<F>,
                      "sennit: nursery::start calls the function without arguments, or with a "
                      "std::stop_token; capture other arguments in a lambda");
        return {};
    }

    template <class F>
    base::refused_call try_start(F&&) {
        static_assert(base::refused<F>,
                      "sennit: nursery::try_start calls the function without arguments, or with a "
                      "std::stop_token; capture other arguments in a lambda");
        return {};
    }
    template <class Attributes, class F>
        requires(std::same_as<Attributes, fiber_attributes> &&
                 detail::task_in_nursery<std::decay_t<F>>)
    base::refused_call try_start(const Attributes& how, F&& function) {
        return start(how, std::forward<F>(function));
    }
    template <class F>
        requires detail::no_task_in_nursery<std::decay_t<F>>
    base::refused_call try_start(const fiber_attributes& how, F&& function) {
        return start(how, std::forward<F>(function));
    }

    // Blocks until all children have ended, then reports how they ended:
    // * A child threw: `join` throws the first such exception, whether or not `cancel` was called
    //   too. With `collect_errors` it throws an exception_list of all of them.
    // * `cancel` was called and no child threw: `join` returns normally, although children were cut
    //   short or never started. `cancelled()` distinguishes this end from one in which every child
    //   has finished its work.
    // * Only an enclosing nursery or with_timeout cancelled this nursery: `join` throws
    //   sennit::cancelled if a child was cut short or did not start, or if the cancellation
    //   interrupted `join` itself.
    // The nursery may be used again when it was not cancelled.
    void join();
    // For the owner if it is a task: like join, without blocking its context. The nursery must
    // outlive the await.
    task<void> async_join();

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
    friend detail::nursery_access;
    template <class F>
    friend class detail::nursery_task;
    class children_ended; // The awaiter of async_join.

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

    // A place for the exception of a child, with collect_errors. Each start reserves one, so that a
    // failure allocates nothing. There is one for each child that may still fail.
    struct error_node : base::list_node {
        std::exception_ptr error;
    };

    // The way in which a child enters a nursery with a limit.
    enum class admission {
        refused, // the nursery is cancelled, or no place is free and the caller does not wait
        place,   // the caller has a place
        queue,   // no place is free, and the child waits for one
    };

    template <class F>
    void start_from(const void* made_at, const fiber_attributes* how, F&& function) {
        if (cancelled()) return cut_short(); // otherwise join would not report it
        if (simple_) [[likely]] {
            auto* one = make_child(how, made_at, std::forward<F>(function));
            return begin(*one, how ? how->policy : launch::enqueue);
        }
        (void)start_as(admit(), made_at, how, std::forward<F>(function));
    }
    template <class F>
    bool start_if_free(const void* made_at, const fiber_attributes* how, F&& function) {
        if (cancelled()) {
            cut_short();
            return false;
        }
        return start_as(try_take_place(), made_at, how, std::forward<F>(function));
    }
    template <class F>
    bool start_as(admission as, const void* made_at, const fiber_attributes* how, F&& function) {
        if (as == admission::refused) return false;
        child<std::decay_t<F>>* one;
        error_node* reserved = nullptr;
        try {
            if (collects_) reserved = new error_node;
            one = make_child(how, made_at, std::forward<F>(function));
        } catch (...) {
            delete reserved;
            if (as == admission::place) give_place();
            throw;
        }
        if (as == admission::place)
            begin(*one, how ? how->policy : launch::enqueue, reserved);
        else
            begin_or_queue(*one, reserved);
        return true;
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
    void begin(sched::fiber_block& fresh, launch policy, error_node* reserved = nullptr) noexcept;
    void begin_or_queue(sched::fiber_block& fresh, error_node* reserved) noexcept;
    // For tasks, in sennit/task/nursery.hpp.
    template <class F>
    void start_task(const void* made_at, const task_attributes* how, F&& function);
    template <class F>
    bool start_task_if_free(const void* made_at, const task_attributes* how, F&& function);
    template <class F>
    bool start_task_as(admission as, const void* made_at, const task_attributes* how, F&& function);
    void begin_task(sched::task_strand& fresh, admission as, error_node* reserved) noexcept;
    void task_failed(std::exception_ptr error) noexcept;
    void launch_child(sched::runnable& fresh) noexcept;
    void count_child(error_node* reserved) noexcept;
    void child_ended() noexcept;
    void record(std::exception_ptr error) noexcept;
    void throw_error();
    void drop_errors() noexcept;

    admission admit();
    admission try_take_place() noexcept;
    void give_place() noexcept;
    sched::runnable* pass_place_on(sched::wake_ups& woken) noexcept;
    void cut_short() noexcept; // notes that a child did not start, or did not finish
    void cancel_children() noexcept;
    void wait_for_children() noexcept;

    sched::cancel_scope scope_;
    const int uncaught_at_start_;
    const bool simple_; // there is no limit, and errors are not collected
    const bool collects_;
    const void* const owner_;  // the identity of the strand that created the nursery
    base::spin_lock lock_;     // guards all members below
    std::size_t children_ = 0; // started or queued, and not ended
    sched::wait_list joiner_;
    // While a place is free, no child is queued and no owner waits.
    std::size_t free_places_;
    base::intrusive_queue<sched::runnable> queued_; // children that wait for a place
    sched::wait_list place_waiter_;                 // the owner; its entry's data is a bool: given
    base::intrusive_queue<error_node> reserved_;    // without exceptions
    std::size_t reserved_count_ = 0;
    base::intrusive_queue<error_node> errors_; // with exceptions, in order
    std::size_t error_count_ = 0;
    std::exception_ptr error_;
    bool cut_short_ = false;    // a child did not start, or did not finish
    bool by_ourselves_ = false; // cancelled because of an error or a call of cancel
    std::unique_ptr<std::stop_source> stop_source_;
};

} // namespace sennit
