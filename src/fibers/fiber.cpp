// SPDX-License-Identifier: Apache-2.0
#include "sennit/fiber.hpp"

#include "../core/worker/worker.hpp"
#include "sennit/checkpoint.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/this_fiber.hpp"

#include <ostream>
#include <stdexcept>
#include <system_error>

namespace sennit {

namespace detail {

sched::runtime_core& runtime_for(const fiber_attributes* how) {
    if (how && how->runtime) {
        how->runtime->check_not_lost();
        return how->runtime->core();
    }
    sched::worker* me = sched::this_worker();
    return me ? me->runtime() : default_runtime().core();
}

void apply_to(sched::fiber_block& unstarted, const fiber_attributes& how) {
    sched::runtime_core& runtime = unstarted.runtime();
    if (how.migratable && (how.worker || how.pinned))
        throw std::invalid_argument(
            "sennit: [SNT-101] a fiber cannot be migratable and bound to a worker; set either "
            "fiber_attributes::migratable or fiber_attributes::worker (or pinned)");
    if (!how.name.empty()) unstarted.set_name(how.name);
    // A fiber that migrates may meet a scheduling order at any time.
    if (how.properties || how.priority != 0 || how.migratable)
        unstarted.set_properties(how.properties ? how.properties
                                                : std::make_shared<fiber_properties>(how.priority));
    if (how.migratable)
        unstarted.make_migratable(how.stack_size);
    else if (how.stack_size != 0)
        unstarted.need_stack(how.stack_size);
    if (how.worker)
        unstarted.pin_to(sched::affinity_of_worker(runtime, *how.worker));
    else if (how.pinned)
        unstarted.pin_to(sched::affinity_here(runtime));
}

int priority_of(sched::fiber_block& block) noexcept {
    int priority = 0;
    block.look_at_properties(
        [](const fiber_properties& own, void* result) noexcept {
            *static_cast<int*>(result) = own.priority;
        },
        &priority);
    return priority;
}

} // namespace detail

std::ostream& operator<<(std::ostream& out, fiber::id which) {
    if (which == fiber::id()) return out << "{no fiber}";
    return out << which.value();
}

void fiber::refuse_join() const {
    if (block_)
        throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                                "sennit: [SNT-103] fiber::join: a fiber cannot join itself; join "
                                "it from another fiber or thread");
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "sennit: [SNT-102] fiber::join: this object has no fiber (it was "
                            "joined, detached, moved from or never started); ask joinable() first");
}

void fiber::join() {
    check_joinable();
    block_->join();
    take_end();
}

void fiber::take_end() {
    const ending ended(*this);
    if (ended.block->error) std::rethrow_exception(ended.block->error);
}

bool fiber::join_before(std::int64_t deadline_ns) {
    check_joinable();
    if (block_->join({.deadline_ns = deadline_ns, .cancellable = false, .what = "fiber::join"}) !=
        sched::wake_reason::source)
        return false;
    take_end();
    return true;
}

void fiber::check_detachable() const {
    if (!block_)
        throw std::system_error(
            std::make_error_code(std::errc::invalid_argument),
            "sennit: [SNT-104] fiber::detach: this object has no fiber (it was joined, detached, "
            "moved from or never started); ask joinable() first");
}

void fiber::detach() & {
    check_detachable();
    stop_ = block_->stop_source(); // kept now, because the block cannot be asked later
    past_ = past::ended;
    std::exchange(block_, nullptr)->let_go();
}

void fiber::detach() && {
    check_detachable();
    std::exchange(block_, nullptr)->let_go();
}

std::stop_source fiber::get_stop_source() {
    if (block_) return block_->stop_source();
    // The fiber has ended, and its stop state was never requested.
    if (past_ != past::none && !stop_.stop_possible()) {
        stop_ = std::stop_source();
        if (past_ == past::stopped) stop_.request_stop();
    }
    return stop_;
}

void fiber::stop_and_join_it() noexcept {
    SENNIT_CHECK(sched::fiber_block::current() != block_,
                 "[SNT-105] a fiber destroyed its own sennit::fiber object, whose destructor joins "
                 "the fiber; keep the object outside of the fiber, or detach it first");
    block_->request_stop();
    static constexpr sched::wait_options destroying{.cancellable = false, .what = "fiber::~fiber"};
    block_->join(destroying);
    if (block_->error) block_->fail_unheard("destroyed without join");
    std::exchange(block_, nullptr)->dispose();
}

namespace this_fiber {

int priority() noexcept {
    sched::fiber_block* me = sched::fiber_block::current();
    return me ? sennit::detail::priority_of(*me) : 0;
}

std::string_view name() noexcept {
    const sched::fiber_block* me = sched::fiber_block::current();
    return me ? me->name() : "";
}

stack_use stack() noexcept {
    const sched::stack_numbers now = sched::current_stack();
    return {now.size, now.used, now.touched};
}

void migrate_to(sennit::runtime& there) {
    sched::fiber_block* me = sched::fiber_block::current();
    if (const char* why_not = sched::fiber_block::why_not_migrate(me, there.core()))
        throw std::system_error(std::make_error_code(std::errc::operation_not_permitted), why_not);
    if (&me->runtime() != &there.core()) me->migrate_to(there.core());
}

std::stop_token get_stop_token() {
    sched::fiber_block* me = sched::fiber_block::current();
    if (!me) return {};
    return me->other_token ? me->other_token(*me) : me->stop_source().get_token();
}

void detail::look_at_cancellation() {
    if (sched::cancellation_requested()) throw cancelled();
}

void checkpoint() {
    detail::look_at_cancellation();
    sennit::checkpoint();
}

void detail::sleep_until_ns(std::int64_t deadline_ns) {
    sched::wait_point point;
    if (sched::wait(point, nullptr, nullptr, {.deadline_ns = deadline_ns, .what = "sleep"}) ==
        sched::wake_reason::cancelled)
        throw cancelled();
}

} // namespace this_fiber

struct this_fiber_access {
    static fiber::id id(std::uint64_t value) noexcept { return fiber::id(value); }
};
fiber::id this_fiber::get_id() noexcept {
    return this_fiber_access::id(sched::current_id());
}

} // namespace sennit
