// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <algorithm>

namespace lab::io {

times storm::run(connections& over) const {
    times all;
    all.reserve(connections_to_make);
    std::uint64_t left = connections_to_make;
    const auto begin = [&](std::size_t index) {
        const clock::time_point now = clock::now();
        over.connect(index);
        over[index].begin = now;
        const message request = over.fresh();
        over.send(over[index], request, request);
        --left;
    };
    for (std::size_t i = 0; i < over.size(); ++i)
        if (over[i].socket >= 0) over.close(i);
    const std::size_t first = std::min<std::uint64_t>(connections_to_make, over.size());
    for (std::size_t i = 0; i < first; ++i) begin(i);
    while (all.size() < connections_to_make)
        for (const std::size_t index : over.wait()) {
            if (!over.receive(over[index])) continue;
            all.push_back(nanoseconds(clock::now() - over[index].begin));
            over.close(index);
            if (left != 0) begin(index);
        }
    return all;
}

} // namespace lab::io
