// SPDX-License-Identifier: Apache-2.0
// Links along a chain of messages that let a reader prefetch messages before it reaches them (jump
// pointers).
//
// The problem. A message from another worker lies in that worker's cache or in memory, and each
// message holds the address of the next one. A reader that follows the chain without prefetching
// waits for every message in turn.
//
// The solution. Each message also says where a message some steps further on lies
// (`message_node::prefetch_offset`). The link is a hint: the target may be gone or handled already.
//
// Two walks use the links of a mailbox. The batch first takes the messages newest first; the
// senders write the links of that walk as they push. The batch then handles the messages oldest
// first; the first walk writes the links of the second one.
#pragma once

#include "sennit/detail/core/message_node.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class prefetch_links {
public:
    // Eight messages at some 10 ns each take longer than the slowest access to memory.
    static constexpr unsigned steps = 8;

    // Links `one` to the message that was added `steps` before it.
    void add(message_node& one) noexcept {
        const message_node*& before = last_[count_++ % steps];
        one.prefetch_offset = distance(&one, before) & 0xff'ffff;
        before = &one;
    }

    bool is_long() const noexcept { return count_ >= 2 * steps; }

    // Prefetches the message that `one` links to.
    static void prefetch_ahead(const message_node& one) noexcept {
        if (one.prefetch_offset == 0) return;
        const char* const there = reinterpret_cast<const char*>(&one) +
                                  (std::ptrdiff_t{one.prefetch_offset} - here) * unit;
        __builtin_prefetch(there, 1);
        // The target may lie across two lines.
        __builtin_prefetch(there + sizeof(message_node) + unit, 1);
    }

private:
    // Every message is aligned to this many bytes.
    static constexpr std::ptrdiff_t unit = 16;
    // The offset that stands for the message itself.
    static constexpr std::ptrdiff_t here = 1 << 23;

    // The distance in units; 0 if the target is too far away or null.
    static std::uint32_t distance(const message_node* from, const message_node* to) noexcept {
        const auto units =
            (reinterpret_cast<std::intptr_t>(to) - reinterpret_cast<std::intptr_t>(from)) / unit +
            here;
        return units > 0 && units < 2 * here ? static_cast<std::uint32_t>(units) : 0;
    }

    std::array<const message_node*, steps> last_{};
    unsigned count_ = 0;
};

} // namespace sennit::sched
