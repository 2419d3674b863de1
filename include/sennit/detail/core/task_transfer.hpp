// SPDX-License-Identifier: Apache-2.0
// Continues one coroutine from another without growth of the stack.
//
// C++20 calls it symmetric transfer: await_suspend returns the next coroutine, and the compiler
// continues it by a tail call. clang guarantees the tail call. g++ makes it only if it optimises
// (GCC PR 94794, PR 100897), and no compiler makes it under every sanitizer. Without the tail call,
// a loop of a million awaits needs the stack of a million nested calls.
//
// Builds without the guarantee therefore compare the stack pointer with the address at which the
// task was resumed. If it is more than `deepest_transfer` bytes below, the next coroutine is stored
// beside the activation, all nested calls return, and the loop in task_strand.cpp continues it. The
// comparison costs one load and three instructions. It reads a word of the worker TLS line, which
// is that of another stack after the task has blocked its context. A wrong word makes the transfer
// return to the loop once too often, which corrects the word, or allows at most another
// `deepest_transfer` bytes.
//
// The two forms have different names, so that object files of both kinds link into one program.
#pragma once

#include "sennit/detail/base/sanitizers.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/sys/worker_tls.hpp"

#include <coroutine>
#include <cstdint>

#if defined(__clang__) && !defined(SENNIT_ADDRESS_SANITIZER) && !defined(SENNIT_THREAD_SANITIZER)
#define SENNIT_TAIL_CALLS 1
#endif

namespace sennit::sched {

// Bytes; a frame of a resumed coroutine without tail calls takes 100 to 300 bytes.
inline constexpr std::uint32_t deepest_transfer = 16 * 1024;

// Leaves `next` to the loop that resumed the running task. Returns a coroutine that does nothing.
[[gnu::noinline]] std::coroutine_handle<> transfer_by_loop(std::coroutine_handle<> next) noexcept;

#ifdef SENNIT_TAIL_CALLS
inline namespace with_tail_calls {
[[gnu::always_inline]] inline std::coroutine_handle<>
transfer(std::coroutine_handle<> next) noexcept {
    return next;
}
} // namespace with_tail_calls
#else
inline namespace with_measured_depth {
[[gnu::always_inline]] inline std::coroutine_handle<>
transfer(std::coroutine_handle<> next) noexcept {
    const auto here =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(sys::stack_pointer()));
    if (sys::tls_task_base() - here > deepest_transfer) [[unlikely]]
        return transfer_by_loop(next);
    return next;
}
} // namespace with_measured_depth
#endif

} // namespace sennit::sched

// Resumes the coroutine `next` as the last action of a function of the type void(void*), the
// function of a plain frame. It takes no stack where `transfer` takes none.
#ifdef SENNIT_TAIL_CALLS
#define SENNIT_RESUME_AND_RETURN(next)                                                             \
    auto* const next_frame = static_cast<::sennit::sched::plain_frame*>((next).address());         \
    [[clang::musttail]] return next_frame->resume(next_frame)
#elif defined(__clang__)
// A sanitizer of function types does not know the functions of coroutines.
#define SENNIT_RESUME_AND_RETURN(next) return (next).resume()
#else
#define SENNIT_RESUME_AND_RETURN(next)                                                             \
    auto* const next_frame = static_cast<::sennit::sched::plain_frame*>((next).address());         \
    return next_frame->resume(next_frame)
#endif
