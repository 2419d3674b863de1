// SPDX-License-Identifier: Apache-2.0
// blocking: runs a call that blocks its thread (a file, a name server, a foreign library) outside
// the workers.
//
//     auto text = sennit::blocking([&] { return read_file(name); });
//
// Use it for calls that block the thread for long. Do not use it for calls of Sennit, which block
// only the fiber.
//
// The calling fiber waits, and its worker runs other tasks. The function runs on a thread for such
// calls: the runtime has up to 1,024 of them, starts them when needed, and keeps an idle one for
// five seconds. The function runs as the calling fiber: fiber_local values are the fiber's, and
// locks belong to it. Thread-locals are those of the thread. Fibers, nursery children and `run`
// calls that the function starts go to the default runtime, as from any thread that is no worker,
// unless fiber_attributes name a runtime.
// On a thread that is no worker, and when the system refuses a thread, it is a plain call. It is
// not a point of cancellation.
// Cost: two switches between threads, 10 to 200 µs. Do not use it for calls that usually return
// immediately.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/base/result.hpp"
#include "sennit/detail/core/blocking.hpp"

#include <functional>
#include <type_traits>

namespace sennit {

// Calls `function()`, blocks the caller until it has returned, and returns its result or rethrows
// its exception.
template <class F>
    requires std::is_invocable_v<F&>
std::invoke_result_t<F&> blocking(F&& function) {
    struct call {
        std::remove_reference_t<F>& function;
        detail::outcome<std::invoke_result_t<F&>> result;
        static void go(void* self) noexcept {
            auto& me = *static_cast<call*>(self);
            me.result.run(me.function);
        }
    } work{function, {}};
    if (!sched::run_blocking(&call::go, &work)) return std::invoke(function);
    return work.result.take();
}
// Explains a call that the other overload refuses.
template <class F>
base::refused_call blocking(F&&) {
    static_assert(base::refused<F>, "sennit: blocking calls the function without arguments; "
                                    "capture the arguments in a lambda");
    return {};
}

} // namespace sennit
