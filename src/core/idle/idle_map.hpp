// SPDX-License-Identifier: Apache-2.0
// The idle map: one bit for each worker that has announced that it is about to park.
//
// A worker sets its own bit. The thread that clears the bit is responsible for the next step: it is
// a waker that chose the worker, or the worker itself after it found work. See src/core/README.md.
// All operations are sequentially consistent; "no wake-up is lost" rests on this store-load order.
// Thread-safe, never blocks.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace sennit::sched {

inline constexpr unsigned worker_limit = 1024;

// A set of workers, constant while workers run.
class worker_set {
public:
    void add(unsigned worker) noexcept { words_[worker / 64] |= std::uint64_t{1} << (worker % 64); }
    bool contains(unsigned worker) const noexcept {
        return (words_[worker / 64] >> (worker % 64) & 1) != 0;
    }
    // The workers from 64 * index on, one bit each.
    std::uint64_t word(unsigned index) const noexcept { return words_[index]; }

private:
    std::array<std::uint64_t, worker_limit / 64> words_{};
};

class alignas(base::destructive_distance) idle_map {
public:
    static constexpr unsigned none = ~0u;

    void set(unsigned worker) noexcept { words_[worker / 64].fetch_or(bit(worker)); }

    // Returns true if the bit was set, that is, if this caller cleared it.
    bool clear(unsigned worker) noexcept {
        return (words_[worker / 64].fetch_and(~bit(worker)) & bit(worker)) != 0;
    }

    bool is_set(unsigned worker) const noexcept {
        return (words_[worker / 64].load() & bit(worker)) != 0;
    }

    // Returns false if none of the first `workers` workers is parked.
    bool any(unsigned workers) const noexcept {
        if (words_[0].load() != 0) return true;
        for (unsigned i = 1; i * 64 < workers; ++i)
            if (words_[i].load() != 0) return true;
        return false;
    }

    // Takes the bit of one of the first `workers` workers, that of `last` only if no other bit is
    // set. Returns `none` if no worker is parked.
    unsigned take_any(unsigned workers, unsigned last = none) noexcept {
        if (last < workers) [[unlikely]] {
            for (unsigned i = 0; i * 64 < workers; ++i)
                for (std::uint64_t seen = without(last, i); seen != 0; seen = without(last, i)) {
                    const unsigned worker = i * 64 + static_cast<unsigned>(std::countr_zero(seen));
                    if (clear(worker)) return worker;
                }
        }
        for (unsigned i = 0; i * 64 < workers; ++i)
            for (std::uint64_t seen = words_[i].load(); seen != 0; seen = words_[i].load()) {
                const unsigned worker = i * 64 + static_cast<unsigned>(std::countr_zero(seen));
                if (clear(worker)) return worker;
            }
        return none;
    }

    // Takes the bit of one of the first `workers` workers that is in `wanted` and is not `but`.
    // Returns `none` if no such worker is parked.
    unsigned take_any_of(const worker_set& wanted, unsigned workers, unsigned but) noexcept {
        for (unsigned i = 0; i * 64 < workers; ++i)
            for (std::uint64_t seen = without(but, i) & wanted.word(i); seen != 0;
                 seen = without(but, i) & wanted.word(i)) {
                const unsigned worker = i * 64 + static_cast<unsigned>(std::countr_zero(seen));
                if (clear(worker)) return worker;
            }
        return none;
    }

private:
    std::uint64_t without(unsigned worker, unsigned word) const noexcept {
        return words_[word].load() & ~(word == worker / 64 ? bit(worker) : 0);
    }
    static std::uint64_t bit(unsigned worker) noexcept { return std::uint64_t{1} << (worker % 64); }
    std::array<base::atomic<std::uint64_t>, worker_limit / 64> words_{};
};

} // namespace sennit::sched
