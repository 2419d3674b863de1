// SPDX-License-Identifier: Apache-2.0
// The requests and replies of the family `io`: 64 bytes each, eight little-endian words.
//
//     word 0      the number of steps of the work (work.hpp)
//     word 1      the state with which the work begins; in the reply, its result
//     words 2..7  any bytes, which come back
//
// The workload decides the work. `io-echo`, `io-limit`: none, and the reply is the request.
// `io-mixed`, `io-mixed-aside`: the steps of word 0. It is 0 in a light request. `io-accept`,
// `io-idle`: as `io-mixed`, and all requests are light. `io-fork`: `leaves` leaves, of which leaf i
// does the steps from the state word 1 + i; the result is the sum of the final states.
#pragma once

#include "work.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace lab::io {

using message = std::array<std::uint64_t, 8>;
static_assert(sizeof(message) == 64 && std::endian::native == std::endian::little);

inline constexpr std::uint64_t leaves = 256;

inline std::uint64_t leaf(const message& request, std::uint64_t number) {
    return xorshift(request[1] + number, static_cast<std::int64_t>(request[0]));
}

// The replies, computed without a fork.
inline message reply_of_mixed(message request) {
    request[1] = leaf(request, 0);
    return request;
}
inline message reply_of_fork(message request) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < leaves; ++i) sum += leaf(request, i);
    request[1] = sum;
    return request;
}

} // namespace lab::io
