// SPDX-License-Identifier: Apache-2.0
// blocking: a call that blocks its thread (a file, a name server, a foreign library), made beside
// the workers.
//
//     auto text = sennit::blocking([&] { return read_file(name); });
//
// The calling fiber waits, its worker goes on with other work. The function runs on one of the
// runtime's threads for such calls (up to 1024, made when needed, kept for five seconds), as the
// same fiber: fiber_local values and locks it owns are its own there. Thread-locals are that
// thread's. What it starts (fibers, nursery children, `run`) goes to the default runtime, as from
// any thread that is no worker, unless fiber_attributes name one. On a thread that is no worker,
// and when the system refuses a thread, it is a plain call. Not a point of cancellation. Cost: two
// switches between threads, 10 to 200 us: not for calls that usually return at once.
#pragma once

#include "sennit/detail/base/result.hpp"
#include "sennit/detail/core/blocking.hpp"

#include <functional>
#include <type_traits>

namespace sennit {

// Returns what the function returns, or throws what it throws.
template <class F>
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

} // namespace sennit
