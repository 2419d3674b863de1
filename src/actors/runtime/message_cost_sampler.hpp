// SPDX-License-Identifier: Apache-2.0
// Estimates whether messages are slow to handle on a worker. The sampler times one batch in every
// `tuning::batches_per_sample` that handle several messages.
//
// mailbox_batch.cpp uses the estimate to end batches early where that is worth a hand-over. A wrong
// answer costs time and nothing else. Owner's thread only.
#pragma once

#include "core/policy/tuning.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sys/clock.hpp"

#include <cstdint>

namespace sennit::sched {

class message_cost_sampler {
public:
    bool messages_are_slow() const noexcept { return tuning::stressed || slow_; }

    // The sample of one batch: from `begin` to the end of this object.
    class sample {
    public:
        explicit sample(const base::atomic<std::uint64_t>& handled) noexcept : handled_(handled) {}
        ~sample() {
            if (of_) [[unlikely]]
                end();
        }
        sample(const sample&) = delete;

        // Starts the sample if one is due and this batch has none yet. The batch is about to handle
        // several messages.
        void begin(message_cost_sampler& of) noexcept {
            if (!tuning::stressed && !of_ && of.batches_left_-- == 0) [[unlikely]]
                start(of);
        }
        // Drops the sample, because a handler has blocked.
        void drop() noexcept { of_ = nullptr; }

    private:
        [[gnu::noinline, gnu::cold]] void start(message_cost_sampler& of) noexcept {
            of.batches_left_ = tuning::batches_per_sample - 1;
            of_ = &of;
            // A metric, written by the batch only.
            before_ = handled_.load_rlx();
            since_ = sys::now_ns();
        }
        [[gnu::noinline, gnu::cold]] void end() noexcept {
            // `handled_` is a metric, written by the batch only.
            of_->note(sys::now_ns() - since_, handled_.load_rlx() - before_);
        }
        // The number of messages handled so far.
        const base::atomic<std::uint64_t>& handled_;
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
