// SPDX-License-Identifier: Apache-2.0
// Streams of numbers with Theron. A thread handles one message of an actor, then one of another
// actor. A source that told itself to continue would fill a mailbox without end. Instead, the
// receiver of the numbers asks for more, early enough that both actors can work.
#pragma once

#include "with_theron.hpp"

#include <algorithm>

namespace lab {
namespace theron {

inline constexpr std::int64_t batch = 64, batches_under_way = 2;

// Sends the numbers from 0 to below `end`. If `last` is true, it then sends the message that asks
// for the result.
class source : public Theron::Actor {
public:
    source(Theron::Framework& framework, const Theron::Address& to, std::int64_t end, bool last)
        : Actor(framework), to_(to), end_(end), last_(last) {
        RegisterHandler(this, &source::send_some);
    }

private:
    void send_some(const go_on&, const Theron::Address) {
        if (next_ == end_) return;
        for (const std::int64_t before = std::min(next_ + batch, end_) - 1; next_ <= before;
             ++next_)
            Send(number{next_, next_ == before}, to_);
        if (next_ == end_ && last_) Send(result_wanted{}, to_);
    }

    const Theron::Address to_;
    std::int64_t next_ = 0;
    const std::int64_t end_;
    const bool last_;
};

// Ends after `expected` numbers. If `expected` is 0, it ends when it is asked for the sum.
class gatherer : public Theron::Actor {
public:
    gatherer(Theron::Framework& framework, std::int64_t expected, theron_finish* whole)
        : Actor(framework), expected_(expected), whole_(whole) {
        RegisterHandler(this, &gatherer::add);
        if (expected == 0) RegisterHandler(this, &gatherer::tell);
    }

private:
    void add(const number& one, const Theron::Address from) {
        sum_ += one.value;
        if (one.wants_more) Send(go_on{}, from);
        if (++seen_ == expected_) whole_->one_more(expected_);
    }
    void tell(const result_wanted&, const Theron::Address) { whole_->one_more(sum_); }

    std::int64_t seen_ = 0, sum_ = 0;
    const std::int64_t expected_;
    theron_finish* const whole_;
};

inline std::int64_t gather(with_theron& runtime, std::int64_t sources, std::int64_t each,
                           std::int64_t expected) {
    theron_finish whole;
    theron_actors all;
    all.push_back(std::make_unique<gatherer>(runtime.framework, expected, &whole));
    for (std::int64_t i = 0; i < sources; ++i)
        all.push_back(std::make_unique<source>(runtime.framework, all.front()->GetAddress(), each,
                                               expected == 0));
    for (std::size_t i = 1; i < all.size(); ++i)
        for (std::int64_t k = 0; k < batches_under_way; ++k) runtime.send(go_on{}, *all[i]);
    whole.wait();
    end(all);
    return whole.answer;
}

} // namespace theron

struct theron_counting_actor : counting_size {
    using counting_size::counting_size;
    std::int64_t run_in(with_theron& runtime) const { return theron::gather(runtime, 1, n, 0); }
};

struct theron_fan_in : fan_in_size {
    using fan_in_size::fan_in_size;
    std::int64_t run_in(with_theron& runtime) const {
        return theron::gather(runtime, fan_senders, each(), expected());
    }
};

} // namespace lab
