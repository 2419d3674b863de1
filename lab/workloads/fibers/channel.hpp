// SPDX-License-Identifier: Apache-2.0
// channel-rendezvous, channel-buffered: one fiber sends the numbers from 0 up, and another fiber
// adds them. Size is the number of messages. The capacity is 0 (each send waits for its receiver)
// and 128.
#pragma once

#include "count.hpp"

namespace lab {

// excerpt channel
template <class R, class Channel>
std::int64_t send_and_add(Channel& numbers, std::int64_t n) {
    std::int64_t sum = 0;
    typename R::fiber producer = R::start([&numbers, n] {
        for (std::int64_t i = 0; i < n; ++i) numbers.push(i);
    });
    typename R::fiber consumer = R::start([&numbers, &sum, n] {
        std::int64_t so_far = 0;
        for (std::int64_t i = 0; i < n; ++i) so_far += numbers.pop();
        sum = so_far;
    });
    producer.join();
    consumer.join();
    return sum;
}
// excerpt end

template <class R>
struct channel_rendezvous : summed {
    using summed::summed;

    std::int64_t run() const {
        typename R::template rendezvous<std::int64_t> numbers;
        return send_and_add<R>(numbers, n);
    }
};

template <class R>
struct channel_buffered : summed {
    using summed::summed;
    static constexpr std::size_t capacity = 128;

    std::int64_t run() const {
        typename R::template buffered<std::int64_t> numbers(capacity);
        return send_and_add<R>(numbers, n);
    }
};

} // namespace lab
