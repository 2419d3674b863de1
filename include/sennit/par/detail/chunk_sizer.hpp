// SPDX-License-Identifier: Apache-2.0
// How long the next piece of a loop should be: so long that offering the rest to thieves costs
// nothing against it, so short that what a thief cannot get any more is little.
//
// A piece aims at `target_ns`. The first is one element, since nothing is known about it; each next
// one follows from the time of the one before and has at most `growth` times as many. Elements may
// suddenly become dearer, so a piece is also at most 1/16 of what is left; but not less than a
// quarter of the target, or the looks at the clock would cost more than they find. One instance for
// each range that somebody runs; not shared.
#pragma once

#include "sennit/detail/core/now.hpp"
#include "sennit/par/grain.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sennit::par::detail {

// Where long pieces begin without a grain: a multiple of the elements in a cache line and of every
// vector's length.
inline constexpr std::size_t chunk_alignment = 64;

// The first multiple of `unit` from `index` on, or `limit` if there is none before it.
inline std::size_t round_up(std::size_t index, std::size_t unit, std::size_t limit) noexcept {
    const std::size_t over = index % unit;
    const std::size_t missing = over == 0 ? 0 : unit - over;
    return missing < limit - index ? index + missing : limit;
}

class chunk_sizer {
public:
    explicit chunk_sizer(grain wanted) noexcept
        : unit_(std::max<std::size_t>(wanted.elements, 1)), aim_(unit_), least_(unit_) {}

    // The end of the piece that begins at `first`: beyond it, at most `last`.
    std::size_t next_end(std::size_t first, std::size_t last) const noexcept {
        const std::size_t left = last - first;
        const std::size_t size = std::max({std::min(aim_, left / 16), least_, std::size_t{1}});
        if (size >= left) return last;
        const std::size_t unit =
            unit_ == 1 && size >= 2 * chunk_alignment ? chunk_alignment : unit_;
        return round_up(first + size, unit, last);
    }

    // Tells of a piece of `count` elements that has just ended.
    void note_chunk(std::size_t count) noexcept {
        const std::int64_t now = sched::now_ns();
        const auto took = static_cast<std::size_t>(std::max<std::int64_t>(now - since_, 1));
        since_ = now;
        const std::size_t in_target = std::min(count, largest) * target_ns / took;
        const std::size_t at_most = std::min(count, largest) * growth;
        aim_ = std::min(in_target, at_most);
        least_ = std::min(in_target / 4, at_most);
    }

private:
    // Offering the rest costs about 30 ns a piece; a thief takes 20 us before it takes anything by
    // force.
    static constexpr std::size_t target_ns = 10'000;
    static constexpr std::size_t growth = 16;
    static constexpr std::size_t largest = std::size_t{1} << 30;

    std::size_t unit_;
    std::size_t aim_;   // elements that take about the target
    std::size_t least_; // fewer than these are not worth a piece
    std::int64_t since_ = sched::now_ns();
};

} // namespace sennit::par::detail
