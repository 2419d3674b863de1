// SPDX-License-Identifier: Apache-2.0
// execution::as_sender: a sender of a task, of a future, or of anything else that a task may await.
//
//     auto page = sennit::execution::as_sender(fetch(address));             // a task<page>
//     auto next = sennit::execution::as_sender(requests.async_pop());
//     auto done = sennit::execution::as_sender(workers, std::move(future)); // on these workers
//
// Use it to pass Sennit's work to algorithms of std::execution. In a task await the object itself.
//
// The sender starts the task as a strand of its own, on the runtime of the scheduler that you name.
// Without a scheduler it uses the runtime of the caller, or the default runtime if the caller is no
// worker.
// It completes on a worker of that runtime, as a strand of its own, so the receiver may block:
//   * with set_value and the result of the task;
//   * with set_error and a std::exception_ptr, if the task throws;
//   * with set_stopped, if the task throws `cancelled`.
// A stop request of the receiver's stop token cancels the task: each await that waits throws
// `cancelled`. If the stop was requested before the start, the task never begins.
//
// The sender is used once, as an rvalue. An object behind an awaitable, such as a channel, must
// live until the operation has completed. Cost: a task needs no allocation besides its own frame;
// for other awaitables as_sender makes a frame, and may throw std::bad_alloc.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/execution/detail/implementation.hpp"
#include "sennit/execution/detail/stop_scope.hpp"
#include "sennit/execution/scheduler.hpp"
#include "sennit/detail/core/task_result.hpp"
#include "sennit/task/task.hpp"

#include <exception>
#include <type_traits>
#include <utility>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit::execution {
inline namespace SENNIT_EXECUTION_FLAVOUR {

namespace detail {

template <class T>
struct set_value_of {
    using type = ex::set_value_t(T);
};
template <>
struct set_value_of<void> {
    using type = ex::set_value_t();
};

// The operation of a task: a strand, and the task itself until it begins.
template <class T, class R>
class alignas(16) task_operation final : private sched::task_strand {
public:
    using operation_state_concept = ex::SENNIT_EXECUTION_TAG(operation_state);

    task_operation(task<T>&& what, sched::runtime_core& where, R&& receiver)
        : task_strand(where, calls_at_end<&task_operation::ended>), task_(std::move(what)),
          receiver_(std::move(receiver)) {}

    void start() & noexcept {
        identity().scope = stop_.scope();
        stop_.begin(stop_token(receiver_));
        if (stop_.stopped()) {
            never_begun_ = true;
            task_strand::start(end());
        } else {
            task_strand::start(
                sennit::detail::task_access::begin(std::move(task_), result_, end()));
        }
    }

private:
    static void ended(task_strand& self) noexcept {
        auto& me = static_cast<task_operation&>(self);
        me.stop_.end();
        // The receiver may free the operation, and with it the strand's identity. The completion
        // therefore has an identity of its own, on top of the code below the strand.
        sched::exchange_strand(me.identity().outer);
        sched::strand_frame body;
        me.complete();
    }
    void complete() noexcept {
        if (never_begun_) return ex::set_stopped(std::move(receiver_));
        if (result_.failed()) return complete_with(result_.error());
        if constexpr (std::is_void_v<T>) {
            ex::set_value(std::move(receiver_));
        } else if constexpr (std::is_reference_v<T>) {
            T value = result_.take();
            ex::set_value(std::move(receiver_), static_cast<T>(value));
        } else {
            complete_with_value();
        }
    }
    // A function of its own, because only the move of a value may throw.
    void complete_with_value() noexcept {
        std::exception_ptr error;
        try {
            T value = result_.take();
            // The completion functions are noexcept, so only the move throws.
            ex::set_value(std::move(receiver_), std::move(value));
            return;
        } catch (...) {
            error = std::current_exception();
        }
        complete_with(std::move(error));
    }
    void complete_with(std::exception_ptr error) noexcept {
        bool stopped = false;
        try {
            std::rethrow_exception(error);
        } catch (const cancelled&) {
            stopped = true;
        } catch (...) {
            // The receiver gets `error`.
        }
        if (stopped)
            ex::set_stopped(std::move(receiver_));
        else
            ex::set_error(std::move(receiver_), std::move(error));
    }

    task<T> task_; // Holds no task once that has begun.
    sennit::detail::task_result<T> result_;
    [[no_unique_address]] stop_scope<stop_token_of<R>> stop_;
    [[no_unique_address]] R receiver_;
    bool never_begun_ = false;
};

template <class T>
class task_sender {
public:
    using sender_concept = ex::SENNIT_EXECUTION_TAG(sender);
    using completion_signatures =
        ex::completion_signatures<typename set_value_of<T>::type,
                                  ex::set_error_t(std::exception_ptr), ex::set_stopped_t()>;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return completion_signatures();
    }

    task_sender(sched::runtime_core& where, task<T>&& what) noexcept
        : where_(&where), task_(std::move(what)) {}
    template <ex::receiver R>
    task_operation<T, R> connect(R receiver) && {
        return {std::move(task_), *where_, std::move(receiver)};
    }
    runtime_env get_env() const noexcept { return runtime_env(*where_); }

private:
    sched::runtime_core* where_;
    task<T> task_;
};

template <class A>
decltype(auto) awaiter_of(A&& what) {
    if constexpr (requires { static_cast<A&&>(what).operator co_await(); })
        return static_cast<A&&>(what).operator co_await();
    else
        return static_cast<A&&>(what);
}
// The type of the result of an await.
template <class A>
struct awaited {
    using type = std::decay_t<decltype(awaiter_of(std::declval<A>()).await_resume())>;
};
template <class T>
struct awaited<future<T>> {
    using type = T;
};
template <class T>
struct awaited<shared_future<T>> {
    using type = std::decay_t<T>;
};

template <class R, class A>
task<R> await_once(A what) {
    co_return co_await std::move(what);
}

template <class A>
concept awaitable_object = sched::task_awaitable<A> || sennit::detail::is_any_future<A>;

// The task that a sender starts.
template <class T>
task<T>&& task_of(task<T>& what) noexcept {
    return std::move(what);
}
template <class A>
auto task_of(A& what) {
    return await_once<typename awaited<A>::type>(std::move(what));
}

template <class T>
task_sender<T> make_sender(sched::runtime_core& where, task<T>&& what) noexcept {
    return {where, std::move(what)};
}

} // namespace detail

// Returns a sender of the result of awaiting `what`, on the workers of `where`. Throws
// std::bad_alloc, and the exceptions of moving `what`.
template <detail::awaitable_object A>
    requires(!std::is_reference_v<A>)
auto as_sender(const runtime_scheduler& where, A&& what) {
    return detail::make_sender(where.core(), detail::task_of(what));
}
// Returns a sender of the result of awaiting `what`, on the workers of the caller's runtime, or of
// the default runtime if the caller is no worker.
template <detail::awaitable_object A>
    requires(!std::is_reference_v<A>)
auto as_sender(A&& what) {
    return as_sender(runtime_scheduler(), std::move(what));
}
// A shared future may be awaited any number of times, so it is copied.
template <class T>
auto as_sender(const runtime_scheduler& where, const shared_future<T>& what) {
    return as_sender(where, shared_future<T>(what));
}
template <class T>
auto as_sender(const shared_future<T>& what) {
    return as_sender(runtime_scheduler(), shared_future<T>(what));
}
// Explains a call that the overloads above refuse.
template <class A>
    requires(!detail::awaitable_object<std::remove_cvref_t<A>>)
base::refused_call as_sender(A&&) {
    static_assert(base::refused<A>, "sennit: as_sender takes tasks, futures and the results of "
                                    "async_ members");
    return {};
}
template <class A>
    requires(detail::awaitable_object<A> && !sennit::detail::is_shared_future<A>)
base::refused_call as_sender(A&) {
    static_assert(base::refused<A>, "sennit: as_sender takes an rvalue, because the sender awaits "
                                    "it; write as_sender(std::move(x))");
    return {};
}

} // namespace SENNIT_EXECUTION_FLAVOUR
} // namespace sennit::execution

SENNIT_COROUTINE_TEMPLATES_END
