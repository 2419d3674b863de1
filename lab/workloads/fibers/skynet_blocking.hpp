// SPDX-License-Identifier: Apache-2.0
// skynet-rendezvous, skynet-receive: the tree of skynet-channel in the order in which programs in
// Go write it: a parent receives from its children before it does anything else, so parents block.
//
// skynet-rendezvous: channels of capacity 0, so children block, too, until their parent receives.
// The parent joins its children after it has received.
//
// skynet-receive: channels with room for ten, and detached children. Parent and children share the
// channel, because a child may still be inside its last call when the parent has received.
#pragma once

#include "skynet_channel.hpp"

#include <memory>

namespace lab {

template <class R>
struct skynet_rendezvous : skynet_channel<R> {
    using skynet_channel<R>::skynet_channel;
    using skynet_channel<R>::arity;
    using channel = typename R::template rendezvous<std::int64_t>;
    static constexpr bool blocks_many = true;

    static void node(channel& above, std::int64_t first, std::int64_t count) {
        above.push(count == 1 ? first : children(first, count / static_cast<std::int64_t>(arity)));
    }
    [[gnu::noinline]] static std::int64_t children(std::int64_t first, std::int64_t part) {
        channel below;
        std::array<typename R::fiber, arity> fibers;
        for (std::size_t i = 0; i < arity; ++i)
            fibers[i] = R::start([&below, number = first + static_cast<std::int64_t>(i) * part,
                                  part] { node(below, number, part); });
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < arity; ++i) sum += below.pop();
        for (auto& one : fibers) one.join();
        return sum;
    }
    std::int64_t run() const {
        channel result;
        typename R::fiber root = R::start([&] { node(result, 0, this->leaves); });
        const std::int64_t sum = result.pop();
        root.join();
        return sum;
    }
};

template <class R>
struct skynet_receive : skynet_channel<R> {
    using skynet_channel<R>::skynet_channel;
    using skynet_channel<R>::arity;
    using channel = typename R::template buffered<std::int64_t>;
    static constexpr bool blocks_many = true;

    static void start_node(const std::shared_ptr<channel>& above, std::int64_t first,
                           std::int64_t count) {
        R::start([above, first, count] {
            above->push(count == 1 ? first
                                   : children(first, count / static_cast<std::int64_t>(arity)));
        }).detach();
    }
    [[gnu::noinline]] static std::int64_t children(std::int64_t first, std::int64_t part) {
        const auto below = std::make_shared<channel>(arity);
        for (std::size_t i = 0; i < arity; ++i)
            start_node(below, first + static_cast<std::int64_t>(i) * part, part);
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < arity; ++i) sum += below->pop();
        return sum;
    }
    std::int64_t run() const {
        const auto result = std::make_shared<channel>(arity);
        start_node(result, 0, this->leaves);
        return result->pop();
    }
};

} // namespace lab
