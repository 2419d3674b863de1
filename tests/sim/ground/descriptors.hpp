// SPDX-License-Identifier: Apache-2.0
// Simulated descriptors, and the simulated kernel that watches them for src/sys/event_set.hpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"

#include <cstdint>

namespace sennit::sim {

// A stream of units, each of which one `take` gets. Like a socket, it is watched edge-triggered:
// each `put` is one event for the set that watches it.
class descriptor {
public:
    descriptor();
    ~descriptor();
    descriptor(const descriptor&) = delete;

    int number() const noexcept { return number_; }
    void put() noexcept;     // From outside: any simulated thread.
    bool take() noexcept;    // The system call. False: it would block.
    void hang_up() noexcept; // From here on `ended` is true.
    bool ended() const noexcept { return ended_.load() != 0; }

    // For the set.
    std::uint32_t ready_for(std::uint32_t what) const noexcept;
    void watch(int set, std::uint32_t what, std::uint64_t tag) noexcept;
    std::uint64_t tag() const noexcept { return tag_.load(); }
    std::uint32_t what() const noexcept { return what_.load(); }

private:
    void announce() noexcept;

    const int number_;
    base::atomic<std::uint32_t> units_{0};
    base::atomic<std::uint32_t> ended_{0};
    base::atomic<std::uint32_t> set_{0}; // The number of the set plus one; 0: none watches.
    base::atomic<std::uint32_t> what_{0};
    base::atomic<std::uint64_t> tag_{0};
};

// Forgets the descriptors and the sets of the execution before.
void reset_descriptors() noexcept;

} // namespace sennit::sim
