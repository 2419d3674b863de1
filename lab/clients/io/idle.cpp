// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <algorithm>
#include <thread>

namespace lab::io {

namespace {

// The server has no work for so long before its rest is measured, and while it is.
constexpr std::chrono::milliseconds before_rest{300}, rest{2000};

void exchange(connections& over, std::size_t index) {
    const message request = over.fresh();
    over.send(over[index], request, request);
    for (;;)
        for (const std::size_t readable : over.wait())
            if (over.receive(over[readable])) return; // No other connection has a request.
}

} // namespace

idle::result idle::run(connections& over, const server_process& server) const {
    const std::size_t first = over.size();
    // The first connections make the objects that stay.
    for (std::size_t i = 0; i < first; ++i) exchange(over, i);
    const auto before = static_cast<double>(server.memory());
    for (std::uint64_t i = 0; i < connections_to_add; ++i) {
        over.add(1);
        exchange(over, over.size() - 1);
    }
    const auto after = static_cast<double>(server.memory());
    std::this_thread::sleep_for(before_rest);
    const std::uint64_t switches = server.switches();
    std::this_thread::sleep_for(rest);
    const std::uint64_t during_rest = server.switches() - switches;
    for (std::size_t i = first; i < over.size(); ++i) exchange(over, i);
    return {std::max(0.0, (after - before) / static_cast<double>(connections_to_add)), during_rest};
}

} // namespace lab::io
