// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <algorithm>

namespace lab::io {

times closed_loop::run(connections& over) const {
    times all;
    all.reserve(requests);
    std::uint64_t left = requests;
    message work{};
    work[0] = steps;
    work[1] = 1;
    const std::uint64_t answer = reply(work)[1];
    const auto send = [&](connection& on, clock::time_point now) {
        message request = over.fresh();
        request[0] = work[0];
        request[1] = work[1];
        message expected = request;
        expected[1] = answer;
        on.begin = now;
        over.send(on, request, expected);
        --left;
    };
    const std::size_t first = std::min<std::uint64_t>(requests, over.size());
    for (std::size_t i = 0; i < first; ++i) send(over[i], clock::now());
    while (all.size() < requests)
        for (const std::size_t index : over.wait()) {
            connection& one = over[index];
            if (!over.receive(one)) continue;
            const clock::time_point now = clock::now();
            all.push_back(nanoseconds(now - one.begin));
            if (left != 0) send(one, now);
        }
    return all;
}

} // namespace lab::io
