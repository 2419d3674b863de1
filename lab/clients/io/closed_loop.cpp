// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace lab::io {

double percentile_us(times& of, double part) {
    if (of.empty()) return 0;
    const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(of.size() - 1));
    std::nth_element(of.begin(), of.begin() + at, of.end());
    return of[static_cast<std::size_t>(at)] / 1e3;
}

std::string percentiles(times& of, const std::string& name) {
    std::string text;
    for (const auto& [part, suffix] : {std::pair{0.5, "p50"}, {0.99, "p99"}, {0.999, "p999"}}) {
        char figure[96];
        std::snprintf(figure, sizeof figure, ", \"%s_%s\": %.3f", name.c_str(), suffix,
                      percentile_us(of, part));
        text += figure;
    }
    return text;
}

namespace {

std::uint32_t nanoseconds(clock::duration of) {
    const auto n = std::chrono::duration_cast<std::chrono::nanoseconds>(of).count();
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(n, 0, std::numeric_limits<std::uint32_t>::max()));
}

} // namespace

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
