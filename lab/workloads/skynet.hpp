// SPDX-License-Identifier: Apache-2.0
// skynet: a tree with ten children for each inner node. Leaves return their number, and inner nodes
// the sum of their children. Size is the depth (8: 10^8 leaves).
#pragma once

#include "runtime_base.hpp"

namespace lab {

template <class R>
struct skynet {
    static constexpr const char* name = "skynet";
    int depth;
    explicit skynet(const std::string& size) : depth(static_cast<int>(parse_size(size, 0, 9))) {}

    static std::int64_t leaves(int depth) { return depth == 0 ? 1 : 10 * leaves(depth - 1); }

    // excerpt skynet

    // `count` leaves below this node, numbered from `first`.
    [[gnu::noinline]] static std::int64_t node(std::int64_t first, std::int64_t count) {
        if (count == 1) return first;
        const std::int64_t part = count / 10;
        return R::template sum<10>(10, [=](std::size_t i) {
            return node(first + static_cast<std::int64_t>(i) * part, part);
        });
    }
    // excerpt end
    std::int64_t run() const { return node(0, leaves(depth)); }
    std::int64_t expected() const { return leaves(depth) * (leaves(depth) - 1) / 2; }
    std::int64_t tasks() const { return (leaves(depth + 1) - 1) / 9; } // nodes
};

} // namespace lab
