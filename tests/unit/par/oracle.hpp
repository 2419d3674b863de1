// SPDX-License-Identifier: Apache-2.0
// Support of the tests that compare a parallel algorithm with its serial form: sizes around the
// boundaries of chunks and blocks, random elements, and one sequence as several kinds of ranges.
#pragma once

#include "on_workers.hpp"

#include <sennit/par.hpp>
#include <sennit/this_fiber.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <random>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace oracle {

inline constexpr std::size_t all_sizes[] = {0,  1,  2,  3,  9,   16,  17,   31,   33,
                                            63, 64, 65, 97, 129, 257, 1000, 4097, 70'003};
// A slow build leaves the last one out.
inline constexpr std::span sizes =
    std::span<const std::size_t>(all_sizes).first(std::size(all_sizes) - tests_are_slow);

// Calls `body(n)` for each size on runtimes with 1, 2, 3 and 8 workers.
template <class F>
void on_sizes(F&& body) {
    on_workers([&] {
        for (std::size_t n : sizes) {
            body(n);
            if (!testing::Test::HasFailure()) continue;
            ADD_FAILURE() << "the first failure came with " << n << " elements";
            return;
        }
    });
}

// Returns n numbers below `bound`. The sequence depends on n and `bound` only.
inline std::vector<int> random_ints(std::size_t n, int bound) {
    std::mt19937 random(static_cast<unsigned>(n * 31) + static_cast<unsigned>(bound));
    std::uniform_int_distribution<int> any(0, bound - 1);
    std::vector<int> values(n);
    for (int& value : values) value = any(random);
    return values;
}

// Calls `body` with the sequence as a span, and as the reverse of a deque, whose elements are not
// in one piece; only as a span where SENNIT_TEST_ONE_RANGE saves the time of compiling `body`
// twice.
template <class T, class F>
void as_ranges(const std::vector<T>& values, F&& body) {
    std::vector<T> copy = values;
    body(std::span<T>(copy));
#ifndef SENNIT_TEST_ONE_RANGE
    std::deque<T> backwards(values.rbegin(), values.rend());
    body(backwards | std::views::reverse);
#endif
}

// Lets other tasks of the worker run in the middle of a chunk, at some elements.
inline void yield_at(std::size_t index) {
    if (index % 97 == 13) sennit::this_fiber::yield();
}

// A type without a default constructor.
struct boxed {
    explicit boxed(int number) : value(number) {}
    int value;
    bool operator==(const boxed&) const = default;
};

// A type whose moves may throw, and do not.
struct throwing_move {
    int number;
    explicit throwing_move(int i) : number(i) {}
    throwing_move(throwing_move&& other) noexcept(false) : number(other.number) {}
    throwing_move& operator=(throwing_move&& other) noexcept(false) {
        number = other.number;
        return *this;
    }
};

// Returns the text of the std::runtime_error that `call` throws.
template <class F>
std::string error_of(F&& call) {
    try {
        call();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "no exception";
}

// Returns a callable that calls `f` and throws the number of the element at and behind `bad`.
inline auto throws_from(int bad) {
    return [bad](int value) {
        if (value >= bad) throw std::runtime_error(std::to_string(value));
        return value;
    };
}

} // namespace oracle
