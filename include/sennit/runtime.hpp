// SPDX-License-Identifier: Apache-2.0
// runtime: a set of workers, and the way into it for threads that are no workers.
//
// Use `sennit::run(f)` for the common case. It runs `f` on the default runtime, which starts at
// first use with one worker for each usable processor and ends with the program. Create a `runtime`
// for another number of workers, another stack size, or to end the threads at a known point.
// Several runtimes may exist at the same time. Each is a group of workers with its own ready queue,
// name and counters, and runs only its own fibers. A migratable fiber may move from one runtime to
// another: this_fiber::migrate_to.
//
//     sennit::runtime two({.workers = 2});
//     long answer = two.run([] { return fib(30); });
//
// Thread safety: all members may be called from any thread; construction and destruction follow the
// usual rules. fork(): the child process has none of the workers. In the child, `run` on a runtime
// of the parent throws std::system_error (operation_not_permitted). A runtime that the child
// creates works; so does the child's default runtime.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/base/result.hpp"
#include "sennit/runtime_options.hpp"

#include <functional>
#include <iosfwd>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sennit {

namespace sched {
class runtime_core;
}

class runtime {
public:
    // Starts the workers. Throws std::invalid_argument for options or environment variables that
    // are out of range, std::system_error when the system refuses a thread, and std::bad_alloc when
    // it refuses memory; nothing is left behind then. Cost: about 50 µs per worker.
    explicit runtime(const runtime_options& options = {});

    // Runs the ready tasks, then ends and joins the workers. No `run` may be in progress. Fibers
    // that still wait, sleep or execute a `blocking` call never continue: their destructors do not
    // run, and the objects in which they wait must not be used afterwards. Join these fibers first.
    // End actors first, too; the destructor of an actor group does so. A message to an actor that
    // lives while its runtime is destroyed is not allowed. A message to an actor that has ended is
    // always allowed.
    // Blocks until all `blocking` calls in progress have returned. Only the default runtime does
    // not wait for them at the end of the process.
    ~runtime();

    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;

    // Runs `function()` on a worker and returns its result, or rethrows its exception. Blocks the
    // calling thread. On a worker of another runtime only the calling context waits. On a worker of
    // this runtime it is a plain call.
    // The main thread takes the place of a sleeping worker, if there is one: it runs the function
    // itself until the function first waits or yields, and a worker continues it. The main thread
    // runs no unrelated task meanwhile, so the caller may hold a mutex that other tasks lock. (The
    // main thread takes no worker's place under a policy other than `stealing`, where workers are
    // bound to processors, while a trace is recorded, and in a rounding mode of its own.)
    // Throws std::system_error in a child of fork(). Cost: 0.5 µs on the main thread; on any other
    // thread 5 to 70 µs, the wake-up of a sleeping worker.
    template <class F>
        requires std::is_invocable_v<F&>
    std::invoke_result_t<F&> run(F&& function) {
        if (inside()) return std::invoke(function);
        return run_from_outside(function);
    }
    // Explains a call that the other overload refuses.
    template <class F>
    base::refused_call run(F&&) {
        static_assert(base::refused<F>, "sennit: runtime::run calls the function without "
                                        "arguments; capture the arguments in a lambda");
        return {};
    }

    // Returns the number of workers that the constructor or the last resize asked for.
    unsigned workers() const noexcept;
    // Changes the number of workers, from runtime_options::workers up to max_workers. Any thread
    // may call it, also a fiber of this runtime. Other workers run the tasks in the queue of a
    // worker that leaves. A leaving worker finishes its running task, or leaves it at the next
    // point where the task blocks; resize does not wait for that. Fibers bound to a worker, and
    // `worker` in fiber_attributes, refer to the first workers, which stay.
    // Throws std::invalid_argument for a number out of range, std::system_error when the system
    // refuses a thread, and std::bad_alloc; workers that had already started then stay. Cost: the
    // creation of a thread for each worker that did not exist before, a few microseconds for each
    // other worker.
    void resize(unsigned workers);
    // Returns runtime_options::name.
    std::string_view name() const noexcept;
    // Returns the counters of the runtime. Does not block the workers.
    runtime_metrics metrics() const;

    // Writes the present state of every fiber as text: see sennit/obs/dump.hpp. Any thread or fiber
    // may call it. Throws std::bad_alloc and the exceptions of the stream.
    void dump(std::ostream& out) const;

    // For the library's own models. check_not_lost throws std::system_error in a child process
    // whose fork() has left this runtime without threads.
    sched::runtime_core& core() noexcept { return *core_; }
    void check_not_lost() const;
    // `run` for a thread or context that is on no worker of this runtime.
    template <class F>
    std::invoke_result_t<F&> run_from_outside(F& function) {
        struct frame {
            F& function;
            detail::outcome<std::invoke_result_t<F&>> result;
        } here{function, {}};
        call_on_worker(
            [](void* it) noexcept {
                frame& at = *static_cast<frame*>(it);
                at.result.run(at.function);
            },
            &here);
        return here.result.take();
    }

private:
    bool inside() const noexcept;
    // Calls `function(argument)` on a worker, and blocks until it has returned. The part of `run`
    // that does not depend on a type.
    void call_on_worker(void (*function)(void*) noexcept, void* argument);

    std::unique_ptr<sched::runtime_core> core_;
};

// Returns the runtime that is used where none is named. The first use creates it, and throws the
// exceptions of the constructor. It ends after main, among the objects of static duration. Fibers
// that such objects hold must be joined before main returns.
runtime& default_runtime();

// Runs `function()` on the default runtime and blocks until it has ended; when the caller is
// already on a worker of any runtime, calls it directly. Returns its result or rethrows its
// exception.
template <class F>
std::invoke_result_t<F&> run(F&& function);

namespace detail {
bool on_any_worker() noexcept;
// Does what `default_runtime().run(body)` does, for a thread that is no worker.
template <class F>
[[gnu::noinline, gnu::cold]] std::invoke_result_t<F&> on_default_runtime(F& body) {
    return default_runtime().run_from_outside(body);
}
} // namespace detail

template <class F>
std::invoke_result_t<F&> run(F&& function) {
    if (detail::on_any_worker()) return std::invoke(function);
    return default_runtime().run(function);
}

} // namespace sennit
