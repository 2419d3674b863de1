// SPDX-License-Identifier: Apache-2.0
// Whether pieces of mail take long on a worker, by a sample: one turn in some that handles several
// is timed.
//
// Used by mailbox.cpp, to end turns early where that is worth a hand-over. A wrong answer costs
// time, nothing else. Owner's thread only.
#pragma once

#include "core/policy/tuning.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sys/clock.hpp"

#include <cstdint>

namespace sennit::sched {

class message_cost_sampler {
public:
    bool messages_are_slow() const noexcept { return tuning::stressed || slow_; }

    // Of one turn: from `begin` to its own end.
    class sample {
    public:
        explicit sample(const base::atomic<std::uint64_t>& handled) noexcept : handled_(handled) {}
        ~sample() {
            if (of_) [[unlikely]]
                end();
        }
        sample(const sample&) = delete;

        // Starts it if one is due and none runs. The turn is about to handle several pieces.
        void begin(message_cost_sampler& of) noexcept {
            if (!tuning::stressed && !of_ && of.batches_left_-- == 0) [[unlikely]]
                start(of);
        }
        // A handler has blocked.
        void drop() noexcept { of_ = nullptr; }

    private:
        [[gnu::noinline, gnu::cold]] void start(message_cost_sampler& of) noexcept {
            of.batches_left_ = tuning::batches_per_sample - 1;
            of_ = &of;
            before_ = handled_.load_rlx(); // a metric, written by the turn only
            since_ = sys::now_ns();
        }
        [[gnu::noinline, gnu::cold]] void end() noexcept {
            of_->note(sys::now_ns() - since_, handled_.load_rlx() - before_); // a metric, as above
        }
        const base::atomic<std::uint64_t>& handled_; // how many pieces so far
        message_cost_sampler* of_ = nullptr;
        std::uint64_t before_ = 0;
        std::int64_t since_ = 0;
    };

private:
    void note(std::int64_t ns, std::uint64_t messages) noexcept {
        slow_ = ns > static_cast<std::int64_t>(messages) * tuning::slow_message_ns;
    }

    unsigned batches_left_ = 0;
    bool slow_ = false;
};

} // namespace sennit::sched
