// SPDX-License-Identifier: Apache-2.0
// Generators of both kinds: recursive, failing inside, resumed by several fibers, and abandoned
// half way. Each frame is counted, and none may be left.
#include "mix.hpp"
#include "mix_frame.hpp"

#include <sennit/sennit.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

namespace soak {

namespace mix_generators {
namespace {

// Generates the numbers from low to high, by halves. One number may be missing: there the generator
// throws, and some of the callers catch the exception.
struct plan {
    int fails_at, salt;
    std::atomic<int>& live;
    bool catches(int low, int high) const { return (low * 31 + high * 17 + salt) % 5 == 0; }
};

template <class Yield>
void walk(const plan& of, int low, int high, Yield& yield) {
    frame here(of.live);
    if (high - low == 1) {
        if (low == of.fails_at) throw std::range_error("missing");
        yield(int{low});
        return;
    }
    const int middle = low + (high - low) / 2;
    try {
        walk(of, low, middle, yield);
    } catch (const std::range_error&) {
        if (!of.catches(low, high)) throw;
    }
    walk(of, middle, high, yield);
}

sennit::generator<int> steps(const plan& of, int low, int high) {
    frame here(of.live);
    if (high - low == 1) {
        if (low == of.fails_at) throw std::range_error("missing");
        co_yield low;
        co_return;
    }
    const int middle = low + (high - low) / 2;
    try {
        co_yield sennit::elements_of(steps(of, low, middle));
    } catch (const std::range_error&) {
        if (!of.catches(low, high)) throw;
    }
    co_yield sennit::elements_of(steps(of, middle, high));
}

// Iterates up to `most`, part of the way in further fibers. Returns true if the values are as
// expected.
template <class Range>
bool gone_through(Range numbers, const std::vector<int>& expected, bool fails, std::size_t most,
                  dice& with) {
    std::size_t at = 0;
    bool right = true;
    try {
        auto step = numbers.begin();
        Range elsewhere = std::move(numbers); // iterators stay valid
        const auto some = [&] {
            for (int k = with.from(1, 20); k > 0 && at < most && step != elsewhere.end();
                 --k, ++step, ++at)
                right = right && at < expected.size() && *step == expected[at];
        };
        while (at < most && step != elsewhere.end()) {
            if (with.from(0, 2) == 0)
                sennit::fiber(some).join();
            else
                some();
        }
        return right && (at == most || (!fails && at == expected.size()));
    } catch (const std::range_error&) {
        return right && fails && at + 1 == std::max<std::size_t>(expected.size(), 1);
    }
}

bool recursions(dice& with) {
    std::atomic<int> live{0};
    const int count = with.from(1, 200);
    const plan of{with.from(0, 2 * count), with.from(0, 4), live};
    std::vector<int> expected;
    bool fails = false;
    try {
        const auto note = [&](int value) { expected.push_back(value); };
        walk(of, 0, count, note);
    } catch (const std::range_error&) {
        fails = true;
    }
    // perhaps abandoned half way
    const auto most = static_cast<std::size_t>(with.from(0, 1) == 0 ? with.from(0, count) : 1'000);
    const bool one = gone_through(steps(of, 0, count), expected, fails, most, with);
    const bool other = gone_through(
        sennit::stackful_generator<int>([&](auto& yield) { walk(of, 0, count, yield); }), expected,
        fails, most, with);
    return one && other && live == 0;
}

constexpr program some_programs[] = {{"recursions", &recursions}};

} // namespace
} // namespace mix_generators

std::span<const program> generators_programs() {
    return mix_generators::some_programs;
}

} // namespace soak
