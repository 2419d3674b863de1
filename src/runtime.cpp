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
    if (core_->lost_in_fork())
        throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                                "sennit: this runtime was made before fork() and has no threads in the child");
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
// thread may have held; it makes its own.
class default_slots {
public:
    ~default_slots() {
        default_slot* last = here_.load();
        if (!last || last->forks != sched::runtime_core::forks()) return;
        // std::exit by a worker of it, which cannot wait for itself; the process ends anyway.
        if (last->current && sched::current_runtime() == &last->current->core()) return;
        delete last;
    }
    default_slot& here() {
        default_slot* slot = here_.load();
        if (slot && slot->forks == sched::runtime_core::forks()) return *slot;
        std::lock_guard guard(making_);
        slot = here_.load();
        if (!slot || slot->forks != sched::runtime_core::forks()) here_.store(slot = new default_slot);
        return *slot;
    }

private:
    base::atomic<default_slot*> here_{nullptr};
    base::spin_lock making_; // held for an allocation, once in a process: a fork there is unlikely
};

default_slot& the_default() {
    static default_slots slots;
    return slots.here();
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
