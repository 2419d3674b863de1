// SPDX-License-Identifier: Apache-2.0
// An activation: the running task strand of a context, and its identity, for as long as the object
// lives. The context may move to another worker's thread meanwhile.
//
// A strand that suspends may leave forks on the fork stack of its context: those that its fork_join
// has not begun. The activation takes them back before it continues with other work, and runs each
// as a strand of its own (core/task/task_fork.cpp).
#pragma once

#include "core/worker/worker.hpp"
#include "sennit/detail/core/detached_fork.hpp"
#include "sennit/detail/core/task_strand.hpp"

#include <coroutine>
#include <cstdint>
#include <utility>

namespace sennit::sched {

class activation {
public:
    // `at_loop`: the calling function returns to the worker's loop.
    explicit activation(bool at_loop = false) noexcept
        : host_(this_worker()->self()),
          run_{nullptr, nullptr, host_.running_task, current_strand(), free_slot(), at_loop} {
        host_.running_task = &run_;
    }
    ~activation() {
        exchange_strand(run_.below);
        host_.running_task = run_.outer;
    }
    activation(const activation&) = delete;

    // Resumes `at`, of the strand `of`, until the strand suspends or ends, and runs the forks that
    // the strand leaves behind. The strand may be gone then.
    [[gnu::always_inline]] void resume(task_strand& of, std::coroutine_handle<> at) noexcept {
        resume_once(of, at);
        if (free_slot() != run_.base) [[unlikely]]
            run_forks_left();
    }
    // Resumes the strand `of` where it is suspended.
    [[gnu::always_inline]] void resume(task_strand& of) noexcept { resume(of, of.innermost()); }
    // Runs a fork that this thread has taken, and the forks that it leaves behind.
    void run_fork_and_forks_left(const detached_fork& own) noexcept;

    // For the code that suspends the running strand: `next` runs in its place. Returns the
    // coroutine to continue.
    static std::coroutine_handle<> replace_strand(task_run& run, task_strand& next) noexcept {
        const std::coroutine_handle<> at = next.innermost();
        begin(run, next);
        return at;
    }

private:
    // A snapshot may suspend this thread between any two instructions. It does not touch the strand
    // that the activation names, which may be gone. So the new strand becomes the running one
    // first, and only then the activation's.
    [[gnu::always_inline]] static void begin(task_run& run, task_strand& of) noexcept {
        of.begin_on(run);
        exchange_strand(&of.identity());
#ifndef SENNIT_WORKER_TLS_ASM // The assembly is a barrier for the compiler itself.
        base::compiler_barrier();
#endif
        run.strand = &of;
        run.identity = &of.identity();
    }
    [[gnu::always_inline]] void resume_once(task_strand& of, std::coroutine_handle<> at) noexcept {
        begin(run_, of);
        sys::tls().task_base = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&run_));
        do at.resume();
        while ((at = std::exchange(run_.next, nullptr)));
    }
    void run_fork(const detached_fork& own) noexcept;
    [[gnu::noinline]] void run_forks_left() noexcept;

    context& host_;
    task_run run_;
};

} // namespace sennit::sched
