// SPDX-License-Identifier: Apache-2.0
// All armed timers of a runtime, in a hierarchy of wheels. Not thread-safe; its owner guards it.
//
// There are nine wheels of 64 slots. A slot of the first is one tick long; a slot of each next
// wheel is as long as the whole wheel before it. A timer sits in the wheel in which its deadline
// and the present first differ, and moves down when the time of its slot has come. Inserting and
// removing take constant time, and a timer is touched at most nine times. After Varghese and Lauck,
// "Hashed and Hierarchical Timing Wheels" (SOSP 1987), scheme 6.
//
// Deadlines are rounded up to a tick, so no timer expires early.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/timer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class timer_wheel {
public:
    static constexpr std::int64_t tick_ns = 1 << 12; // 4 us
    using list = base::intrusive_queue<timer>;

    explicit timer_wheel(std::int64_t now_ns) noexcept;

    void insert(timer& one) noexcept;
    void remove(timer& one) noexcept; // The timer must be in the wheel.

    // Moves up to `most` timers whose deadline is not after `now_ns` to `due`. Returns true if it
    // has moved all of them.
    bool advance(std::int64_t now_ns, list& due, std::size_t most) noexcept;

    // The time at which `advance` next has something to do; `never` if no timer is armed. It is not
    // after the earliest deadline's tick. Where few timers are near it equals that tick, so that a
    // thread that sleeps for one timer is not woken twice.
    std::int64_t next_event_ns() const noexcept;

    std::size_t size() const noexcept { return size_; }

private:
    static constexpr unsigned bits = 6;
    static constexpr unsigned slots = 1u << bits;
    static constexpr unsigned levels = 9;

    struct event {
        unsigned level;
        unsigned slot;
        std::uint64_t tick; // `never_tick`: none.
    };
    static constexpr std::uint64_t never_tick = UINT64_MAX;

    struct wheel {
        std::uint64_t occupied = 0; // One bit per slot.
        std::array<list, slots> slot;
    };

    struct place {
        wheel& in;
        unsigned slot;
    };
    place place_of(std::uint64_t tick) noexcept; // The place of a tick after the present.
    event next_event() const noexcept;
    void put(timer& one) noexcept;

    std::uint64_t present_; // Every slot up to this tick has been emptied.
    std::array<wheel, levels> wheels_;
    list due_; // Timers whose deadlines have passed, not yet returned by `advance`.
    std::size_t size_ = 0;
};

} // namespace sennit::sched
