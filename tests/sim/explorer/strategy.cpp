// SPDX-License-Identifier: Apache-2.0
#include "strategy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace sennit::sim {

namespace {

unsigned size(thread_set of) noexcept {
    unsigned count = 0;
    for (; of != 0; of &= of - 1)
        ++count; // faster than std::popcount, which is a call on an older processor
    return count;
}

unsigned lowest(thread_set of) noexcept {
    return static_cast<unsigned>(std::countr_zero(of));
}

unsigned nth(thread_set of, unsigned n) noexcept {
    while (n-- > 0) of &= of - 1;
    return lowest(of);
}

class dfs final : public strategy {
public:
    dfs(unsigned preemptions, unsigned stale_reads)
        : preemptions_(preemptions), stale_(stale_reads) {}

    bool begin() override {
        if (started_) {
            while (!path_.empty() && path_.back().taken + 1 == path_.back().options)
                path_.pop_back();
            if (path_.empty()) {
                complete_ = true;
                return false;
            }
            ++path_.back().taken;
        }
        started_ = true;
        at_ = 0;
        preempted_ = 0;
        aged_ = 0;
        return true;
    }

    unsigned choose_thread(const thread_choice& from) override {
        const bool may_preempt = preempted_ < preemptions_;
        const thread_set open = may_preempt ? from.all : from.free;
        const unsigned count = size(open);
        if (count == 1) return lowest(open);
        const unsigned pick = next(count);
        // The usual thread comes first, then the other threads in order.
        const unsigned chosen = pick == 0 ? from.usual : nth(open & ~(1u << from.usual), pick - 1);
        if ((from.free >> chosen & 1) == 0) ++preempted_;
        return chosen;
    }

    unsigned choose_age(unsigned count) override {
        if (aged_ >= stale_) return 0;
        const unsigned age = next(count);
        if (age != 0) ++aged_;
        return age;
    }

    void begin_again() override {
        path_.clear();
        started_ = false;
    }
    bool complete() const override { return complete_; }

private:
    struct step {
        std::uint8_t taken;
        std::uint8_t options;
    };

    unsigned next(unsigned options) {
        if (at_ == path_.size()) path_.push_back({0, static_cast<std::uint8_t>(options)});
        return path_[at_++].taken;
    }

    const unsigned preemptions_;
    const unsigned stale_;
    std::vector<step> path_;
    std::size_t at_ = 0;
    unsigned preempted_ = 0;
    unsigned aged_ = 0;
    bool started_ = false;
    bool complete_ = false;
};

class random_base : public strategy {
public:
    random_base(std::uint64_t seed, std::uint64_t executions) : random_(seed), left_(executions) {}
    bool begin() override { return left_-- != 0; }
    unsigned choose_age(unsigned count) override {
        const std::uint64_t bits = random_();
        return bits % 8 == 0 ? static_cast<unsigned>((bits >> 8) % count) : 0;
    }

protected:
    std::mt19937_64 random_;

private:
    std::uint64_t left_;
};

class walk final : public random_base {
public:
    using random_base::random_base;
    unsigned choose_thread(const thread_choice& from) override {
        return nth(from.all, static_cast<unsigned>(random_() % size(from.all)));
    }
};

class priorities final : public random_base {
public:
    priorities(unsigned depth, std::uint64_t seed, std::uint64_t executions)
        : random_base(seed, executions), changes_(depth > 0 ? depth - 1 : 0) {}

    bool begin() override {
        longest_ = std::max(longest_, decisions_);
        decisions_ = 0;
        lowest_ = 1'000;
        for (std::size_t t = 0; t < priority_.size(); ++t)
            priority_[t] = 1'000'000 + static_cast<long>(t);
        std::shuffle(priority_.begin(), priority_.end(), random_);
        points_.clear();
        for (unsigned i = 0; i < changes_; ++i)
            points_.push_back(random_() % std::max<std::uint64_t>(longest_, 16));
        return random_base::begin();
    }

    unsigned choose_thread(const thread_choice& from) override {
        unsigned best = top(from.all);
        const bool change =
            std::find(points_.begin(), points_.end(), decisions_++) != points_.end();
        if (!change) return best;
        priority_[best] = lowest_--;
        return top(from.all);
    }

    void yielded(unsigned thread) override { priority_[thread] = lowest_--; }

private:
    unsigned top(thread_set of) const noexcept {
        unsigned best = lowest(of);
        for (; of != 0; of &= of - 1)
            if (priority_[lowest(of)] > priority_[best]) best = lowest(of);
        return best;
    }

    const unsigned changes_;
    std::uint64_t decisions_ = 0;
    std::uint64_t longest_ = 0;
    long lowest_ = 0;
    std::array<long, 32> priority_{};
    std::vector<std::uint64_t> points_;
};

class repeat final : public strategy {
public:
    explicit repeat(std::vector<std::uint8_t> decisions) : decisions_(std::move(decisions)) {}
    bool begin() override { return !std::exchange(started_, true); }
    unsigned choose_thread(const thread_choice& from) override {
        const unsigned wanted = at_ < decisions_.size() ? decisions_[at_++] : from.usual;
        return (from.all >> wanted & 1) != 0 ? wanted : from.usual;
    }
    unsigned choose_age(unsigned count) override {
        const unsigned wanted = at_ < decisions_.size() ? decisions_[at_++] : 0u;
        return std::min(wanted, count - 1);
    }

private:
    std::vector<std::uint8_t> decisions_;
    std::size_t at_ = 0;
    bool started_ = false;
};

} // namespace

std::unique_ptr<strategy> depth_first(unsigned preemptions, unsigned stale_reads) {
    return std::make_unique<dfs>(preemptions, stale_reads);
}
std::unique_ptr<strategy> random_walk(std::uint64_t seed, std::uint64_t executions) {
    return std::make_unique<walk>(seed, executions);
}
std::unique_ptr<strategy> pct(unsigned depth, std::uint64_t seed, std::uint64_t executions) {
    return std::make_unique<priorities>(depth, seed, executions);
}
std::unique_ptr<strategy> replay(std::vector<std::uint8_t> decisions) {
    return std::make_unique<repeat>(std::move(decisions));
}

} // namespace sennit::sim
