// SPDX-License-Identifier: Apache-2.0
#include "sennit/runtime.hpp"

#include "obs/start.hpp"
#include "sched/runtime_core.hpp"
#include "sennit/base/atomic.hpp"
#include "sennit/base/spin_lock.hpp"
#include "sennit/sched/verbs.hpp"

#include <mutex>
#include <system_error>

namespace sennit {

runtime::runtime(const runtime_options& options) {
    obs::start();
    core_ = std::make_unique<sched::runtime_core>(options);
}

runtime::~runtime() {
    if (core_->lost_in_fork()) {
        (void)core_.release(); // its threads, and what they own, are the parent's
        return;
    }
    core_.reset();
    obs::end();
}

unsigned runtime::workers() const noexcept {
    return core_->hands();
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
    const unsigned forks = sched::runtime_core::forks();
    std::mutex mutex;
    std::unique_ptr<runtime> current;
};

// A child of fork() leaks the parent's default runtime, whose threads it does not have, and the lock, which another
// thread may have held; it makes its own. So does an object that is destroyed after it, and uses the library.
constinit base::atomic<default_slot*> slot_here{nullptr};
constinit base::spin_lock making; // held for an allocation, once in a process: a fork there is unlikely

struct end_of_default {
    ~end_of_default() {
        default_slot* last = slot_here.load();
        if (!last || last->forks != sched::runtime_core::forks()) return;
        // std::exit by a worker of it, or inside of `blocking`, who cannot wait for themselves; or a call that may not
        // return. The process ends anyway.
        if (last->current &&
            (sched::current_runtime() == &last->current->core() || last->current->core().blocking_calls().busy()))
            return;
        slot_here.store(nullptr);
        delete last;
    }
};

default_slot& the_default() {
    static end_of_default at_exit;
    default_slot* slot = slot_here.load();
    if (slot && slot->forks == sched::runtime_core::forks()) return *slot;
    std::lock_guard guard(making);
    slot = slot_here.load();
    if (!slot || slot->forks != sched::runtime_core::forks()) slot_here.store(slot = new default_slot);
    return *slot;
}

} // namespace

runtime& default_runtime() {
    default_slot& slot = the_default();
    std::lock_guard guard(slot.mutex);
    if (!slot.current) slot.current = std::make_unique<runtime>();
    return *slot.current;
}

bool detail::on_any_worker() noexcept {
    return sched::on_worker();
}

} // namespace sennit
