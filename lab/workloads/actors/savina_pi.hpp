// SPDX-License-Identifier: Apache-2.0
// savina-piprecision: n decimals of π by the formula of Bailey, Borwein and Plouffe. A master gives
// the terms to 20 actors, one at a time, and adds them up. The answer is 10ⁿ π, rounded down,
// modulo 1,000,000,007.
//
// A term is a binary fraction of 32-bit words, rounded down. Integers add up to the same sum in any
// order, and the number of terms is fixed, so the answer does not depend on time. The suite uses
// decimal fractions of Java's library, and stops at a term that is small enough. The division by
// 16ᵏ, a shift here, is a long division there.
#pragma once

#include "sizes.hpp"

#include <algorithm>
#include <array>

namespace lab::savina {

struct piprecision_size : actor_workload {
    using word = std::uint32_t;
    using words = std::vector<word>; // the lowest word first

    explicit piprecision_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 1, 50'000);
    }
    static constexpr std::int64_t workers = 20, modulus = 1'000'000'007;

    // A word has 9.63 decimals. The last two words of the fraction hold the rounding errors and the
    // terms that are left out. Two more words separate these errors from the last decimal.
    std::size_t fraction() const { return static_cast<std::size_t>(n * 10 / 96 + 4); }
    std::int64_t terms() const { return static_cast<std::int64_t>(8 * (fraction() - 2)); }
    std::int64_t tasks() const { return terms(); }

    // (4 / (8k + 1) - 2 / (8k + 4) - 1 / (8k + 5) - 1 / (8k + 6)) / 16ᵏ, without leading zeros
    words term(std::int64_t k) const {
        const auto base = static_cast<std::uint64_t>(8 * k);
        const std::array<std::uint64_t, 4> divisors{base + 1, base + 4, base + 5, base + 6};
        const std::size_t shift = 32 * fraction() - static_cast<std::size_t>(4 * k);
        const std::array<std::size_t, 4> bits{shift + 2, shift + 1, shift, shift};
        std::array<std::uint64_t, 4> rests{};
        words result(bits[0] / 32 + 1);
        std::vector<std::int64_t> differences(result.size());
        for (std::size_t i = result.size(); i-- > 0;)
            for (std::size_t part = 0; part < 4; ++part) {
                const std::uint64_t set = bits[part] / 32 == i ? 1u << bits[part] % 32 : 0;
                const std::uint64_t value = rests[part] << 32 | set;
                const auto quotient = static_cast<std::int64_t>(value / divisors[part]);
                rests[part] = value % divisors[part];
                differences[i] += part == 0 ? quotient : -quotient;
            }
        std::int64_t carry = 0;
        for (std::size_t i = 0; i < result.size(); ++i) {
            carry += differences[i];
            result[i] = static_cast<word>(carry);
            carry >>= 32;
        }
        return result;
    }
    words zero() const { return words(fraction() + 1); }
    static void add(words& sum, const words& more) {
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < sum.size() && (i < more.size() || carry != 0); ++i) {
            carry += std::uint64_t{sum[i]} + (i < more.size() ? more[i] : 0);
            sum[i] = static_cast<word>(carry);
            carry >>= 32;
        }
    }
    std::int64_t answer(words sum) const {
        std::uint64_t result = sum.back();
        sum.pop_back();
        for (std::int64_t left = n; left > 0; left -= 9) {
            std::uint64_t power = 1, carry = 0;
            for (std::int64_t i = std::min<std::int64_t>(left, 9); i > 0; --i) power *= 10;
            for (word& one : sum) {
                carry += one * power;
                one = static_cast<word>(carry);
                carry >>= 32;
            }
            result = (result * power + carry) % static_cast<std::uint64_t>(modulus);
        }
        return static_cast<std::int64_t>(result);
    }
    std::int64_t expected() const {
        words sum = zero();
        for (std::int64_t k = 0; k < terms(); ++k) add(sum, term(k));
        return answer(sum);
    }
};

} // namespace lab::savina
