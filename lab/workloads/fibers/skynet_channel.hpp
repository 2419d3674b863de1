// SPDX-License-Identifier: Apache-2.0
// skynet-channel: a tree with a fiber for each node and ten children for each inner node. A leaf
// sends its number to the node above. An inner node has a channel of its own for its children, and
// sends their sum up. Size is the number of leaves.
//
// A node joins its children before it receives: the channel has room for all ten messages, and the
// channel must outlive the children's calls of push.
#pragma once

#include "../runtime_base.hpp"

namespace lab {

// excerpt skynet-channel
template <class R>
struct skynet_channel {
    static constexpr std::int64_t max_leaves = 100'000'000;
    static constexpr std::size_t arity = 10;
    using channel = typename R::template buffered<std::int64_t>;

    std::int64_t leaves;
    explicit skynet_channel(const std::string& size) : leaves(parse_size(size, 1, max_leaves)) {
        std::int64_t power = 1;
        while (power < leaves) power *= 10;
        if (power != leaves)
            throw std::invalid_argument("size must be a power of ten, not '" + size + "'");
    }

    static void node(channel& above, std::int64_t first, std::int64_t count) {
        above.push(count == 1 ? first : children(first, count / static_cast<std::int64_t>(arity)));
    }
    [[gnu::noinline]] static std::int64_t children(std::int64_t first, std::int64_t part) {
        channel below(arity);
        std::array<typename R::fiber, arity> fibers;
        for (std::size_t i = 0; i < arity; ++i)
            fibers[i] = R::start([&below, number = first + static_cast<std::int64_t>(i) * part,
                                  part] { node(below, number, part); });
        for (std::size_t i = arity; i-- > 0;) fibers[i].join();
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < arity; ++i) sum += below.pop();
        return sum;
    }
    std::int64_t run() const {
        channel result(arity);
        typename R::fiber root = R::start([&] { node(result, 0, leaves); });
        root.join();
        return result.pop();
    }
    std::int64_t expected() const { return leaves * (leaves - 1) / 2; }
    std::int64_t tasks() const { return (10 * leaves - 1) / 9; } // fibers
};
// excerpt end

} // namespace lab
