// SPDX-License-Identifier: Apache-2.0
// The await of a sender in a task.
//
//     sennit::task<int> sum(sennit::execution::runtime_scheduler workers) {
//         auto added = ex::schedule(workers) | ex::then([] { return 1 + 2; });
//         co_return co_await std::move(added);
//     }
//
// The header makes every sender awaitable that sends values in at most one way. The await returns
// nothing for set_value(), the value for set_value(v), and a std::tuple for several values. It
// throws the error of set_error: std::system_error for a std::error_code, and any other error as it
// is. set_stopped becomes the exception `cancelled`.
//
// Cancellation: a cancelled scope requests the stop of the operation through the receiver's stop
// token. The await ends when the operation completes. The receiver's environment has that token,
// and the runtime_scheduler of the task's runtime as get_scheduler and get_delegation_scheduler.
// The task continues on a worker of its own runtime, wherever the operation completes.
// Cost: a frame of the worker's memory, which holds the operation state.
#pragma once

#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/execution/detail/implementation.hpp"
#include "sennit/execution/detail/sender_run.hpp"
#include "sennit/execution/scheduler.hpp"
#include "sennit/task/task.hpp"

#include <type_traits>
#include <utility>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

namespace execution {
inline namespace SENNIT_EXECUTION_FLAVOUR {
namespace detail {

template <class S, class V>
task<V> await_sender(S sender) {
    using run_type = sender_run<S, V>;
    static_assert(alignof(run_type) <= 16, "sennit: g++ and clang align coroutine frames to 16 "
                                           "bytes, so the operation state of a sender that a task "
                                           "awaits must not need more");
    run_type run(std::move(sender), runtime_scheduler());
    run.start();
    const bool scope_cancelled = !co_await run.end().async_wait(true);
    if (scope_cancelled) {
        run.request_stop();
        co_await run.end().async_wait(false);
    }
    co_return run.take();
}

} // namespace detail
} // namespace SENNIT_EXECUTION_FLAVOUR
} // namespace execution

template <class S>
    requires(!sched::task_awaitable<S> && !detail::is_any_future<S> &&
             execution::detail::waitable_sender<S>)
struct detail::foreign_await<S> {
    static auto make(S sender) {
        using value = typename execution::detail::sent_by<S, execution::detail::wait_env>::single;
        return execution::detail::await_sender<S, value>(std::move(sender));
    }
};

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
