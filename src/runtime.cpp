// SPDX-License-Identifier: Apache-2.0
#include "sennit/runtime.hpp"

#include "obs/start.hpp"
#include "sched/runtime_core.hpp"
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
// A child of fork() leaks the parent's default runtime, whose threads it does not have, and makes its own.
struct default_slot {
    std::mutex mutex;
    std::unique_ptr<runtime> current;
};
default_slot& the_default() {
    static default_slot slot;
    return slot;
}
} // namespace

runtime& default_runtime() {
    default_slot& slot = the_default();
    std::lock_guard guard(slot.mutex);
    if (slot.current && slot.current->core().lost_in_fork()) slot.current.reset();
    if (!slot.current) slot.current = std::make_unique<runtime>();
    return *slot.current;
}

bool detail::on_any_worker() noexcept {
    return sched::on_worker();
}

} // namespace sennit
