// SPDX-License-Identifier: Apache-2.0
// The consolidation of a runtime: which worker, if any, gathers the tasks that communicate.
//
// Any thread may ask whether a worker hosts. The claimant is the worker whose claim stands; only it
// writes the notes about past trials. A thief that finds the host stuck ends the hosting, not the
// claim.
//
// State.
//   `claim_`           0; or the claimant's affinity times two, plus one while it hosts. Writers: a
//                      worker that claims (compare-and-swap from 0), the claimant, a thief that
//                      ends the hosting (compare-and-swap)
//   `pause_until_ns_`  no worker claims before this time. A hint
//   the rest           notes of the claimant. The release of a claim and the next claim carry them
//
// Nothing depends on the claim but where tasks run: README.md, "Tasks that communicate".
#pragma once

#include "core/policy/tuning.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"

#include <algorithm>
#include <cstdint>

namespace sennit::sched {

class alignas(base::destructive_distance) consolidation {
public:
    explicit consolidation(bool enabled) noexcept : enabled_(enabled) {}
    // False: no worker ever claims.
    bool enabled() const noexcept { return enabled_; }

    // ---- any thread
    //
    // True if the worker with this affinity is the host. Orders nothing: a hint.
    bool is_host(std::uint16_t affinity) const noexcept {
        return enabled_ && claim_.load_rlx() == hosting(affinity); // a hint
    }
    // A thief has found the worker stuck. If the worker is the host, it is no longer.
    void abandon(std::uint16_t stuck) noexcept {
        std::uint32_t seen = hosting(stuck);
        if (is_host(stuck)) (void)claim_.cas(seen, claimed(stuck));
    }
    // The number of times that gathered tasks stayed together after a trial; a metric.
    std::uint64_t kept() const noexcept { return kept_.load(); }

    // ---- a worker that holds no claim
    bool try_claim(std::uint16_t mine, std::int64_t now_ns) noexcept {
        std::uint32_t none = 0;
        return claim_.load_rlx() == 0 && now_ns >= pause_until_ns_.load_rlx() && // hints
               claim_.cas(none, claimed(mine));
    }

    // ---- the claimant
    void begin_hosting(std::uint16_t mine) noexcept { claim_.store(hosting(mine)); }
    void release() noexcept { claim_.store(0); }
    // The trial has shown that the tasks run faster together. Returns how long to host. The time
    // doubles with each trial that has the same result soon after.
    std::int64_t keep(std::int64_t now_ns) noexcept {
        kept_.store_rlx(kept_.load_rlx() + 1); // A metric; the claimant is the only writer.
        hosting_ns_ = now_ns - kept_until_ns_ < 2 * hosting_ns_
                          ? std::min(2 * hosting_ns_, tuning::longest_hosting_ns)
                          : tuning::first_hosting_ns;
        kept_until_ns_ = now_ns + hosting_ns_;
        return hosting_ns_;
    }
    // The tasks do not run faster together. No worker claims for a while; the pause doubles with
    // each trial that has the same result soon after.
    void fail(std::int64_t now_ns) noexcept {
        pause_ns_ = now_ns - failed_ns_ < 4 * pause_ns_
                        ? std::min(2 * pause_ns_, tuning::longest_pause_ns)
                        : tuning::first_pause_ns;
        failed_ns_ = now_ns;
        pause_until_ns_.store_rlx(now_ns + pause_ns_); // a hint
    }

private:
    static constexpr std::uint32_t claimed(std::uint16_t affinity) noexcept {
        return affinity * 2u;
    }
    static constexpr std::uint32_t hosting(std::uint16_t affinity) noexcept {
        return affinity * 2u + 1;
    }

    const bool enabled_;
    base::atomic<std::uint32_t> claim_{0};
    base::atomic<std::int64_t> pause_until_ns_{0};
    base::atomic<std::uint64_t> kept_{0};
    std::int64_t hosting_ns_ = 0, kept_until_ns_ = 0; // the last time that `keep` chose
    std::int64_t pause_ns_ = 0, failed_ns_ = 0;       // the last time that `fail` chose
};

} // namespace sennit::sched
