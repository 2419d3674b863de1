// SPDX-License-Identifier: Apache-2.0
// block_on: runs a task from code that is no task, and returns its result.
//
//     int main() { return sennit::block_on(serve()); }
//
// Use it as the bridge from fibers, forked children, actors and threads to tasks. In a task, await
// the other task instead.
//
// The task begins on the caller's stack, and runs with the caller's identity: locks that the caller
// holds, its locals, its scope of cancellation. If the task suspends, the caller blocks until the
// task has ended; its worker runs other work meanwhile. On a thread that is no worker the task runs
// in the default runtime, with an identity of its own, and the thread blocks.
// Exceptions: those of the task; std::bad_alloc. Cost on a worker: no allocation.
#pragma once

#include "sennit/detail/core/one_shot.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/task/spawn.hpp"
#include "sennit/task/task.hpp"

#include <utility>

namespace sennit {

namespace detail {

// A strand on the stack of the code that waits for it.
class alignas(16) blocking_strand : public sched::task_strand {
public:
    explicit blocking_strand(sched::runtime_core& where) noexcept
        : task_strand(where, calls_at_end<&blocking_strand::ended>) {
        lend(sched::this_strand());
    }
    void run(std::coroutine_handle<> outermost) noexcept {
        run_here(outermost);
        // Reports get no reason: the strand, which has the same identity, may run already.
        done_.wait(nullptr);
    }

private:
    static void ended(task_strand& self) noexcept {
        static_cast<blocking_strand&>(self).done_.finish();
    }
    sched::one_shot done_;
};

} // namespace detail

// Runs `what` to its end. Blocks the caller. Returns the result, or throws the exception of the
// task.
template <class T>
T block_on(task<T>&& what) {
    sched::runtime_core* here = sched::current_runtime();
    if (!here) return spawn(std::move(what)).get();
    detail::blocking_strand strand(*here);
    detail::task_result<T> result;
    strand.run(detail::task_access::begin(std::move(what), result, strand.end()));
    return result.take();
}

} // namespace sennit
