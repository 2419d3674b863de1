// SPDX-License-Identifier: Apache-2.0
#include "sennit/runtime.hpp"

#include "../core/runtime/fork_safe_static.hpp"
#include "../core/runtime/runtime_core.hpp"
#include "../obs/start.hpp"
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

void runtime::submit(sched::runnable& work) {
    check_not_lost();
    sched::schedule(work, *core_);
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

void detail::call_on_default_runtime(void (*call)(void*), void* body) {
    default_runtime().run([call, body] { call(body); });
}

} // namespace sennit
