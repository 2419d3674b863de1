// SPDX-License-Identifier: Apache-2.0
// savina-filterbank: n numbers pass through a bank of eight channels, each a pipeline of actors: a
// delay, a filter of 1,024 coefficients, a sampler, a delay, a filter, and an actor that adds the
// number of the channel. An integrator adds the k-th outputs of all channels, and a sink adds the
// sums, each weighed by k mod 7 plus 1.
//
// Numbers and coefficients are whole, and each actor of a channel has one sender, so the answer
// does not depend on time. The suite has 16,384 coefficients and fractions.
#pragma once

#include "savina.hpp"

#include <deque>

namespace lab::savina {

struct filterbank_size : actor_workload {
    explicit filterbank_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 2 * columns, 1'000'000);
    }
    static constexpr std::int64_t channels = 8, columns = 1'024, most_value = 1'000;

    static std::int64_t input(std::int64_t k) { return k % most_value; }
    static std::int64_t weight(std::int64_t k) { return k % 7 + 1; }
    std::int64_t outputs() const { return n - 2 * (columns - 1); } // of each channel

    // Each stage calls send with the numbers that it passes on.
    class delay {
    public:
        template <class F>
        void take(std::int64_t value, F send) {
            auto& kept = kept_[at_];
            at_ = (at_ + 1) % kept_.size();
            send(std::exchange(kept, value));
        }

    private:
        std::vector<std::int64_t> kept_ = std::vector<std::int64_t>(columns - 1);
        std::size_t at_ = 0;
    };
    class filter {
    public:
        filter(std::int64_t channel, bool second) {
            for (std::int64_t i = 0; i < columns; ++i)
                coefficients_[static_cast<std::size_t>(columns - 1 - i)] =
                    (i * channel + (second ? channel * channel : i) + i + channel) % 16 + 1;
        }
        // Passes a number on once there are as many numbers as coefficients.
        template <class F>
        void take(std::int64_t value, F send) {
            kept_[at_] = value;
            at_ = (at_ + 1) % kept_.size();
            full_ = full_ || at_ == 0;
            if (!full_) return;
            std::int64_t sum = 0;
            for (std::size_t i = 0; i < kept_.size(); ++i) sum += kept_[i] * coefficients_[i];
            send(sum);
        }
        // The sum above changes by this number when `value` arrives. For the expected answer.
        std::int64_t change(std::int64_t value) {
            const std::int64_t more = (value - kept_[at_]) * coefficients_[at_];
            kept_[at_] = value;
            at_ = (at_ + 1) % kept_.size();
            return more;
        }

    private:
        std::vector<std::int64_t> kept_ = std::vector<std::int64_t>(columns);
        std::vector<std::int64_t> coefficients_ = std::vector<std::int64_t>(columns);
        std::size_t at_ = 0;
        bool full_ = false;
    };
    class sampler {
    public:
        template <class F>
        void take(std::int64_t value, F send) {
            send(at_ == 0 ? value : 0);
            at_ = (at_ + 1) % columns;
        }

    private:
        std::int64_t at_ = 0;
    };
    // Adds the k-th outputs of all channels. The outputs of a channel arrive in order.
    class integrator {
    public:
        template <class F>
        void take(std::int64_t channel, std::int64_t value, F send) {
            const auto k = static_cast<std::size_t>(seen_[static_cast<std::size_t>(channel)]++);
            if (k - first_ == open_.size()) open_.emplace_back();
            auto& [sum, count] = open_[k - first_];
            sum += value;
            if (++count < channels) return;
            send(sum); // The first open sum is the first one that is complete.
            open_.pop_front();
            ++first_;
        }

    private:
        std::vector<std::int64_t> seen_ = std::vector<std::int64_t>(channels);
        std::deque<std::pair<std::int64_t, std::int64_t>> open_;
        std::size_t first_ = 0;
    };

    std::int64_t expected() const {
        std::int64_t answer = 0;
        for (std::int64_t channel = 0; channel < channels; ++channel) {
            delay before, between;
            filter first(channel, false), second(channel, true);
            sampler samples;
            std::int64_t sum = 0, result = 0;
            for (std::int64_t k = 0; k < n; ++k) {
                before.take(input(k), [&](std::int64_t value) { sum += first.change(value); });
                if (k < columns - 1) continue;
                samples.take(sum, [&](std::int64_t sampled) {
                    between.take(sampled,
                                 [&](std::int64_t value) { result += second.change(value); });
                });
                const std::int64_t output = k - 2 * (columns - 1);
                if (output >= 0) answer += result * weight(output);
            }
        }
        return answer;
    }
};

} // namespace lab::savina
