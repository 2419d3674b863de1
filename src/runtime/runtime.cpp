// SPDX-License-Identifier: Apache-2.0
#include "sennit/runtime.hpp"

#include "../core/runtime/fork_safe_static.hpp"
#include "../core/runtime/runtime_core.hpp"
#include "../obs/start.hpp"
#include "sennit/detail/core/one_shot.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/verbs.hpp"

#include <mutex>
#include <new>
#include <system_error>

namespace sennit {

runtime::runtime(const runtime_options& options) {
    obs::start();
    core_ = std::make_unique<sched::runtime_core>(options);
}

runtime::~runtime() {
    if (core_->lost_in_fork()) {
        // its threads, and everything that they own, belong to the parent process
        (void)core_.release();
        return;
    }
    core_.reset();
    obs::end();
}

unsigned runtime::workers() const noexcept {
    return core_->active_worker_count();
}

void runtime::resize(unsigned workers) {
    check_not_lost();
    core_->resize(workers);
}

std::string_view runtime::name() const noexcept {
    return core_->options().name;
}

runtime_metrics runtime::metrics() const {
    return core_->metrics();
}

void runtime::dump(std::ostream& out) const {
    obs::write_dump(*core_, out);
}

bool runtime::inside() const noexcept {
    return sched::current_runtime() == core_.get();
}

void runtime::check_not_lost() const {
    core_->check_not_lost();
}

namespace {

struct call_of_run : sched::runnable {
    call_of_run(void (*f)(void*) noexcept, void* a) noexcept
        : runnable(&call_of_run::go), function(f), argument(a), scope(sched::this_strand().scope) {}
    static void go(runnable* self) noexcept {
        auto& me = *static_cast<call_of_run*>(self);
        {
            sched::strand_frame body(me.scope);
            me.function(me.argument);
        }
        me.done.finish(); // the last access: the caller's frame may vanish
    }
    void (*const function)(void*) noexcept;
    void* const argument;
    sched::cancel_scope* const scope; // the caller's; the caller waits outside of it meanwhile
    sched::one_shot done;
};

} // namespace

void runtime::call_on_worker(void (*function)(void*) noexcept, void* argument) {
    check_not_lost();
    call_of_run work(function, argument);
    if (!core_->run_as_guest(work)) sched::schedule(work, *core_);
    work.done.wait("runtime::run");
}

namespace {

struct default_slot {
    std::mutex mutex;
    std::unique_ptr<runtime> current;
};

// A child of fork() leaves its parent's default runtime, whose threads it does not have, and
// creates its own. So does an object that uses the library and is destroyed after the default
// runtime.
constinit sched::fork_safe_static<default_slot> slot;

struct end_of_default {
    ~end_of_default() {
        default_slot* const last = slot.find();
        if (!last) return;
        // The runtime is not destroyed in two cases. Its own worker, or a thread inside `blocking`,
        // called std::exit and cannot wait for itself. Or a call is in progress that may never
        // return. The process ends in any case.
        if (last->current && (sched::current_runtime() == &last->current->core() ||
                              last->current->core().blocking_calls().busy()))
            return;
        slot.end();
    }
};

default_slot& the_default() {
    static end_of_default at_exit;
    default_slot* const mine = slot.get();
    if (!mine) throw std::bad_alloc();
    return *mine;
}

} // namespace

runtime& default_runtime() {
    default_slot& mine = the_default();
    std::lock_guard guard(mine.mutex);
    if (!mine.current) mine.current = std::make_unique<runtime>();
    return *mine.current;
}

bool detail::on_any_worker() noexcept {
    return sched::on_worker();
}

} // namespace sennit
