// SPDX-License-Identifier: Apache-2.0
// All armed timers of a runtime, in a hierarchy of wheels. Not thread-safe; its owner guards it.
//
// Nine wheels of 64 slots; a slot of the first is one tick long, a slot of the next as long as the
// whole wheel before. A timer sits in the wheel in which its deadline and the present differ first,
// and moves down when its slot's time has come: inserting and removing take constant time, and a
// timer is touched at most nine times. After Varghese and Lauck, "Hashed and Hierarchical Timing
// Wheels" (SOSP 1987), scheme 6.
//
// Deadlines are rounded up to a tick, so nothing expires early.
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
    void remove(timer& one) noexcept; // must be in the wheel

    // Moves up to `most` timers whose deadline is not after `now_ns` to `due`. True when it has
    // moved all.
    bool advance(std::int64_t now_ns, list& due, std::size_t most) noexcept;

    // When `advance` has something to do next: not after the earliest deadline's tick, and at it
    // where few timers are near: who sleeps alone is not woken twice. `never` when nothing is
    // armed.
    std::int64_t next_event_ns() const noexcept;

    std::size_t size() const noexcept { return size_; }

private:
    static constexpr unsigned bits = 6;
    static constexpr unsigned slots = 1u << bits;
    static constexpr unsigned levels = 9;

    struct event {
        unsigned level;
        unsigned slot;
        std::uint64_t tick; // `never_tick`: none
    };
    static constexpr std::uint64_t never_tick = UINT64_MAX;

    struct wheel {
        std::uint64_t occupied = 0; // one bit a slot
        std::array<list, slots> slot;
    };

    struct place {
        wheel& in;
        unsigned slot;
    };
    place place_of(std::uint64_t tick) noexcept; // of one after the present
    event next_event() const noexcept;
    void put(timer& one) noexcept;

    std::uint64_t present_; // every slot up to this tick has been emptied
    std::array<wheel, levels> wheels_;
    list due_; // deadlines that have passed, not yet handed out
    std::size_t size_ = 0;
};

} // namespace sennit::sched
