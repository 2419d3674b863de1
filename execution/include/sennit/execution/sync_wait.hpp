// SPDX-License-Identifier: Apache-2.0
// execution::sync_wait: starts a sender and blocks until it has completed, in fibers and threads.
//
//     auto [a, b] = sennit::execution::sync_wait(ex::just(1, 2)).value();
//
// Use it in a fiber, an actor or a thread. The fiber leaves its worker, which runs other work
// meanwhile: std::this_thread::sync_wait would block the worker's thread. In a task `co_await` the
// sender.
//
// Returns a std::optional of the tuple of the values that the sender sends; without a value if the
// operation was stopped. Throws the error, as the await of a task does. A cancelled scope of the
// caller requests the stop of the operation; if that ends it, sync_wait throws `cancelled`.
// The receiver's environment has a runtime_scheduler as get_scheduler and
// get_delegation_scheduler: that of the caller's runtime, or of the default runtime if the caller
// is no worker. Cost on a worker: no allocation.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/execution/detail/implementation.hpp"
#include "sennit/execution/detail/sender_run.hpp"
#include "sennit/execution/scheduler.hpp"

#include <optional>
#include <type_traits>
#include <utility>

namespace sennit::execution {
inline namespace SENNIT_EXECUTION_FLAVOUR {

template <class S>
    requires detail::waitable_sender<S>
auto sync_wait(S&& sender) {
    using values = typename detail::sent_by<S, detail::wait_env>::tuple;
    detail::sender_run<S, values> run(std::forward<S>(sender), runtime_scheduler());
    run.start();
    const bool scope_cancelled = !run.end().wait(true);
    if (scope_cancelled) {
        run.request_stop();
        run.end().wait(false);
        if (run.stopped()) throw cancelled();
    }
    std::optional<values> result;
    if (!run.stopped()) result.emplace(run.take());
    return result;
}
// Explains a call that the overload above refuses.
template <class S>
base::refused_call sync_wait(S&&) {
    static_assert(base::refused<S>, "sennit: sync_wait takes a sender that sends values in at most "
                                    "one way; let ex::into_variant combine several ways");
    return {};
}

} // namespace SENNIT_EXECUTION_FLAVOUR
} // namespace sennit::execution
