// SPDX-License-Identifier: Apache-2.0
// Lets whoever goes along a chain of mail ask for pieces before it comes to them.
//
// Mail from another worker lies in that one's cache, or in memory, and each piece says where the
// next one is: without more, whoever follows the chain waits for every piece in turn. So each piece
// also says where one lies that is some steps further on (`message_node::prefetch_offset`). A hint:
// the piece may be gone, or handled already. Two go along the mail of a mailbox: its turn takes it
// newest first, for which the senders leave a trail as they push; and then handles it oldest first,
// for which the first one leaves it.
#pragma once

#include "sennit/detail/core/message_node.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class prefetch_links {
public:
    static constexpr unsigned steps =
        8; // more than the longest way to memory takes, at some 10 ns a piece

    // `one` leads to what came by `steps` before.
    void add(message_node& one) noexcept {
        const message_node*& before = last_[count_++ % steps];
        one.prefetch_offset = distance(&one, before) & 0xff'ffff;
        before = &one;
    }

    bool is_long() const noexcept { return count_ >= 2 * steps; }

    // Asks for what `one` leads to.
    static void prefetch_ahead(const message_node& one) noexcept {
        if (one.prefetch_offset == 0) return;
        const char* const there = reinterpret_cast<const char*>(&one) +
                                  (std::ptrdiff_t{one.prefetch_offset} - here) * unit;
        __builtin_prefetch(there, 1);
        __builtin_prefetch(there + sizeof(message_node) + unit, 1); // it may lie across two lines
    }

private:
    static constexpr std::ptrdiff_t unit = 16;      // all mail is aligned to it
    static constexpr std::ptrdiff_t here = 1 << 23; // what stands for the piece itself

    // In units; 0 where it is too far, and where there is none.
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
