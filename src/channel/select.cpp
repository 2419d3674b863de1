// SPDX-License-Identifier: Apache-2.0
// The driver of select.
//
// Protocol.
// 1. The caller takes the locks of all sources, in the order of their addresses.
// 2. It looks for a ready case, starting at a random one. If it finds a case, that case happens,
//    and the caller releases the locks.
// 3. Otherwise it enters the waiter lists of all sources, and only then releases the locks and
//    waits.
// 4. After the wait it leaves the lists one by one.
// A case of a descriptor asks the system before step 1, without a lock, and enters the list of its
// descriptor in step 3 unless an event has come since (io/runtime/io_record.hpp, U2 to U6).
//
// Why it is correct: steps 2 and 3 run under all locks. The caller therefore either finds its
// partner or is found by it. No other source can claim the caller while it claims a partner. (Go's
// select works in this way.)
#include "sennit/select.hpp"

#include "sennit/detail/core/random.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

namespace sennit::detail {

namespace {
sched::wake_reason reason_of(std::size_t which) noexcept {
    return static_cast<sched::wake_reason>(static_cast<std::uint32_t>(sched::wake_reason::source) +
                                           which);
}
} // namespace

selection::selection(std::span<select_case* const> cases, base::spin_lock** locks,
                     std::byte* entries)
    : cases_(cases), locks_(locks), entries_(entries) {
    for (select_case* one : cases) {
        if (!one->enabled) continue;
        if (one->asks_system) [[unlikely]]
            one->prepare();
        if (base::spin_lock* lock = one->lock()) locks_[lock_count_++] = lock;
    }
    std::sort(locks_, locks_ + lock_count_, std::less<>());
    lock_count_ = static_cast<std::size_t>(std::unique(locks_, locks_ + lock_count_) - locks_);
}

void selection::lock() noexcept {
    for (std::size_t i = 0; i < lock_count_; ++i) locks_[i]->lock();
}
void selection::unlock() noexcept {
    for (std::size_t i = lock_count_; i-- > 0;) locks_[i]->unlock();
}

sched::wait_entry* selection::entry_at(std::size_t i) noexcept {
    // SAFETY: enlist has constructed it before.
    return std::launder(reinterpret_cast<sched::wait_entry*>(entries_)) + i;
}

std::size_t selection::try_now(sched::wake_ups& woken) noexcept {
    std::array<std::uint8_t, max_select_cases> order;
    for (std::size_t i = 0; i < cases_.size(); ++i) order[i] = static_cast<std::uint8_t>(i);
    for (std::size_t left = cases_.size(); left > 0; --left) {
        std::uint8_t& chosen = order[sched::random_below(static_cast<std::uint32_t>(left))];
        const std::size_t which = std::exchange(chosen, order[left - 1]);
        if (cases_[which]->enabled && cases_[which]->try_now(woken)) return which;
    }
    return none;
}

// Starts with a random case, because a partner takes the first of several cases that wait in one
// channel.
std::int64_t selection::enlist() noexcept {
    std::int64_t deadline = sched::never;
    std::size_t next = sched::random_below(static_cast<std::uint32_t>(cases_.size()));
    for (std::size_t left = cases_.size(); left > 0; --left) {
        const std::size_t which = std::exchange(next, next + 1 < cases_.size() ? next + 1 : 0);
        select_case& one = *cases_[which];
        if (!one.enabled) continue;
        if (one.deadline_ns() < deadline) {
            deadline = one.deadline_ns();
            timed_ = which;
        }
        sched::wait_entry& entry =
            *std::construct_at(entry_at(which), point_, static_cast<unsigned>(which));
        if (!one.enlist(entry)) (void)sched::claim(point_, reason_of(which));
    }
    return deadline;
}

void selection::publish(void* self) noexcept {
    auto& me = *static_cast<selection*>(self);
    me.unlock();
    for (std::size_t i = 0; i < me.cases_.size(); ++i)
        if (me.cases_[i]->enabled) me.cases_[i]->register_waiter(me.point_, reason_of(i));
}

std::size_t selection::leave(sched::wake_reason why) {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
        select_case& one = *cases_[i];
        if (!one.enabled) continue;
        one.unregister_waiter();
        if (base::spin_lock* lock = one.lock()) {
            lock->lock();
            one.unlist(*entry_at(i));
            lock->unlock();
        } else {
            one.unlist(*entry_at(i));
        }
    }
    if (why == sched::wake_reason::cancelled) throw cancelled();
    if (why == sched::wake_reason::timed_out) return timed_;
    return static_cast<std::size_t>(why) - static_cast<std::size_t>(sched::wake_reason::source);
}

namespace {

// Returns the number of the case that happens next; `fallback` is the number of the default case.
std::size_t choose(std::span<select_case* const> cases, std::size_t fallback, const char* what) {
    selection_of<max_select_cases> memory(cases);
    selection& mine = memory; // publish takes the address of the base
    {
        sched::wake_ups woken;
        mine.lock();
        const std::size_t which = mine.try_now(woken);
        if (which != selection::none || fallback != selection::none) {
            mine.unlock();
            return which != selection::none ? which : fallback;
        }
    }
    const std::int64_t deadline = mine.enlist();
    // The reports get no object, because the caller waits on several.
    return mine.leave(sched::wait(mine.point(), &selection::publish, &mine,
                                  {.deadline_ns = deadline, .what = what}));
}

} // namespace

std::size_t default_of(std::span<select_case* const> cases) {
    std::size_t fallback = selection::none;
    bool any = false;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!cases[i]->enabled) continue;
        any = true;
        if (cases[i]->is_default()) fallback = i;
    }
    if (!any)
        throw std::logic_error("sennit: [SNT-222] select: no case is enabled, so it would wait "
                               "forever; enable one, or add a default case");
    return fallback;
}

std::size_t run_select(std::span<select_case* const> cases, const char* what) {
    const std::size_t fallback = default_of(cases);
    for (;;) {
        const std::size_t which = choose(cases, fallback, what);
        select_case& chosen = *cases[which];
        if (chosen.asks_system && chosen.must_repeat()) [[unlikely]]
            continue;
        chosen.happen();
        return which;
    }
}

} // namespace sennit::detail
