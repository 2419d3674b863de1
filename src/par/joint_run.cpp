// SPDX-License-Identifier: Apache-2.0
#include "par/joint_run.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/inside_scope.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace sennit::par::detail {

namespace {

joint_run& run_of(const sched::detached_fork& fork) noexcept {
    return *static_cast<joint_run*>(fork.object);
}

constexpr sched::detached_fork::functions stolen_item{
    [](sched::detached_fork& fork) noexcept { run_of(fork).open_visit(); },
    [](sched::detached_fork& fork) noexcept {
        const work_item item{fork.first, fork.last};
        run_of(fork).execute_opened({&item, 1});
    }};

} // namespace

joint_run::joint_run(const functions& which, sched::cancel_scope* above) noexcept
    : type(which), runtime(*sched::current_runtime()), scope(above) {}

void joint_run::execute(work_item first) noexcept {
    sched::inside_scope guard(scope);
    visit::run_all(*this, {&first, 1});
    close_visit();
    for (bool disturbed = false;;) {
        lock_.lock();
        if (open_ == 0) {
            lock_.unlock();
            return;
        }
        const auto why = sched::block(joiner_, lock_,
                                      {.cancellable = !disturbed, .what = type.what, .on = this});
        if (why != sched::wake_reason::cancelled) continue;
        disturbed = true;
        if (type.abandon) type.abandon(*this);
    }
}

void joint_run::execute_opened(std::span<const work_item> items) noexcept {
    {
        // One strand at a time may wait in a scope, so each visit has its own.
        sched::cancel_scope own(&scope);
        sched::inside_scope guard(own);
        visit::run_all(*this, items);
    }
    close_visit();
}

void joint_run::open_visit() noexcept {
    std::lock_guard guard(lock_);
    ++open_;
}

void joint_run::close_visit() noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    if (--open_ == 0) woken.take_all(joiner_);
}

void joint_run::record_error(std::uint64_t where, std::exception_ptr error) noexcept {
    std::lock_guard guard(lock_);
    if (error_ && error_at_ <= where) return;
    // The old error is destroyed outside the lock, as the parameter.
    std::swap(error_, error);
    error_at_ = where;
}

void joint_run::rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    // Orders nothing: see cut_short.
    if (cut_short_.load_rlx()) throw sennit::cancelled();
}

visit::visit(joint_run& run) noexcept
    : run_(run), base_(sched::free_slot()), room_(sched::room_for_detached(most_slots)) {}

void visit::run_all(joint_run& run, std::span<const work_item> items) noexcept {
    visit own(run);
    // The items for which there is no room become tasks again.
    while (items.size() > 1 && own.count_ != own.room_) {
        own.push(items.front());
        items = items.subspan(1);
    }
    if (items.size() > 1) run.type.overflow(run, items.subspan(1));
    work_item next = items.front();
    do run.type.step(run, own, next);
    while (own.take(next));
}

void visit::push(work_item what) noexcept {
    sched::push_detached(base_ + count_, {&stolen_item, &run_, what.first, what.last});
    ++count_;
}

void visit::offer_patiently(work_item what) noexcept {
    if (count_ == room_) return offer_when_full(what);
    sched::push_detached_quietly(base_ + count_, {&stolen_item, &run_, what.first, what.last});
    ++count_;
    if (!sched::request_can_wait()) sched::poll_steal_requests();
}

bool visit::take(work_item& what) noexcept {
    if (count_ == 0) return false;
    sched::fork_slot* const newest = base_ + --count_;
    if (sched::pop_fork(newest)) {
        const auto& fork = newest->as<sched::detached_fork>();
        what = {fork.first, fork.last};
        return true;
    }
    while (count_ != 0) (void)sched::pop_fork(base_ + --count_); // all stolen: see V2
    return false;
}

// Takes all offers back that are not stolen, and leaves no slot.
std::uint32_t visit::pop_all(work_item* newest_first) noexcept {
    std::uint32_t taken = 0;
    while (taken != most_slots && take(newest_first[taken])) ++taken;
    return taken;
}

void visit::offer_when_full(work_item what) noexcept {
    work_item live[most_slots + 1];
    std::uint32_t left = pop_all(live);
    if (left == room_) { // No slot was stolen.
        work_item older[(most_slots + 1) / 2 + 1];
        std::uint32_t count = 0;
        const std::uint32_t kept = room_ / 2;
        while (left != kept) older[count++] = live[--left];
        if (room_ == 0) older[count++] = what;
        run_.type.overflow(run_, {older, count});
        if (room_ == 0) return;
    }
    while (left != 0) push(live[--left]);
    push(what);
}

} // namespace sennit::par::detail
