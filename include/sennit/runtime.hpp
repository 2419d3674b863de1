// SPDX-License-Identifier: Apache-2.0
// The runtime: a set of workers, and the way into it for threads that are no workers.
//
// Use `sennit::run(f)` for the common case: it runs `f` on the default runtime, which starts at
// first use with one worker for each usable processor and ends with the program. Make a `runtime`
// of your own for another number of workers, another stack size, or to end the threads at a known
// point. Several runtimes may exist at once: each is a group of workers with a ready queue, a name
// and counts of its own, which runs its own fibers and no others. (A fiber may go from one to
// another: this_fiber::migrate_to.)
//
// Thread safety: all members may be called from any thread; construction and destruction as usual.
// fork(): a child of fork() has none of the workers. There, `run` on a runtime from before throws
// std::system_error (operation_not_permitted); a runtime made in the child, the default one
// included, works.
#pragma once

#include "sennit/detail/base/result.hpp"
#include "sennit/detail/core/one_shot.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/core/strand.hpp"
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
    // Starts the workers. Throws std::invalid_argument for options or environment variables out of
    // range, std::system_error when a thread is refused, std::bad_alloc when memory is; nothing is
    // left behind then. Cost: about 50 us a worker.
    explicit runtime(const runtime_options& options = {});

    // Ends and joins the workers, after the work that is ready. No `run` may be under way. Fibers
    // that still wait or sleep, or whose `blocking` call is under way, never go on: their
    // destructors do not run, and what they wait in must not be used afterwards. Join them before.
    // End actors before, too: a group does when it is destroyed. To send to an actor that lives
    // while its runtime is destroyed is not allowed; to one that has ended it is, always. Blocks
    // until `blocking` calls that are under way have returned; the default runtime alone does not
    // wait for them at the end of the process.
    ~runtime();

    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;

    // Runs `function()` on a worker and returns its result, or throws what it threw. Blocks the
    // calling thread; on a worker of another runtime only the calling context waits; on a worker of
    // this one it is a plain call. Cost: a few microseconds, the wake-up of a sleeping worker.
    template <class F>
    std::invoke_result_t<F&> run(F&& function) {
        if (inside()) return std::invoke(function);
        job<std::remove_reference_t<F>> work(function);
        submit(work);
        work.done.wait("runtime::run");
        return work.result.take();
    }

    // As asked for last.
    unsigned workers() const noexcept;
    // Grows or shrinks it, from runtime_options::workers up to max_workers; from any thread, also
    // from its own fibers. What a worker that goes has in its queue, others run; what it is in the
    // middle of, it ends or leaves first, at the next point where that blocks: resize does not wait
    // for that. Fibers bound to a worker, and `worker` in fiber_attributes, are of the first ones,
    // which stay. Throws std::invalid_argument for another number; std::system_error when a thread
    // is refused, std::bad_alloc: those that came before stay then. Cost: that of a thread for each
    // worker that was not there before, a few microseconds for others.
    void resize(unsigned workers);
    std::string_view name() const noexcept;
    runtime_metrics metrics() const;

    // What every fiber does at this moment, as text: see sennit/obs/dump.hpp. From any thread, also
    // from a fiber. Throws std::bad_alloc, and what the stream throws.
    void dump(std::ostream& out) const;

    // For the library's own models. The second throws std::system_error in a child of a fork()
    // since which the runtime has no threads.
    sched::runtime_core& core() noexcept { return *core_; }
    void check_not_lost() const;

private:
    template <class F>
    struct job : sched::runnable {
        explicit job(F& f) noexcept
            : runnable(&job::go), function(f), scope(sched::this_strand().scope) {}
        static void go(runnable* self) noexcept {
            auto& me = *static_cast<job*>(self);
            {
                sched::strand_frame body(me.scope);
                me.result.run(me.function);
            }
            me.done.finish(); // the last access: the caller's frame may vanish
        }
        F& function;
        sched::cancel_scope* scope; // the caller's, which waits outside of it meanwhile
        detail::outcome<std::invoke_result_t<F&>> result;
        sched::one_shot done;
    };

    bool inside() const noexcept;
    void submit(sched::runnable& work);

    std::unique_ptr<sched::runtime_core> core_;
};

// The runtime that is used where none is named. Created at first use; throws what the constructor
// throws. It ends after main, among the objects of static duration: fibers that such objects hold
// are to be joined before main returns.
runtime& default_runtime();

// Runs `function()` on the default runtime, or right here when the caller is already on some
// runtime's worker. Returns its result or throws what it threw.
template <class F>
std::invoke_result_t<F&> run(F&& function);

namespace detail {
bool on_any_worker() noexcept;
}

template <class F>
std::invoke_result_t<F&> run(F&& function) {
    if (detail::on_any_worker()) return std::invoke(function);
    return default_runtime().run(function);
}

} // namespace sennit
