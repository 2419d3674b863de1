// SPDX-License-Identifier: Apache-2.0
// chunk_sizer: decides how long the next chunk of a loop is. A chunk must be long compared with the
// cost of offering the rest to thieves, and short enough that little work is out of the thieves'
// reach.
//
// A chunk aims at 10 us, as far as the processor's counter tells (ticks.hpp). The first chunk is
// one element, because nothing is known about its cost. The length of each later chunk follows from
// the time of the previous one, and is at most `growth` times as long. Elements may suddenly become
// more expensive, so a chunk is also at most 1/16 of the rest. But it is at least a quarter of the
// target; otherwise the readings of the clock would cost more than they gain. `max_grain` is an
// upper bound in any case. Each running range has one instance, which is not shared.
#pragma once

#include "sennit/detail/core/now.hpp"
#include "sennit/par/with.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sennit::par::detail {

// Without a grain, long chunks start at multiples of this number of elements. It is a multiple of
// the elements in a cache line and of every vector's length.
inline constexpr std::size_t chunk_alignment = 64;

// Returns the first multiple of `unit` that is not below `index`, or `limit` if there is none
// before `limit`.
inline std::size_t round_up(std::size_t index, std::size_t unit, std::size_t limit) noexcept {
    const std::size_t over = index % unit;
    const std::size_t missing = over == 0 ? 0 : unit - over;
    return missing < limit - index ? index + missing : limit;
}

class chunk_sizer {
public:
    explicit chunk_sizer(const with& options) noexcept
        : unit_(std::max<std::size_t>(options.min_grain, 1)),
          most_(std::max(options.max_grain, unit_)), aim_(unit_), least_(unit_) {}

    // Returns the end of the first chunk, which nothing is known about.
    std::size_t first_end(std::size_t first, std::size_t last) const noexcept {
        return unit_ < last - first ? first + unit_ : last;
    }

    // Returns the end of the chunk that begins at `first`: more than `first`, at most `last`.
    // `first` is a multiple of the grain.
    std::size_t next_end(std::size_t first, std::size_t last) const noexcept {
        const std::size_t left = last - first;
        const std::size_t size = std::max({std::min(aim_, left / 16), least_, unit_});
        if (size >= left) return last;
        const std::size_t unit =
            unit_ == 1 && size >= 2 * chunk_alignment ? chunk_alignment : unit_;
        const std::size_t end = first + size;
        return end - end % unit;
    }

    // Records a chunk of `count` elements that has just ended, and whose worker waited for `idle`
    // ticks.
    void note_chunk(std::size_t count, std::uint64_t idle = 0) noexcept {
        const std::uint64_t now = sched::ticks();
        const std::uint64_t took = std::max<std::uint64_t>(now - since_ - idle, 1);
        since_ = now;
        // For more than 10^14 elements the products wrap. Any size is then valid.
        const std::size_t in_target = count * target() / took;
        const std::size_t at_most = std::min(count * growth, most_);
        aim_ = std::min(in_target, at_most);
        least_ = std::min(in_target / 4, at_most);
    }

    // The length that a chunk aims at, in ticks. Offering the rest costs about 30 ns a chunk. A
    // thief waits 20 us before it takes forks by force.
    static std::uint64_t target() noexcept { return 10 * sched::ticks_per_us(); }

private:
    static constexpr std::size_t growth = 16;

    std::size_t unit_;
    std::size_t most_;
    std::size_t aim_;   // elements that take about the target
    std::size_t least_; // the smallest number of elements that is worth a chunk
    std::uint64_t since_ = sched::ticks();
};

} // namespace sennit::par::detail
