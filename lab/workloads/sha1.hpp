// SPDX-License-Identifier: Apache-2.0
// SHA-1 of up to 55 bytes (one block), for the random numbers of UTS, which are defined by it (FIPS 180-4).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace lab {

using digest = std::array<std::uint8_t, 20>;

inline digest sha1(const std::uint8_t* bytes, std::size_t length) {
    std::array<std::uint8_t, 64> block{};
    for (std::size_t i = 0; i < length; ++i) block[i] = bytes[i];
    block[length] = 0x80;
    const std::uint64_t bits = length * 8;
    for (std::size_t i = 0; i < 8; ++i) block[56 + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));

    std::array<std::uint32_t, 80> w;
    for (std::size_t i = 0; i < 16; ++i)
        w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
               std::uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
    for (std::size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);

    constexpr std::array<std::uint32_t, 5> start = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    auto [a, b, c, d, e] = start;
    const auto round = [&](std::uint32_t f, std::uint32_t k, std::uint32_t word) {
        const std::uint32_t next = std::rotl(a, 5) + f + e + k + word;
        e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
    };
    for (std::size_t i = 0; i < 20; ++i) round((b & c) | (~b & d), 0x5A827999, w[i]);
    for (std::size_t i = 20; i < 40; ++i) round(b ^ c ^ d, 0x6ED9EBA1, w[i]);
    for (std::size_t i = 40; i < 60; ++i) round((b & c) | (b & d) | (c & d), 0x8F1BBCDC, w[i]);
    for (std::size_t i = 60; i < 80; ++i) round(b ^ c ^ d, 0xCA62C1D6, w[i]);
    const std::array<std::uint32_t, 5> sum = {start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e};
    digest out;
    for (std::size_t i = 0; i < 20; ++i) out[i] = static_cast<std::uint8_t>(sum[i / 4] >> (24 - 8 * (i % 4)));
    return out;
}

} // namespace lab
