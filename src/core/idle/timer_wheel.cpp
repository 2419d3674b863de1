// SPDX-License-Identifier: Apache-2.0
#include "core/idle/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace sennit::sched {

namespace {

// The span of nine wheels: 2,300 years.
constexpr std::uint64_t last_tick = (std::uint64_t{1} << 54) - 1;
constexpr unsigned few = 4; // The most timers in one slot among which the earliest is searched.

std::uint64_t tick_before(std::int64_t ns) noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0) / timer_wheel::tick_ns);
}
std::uint64_t tick_after(std::int64_t ns) noexcept {
    const std::int64_t most = std::int64_t{INT64_MAX} - timer_wheel::tick_ns;
    return std::min(tick_before(std::min(ns, most) + timer_wheel::tick_ns - 1), last_tick);
}

} // namespace

timer_wheel::timer_wheel(std::int64_t now_ns) noexcept : present_(tick_before(now_ns)) {}

timer_wheel::place timer_wheel::place_of(std::uint64_t tick) noexcept {
    const std::uint64_t different = (tick ^ present_) | (slots - 1); // Never zero.
    const unsigned level = (63u - static_cast<unsigned>(std::countl_zero(different))) / bits;
    return {wheels_[level], static_cast<unsigned>(tick >> (bits * level)) % slots};
}

void timer_wheel::put(timer& one) noexcept {
    if (one.tick <= present_) {
        due_.push_back(one);
        return;
    }
    const auto [in, slot] = place_of(one.tick);
    in.slot[slot].push_back(one);
    in.occupied |= std::uint64_t{1} << slot;
}

void timer_wheel::insert(timer& one) noexcept {
    one.tick = tick_after(one.deadline_ns);
    one.armed = true;
    ++size_;
    put(one);
}

// A timer is where `put` would put it now: the present never passes a slot without emptying it.
void timer_wheel::remove(timer& one) noexcept {
    one.armed = false;
    --size_;
    if (one.tick <= present_) {
        due_.remove(one);
        return;
    }
    const auto [in, slot] = place_of(one.tick);
    in.slot[slot].remove(one);
    if (in.slot[slot].empty()) in.occupied &= ~(std::uint64_t{1} << slot);
}

timer_wheel::event timer_wheel::next_event() const noexcept {
    for (unsigned level = 0; level < levels; ++level) {
        if (wheels_[level].occupied == 0) continue;
        // In wheel `level` all timers lie behind the present's own slot, within one turn of the
        // wheel.
        const unsigned now = (present_ >> (bits * level)) % slots;
        const unsigned slot = (static_cast<unsigned>(std::countr_zero(
                                   std::rotr(wheels_[level].occupied, static_cast<int>(now)))) +
                               now) %
                              slots;
        const std::uint64_t turn = present_ >> (bits * (level + 1)) << (bits * (level + 1));
        return {level, slot, turn + (std::uint64_t{slot} << (bits * level))};
    }
    return {0, 0, never_tick};
}

std::int64_t timer_wheel::next_event_ns() const noexcept {
    if (!due_.empty()) return 0;
    const event next = next_event();
    if (next.tick == never_tick) return never;
    // When the slot is emptied; the timers of all later slots are later, too.
    std::uint64_t earliest = next.tick;
    if (const list& slot = wheels_[next.level].slot[next.slot]; next.level > 0) {
        const timer* one = slot.front();
        std::uint64_t tick = one->tick;
        for (unsigned looks = 1; looks < few && (one = list::after(*one)); ++looks)
            tick = std::min(tick, one->tick);
        if (!one || !list::after(*one)) earliest = tick;
    }
    return static_cast<std::int64_t>(earliest) * tick_ns;
}

bool timer_wheel::advance(std::int64_t now_ns, list& due, std::size_t most) noexcept {
    const std::uint64_t now = tick_before(now_ns);
    for (;;) {
        for (; timer* one = due_.front(); --most) {
            if (most == 0) return false;
            due_.pop_front();
            one->armed = false;
            --size_;
            due.push_back(*one);
        }
        const event next = next_event();
        if (next.tick > now) break;
        present_ = next.tick;
        wheel& in = wheels_[next.level];
        in.occupied &= ~(std::uint64_t{1} << next.slot);
        list moved;
        moved.append(in.slot[next.slot]);
        while (timer* one = moved.pop_front()) put(*one);
    }
    present_ = std::max(present_, now);
    return true;
}

} // namespace sennit::sched
