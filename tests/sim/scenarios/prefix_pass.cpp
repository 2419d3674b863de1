// SPDX-License-Identifier: Apache-2.0
// The pass of the scans and of copy_if, in which each chunk needs a prefix:
// include/sennit/par/detail/prefix_pass.hpp.
#include "engine.hpp"

#include "sennit/par/copy_if.hpp"
#include "sennit/par/scan.hpp"

#include <array>

namespace {

namespace par = sennit::par;

// Each element is a chunk, so every chunk but the first needs the prefix of another one.
constexpr par::with by_one{.min_grain = 1, .max_grain = 1};

// A number whose reads and writes the explorer sees, also in the prefixes.
class number {
public:
    number(int value = 0) : value_(value) {}
    number(const number& other) : value_(other.value_.get()) {}
    number& operator=(const number& other) {
        value_ = other.value_.get();
        return *this;
    }
    int value() const { return value_; }

private:
    sim::var<int> value_;
};

number sum(const number& a, const number& b) {
    return a.value() + b.value();
}

} // namespace

SIM_SCENARIO_WITHIN(prefix_pass, workers_hand_prefixes_on, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    two.run([&] {
        const std::array<number, 3> in{1, 2, 3};
        std::array<number, 3> out;
        par::inclusive_scan(by_one, in, out, sum);
        sim::check(out[0].value() == 1 && out[1].value() == 3 && out[2].value() == 6,
                   "each element has the sum up to it");
    });
}

// Each worker uses its two nodes in turn, and the third chunk takes the node of the first.
SIM_SCENARIO_WITHIN(prefix_pass, nodes_are_used_again, .preemptions = 1, .stale_reads = 1) {
    engine two(2);
    two.run([&] {
        const std::array<number, 5> in{1, 1, 1, 1, 1};
        std::array<number, 5> out;
        par::inclusive_scan(by_one, in, out, sum);
        for (int i = 0; i < 5; ++i)
            sim::check(out[static_cast<std::size_t>(i)].value() == i + 1, "no prefix is lost");
    });
}

// The worker of the second chunk is suspended until the first chunk has its prefix.
SIM_SCENARIO_WITHIN(prefix_pass, worker_suspends_for_its_prefix, .preemptions = 1,
                    .stale_reads = 1) {
    engine two(2);
    two.run([&] {
        const std::array<number, 3> in{1, 2, 3};
        std::array<number, 3> out;
        par::inclusive_scan(
            by_one, in, out,
            [&](const number& a, const number& b) {
                if (b.value() < 3) sennit::sched::yield(); // The first two chunks take longer.
                return sum(a, b);
            },
            number(0));
        sim::check(out[2].value() == 6, "the suspended chunk continues");
    });
}

// The chunk in the middle fails, in the contribution or with its prefix. The pass throws its
// exception, and no worker waits for a prefix forever.
SIM_SCENARIO_WITHIN(prefix_pass, failure_reaches_chunks_behind, .preemptions = 2,
                    .stale_reads = 0) {
    engine two(2);
    const bool failed = two.run([&] {
        const std::array<number, 3> in{1, 2, 3};
        std::array<number, 3> out;
        try {
            par::inclusive_scan(
                by_one, in, out,
                [](const number& a, const number& b) -> number {
                    if (b.value() == 2) throw failure();
                    return sum(a, b);
                },
                number(0));
        } catch (const failure&) {
            return true;
        }
        return false;
    });
    sim::check(failed, "the exception arrives");
}

// The output has room for one match. The workers agree on where the copy stopped.
SIM_SCENARIO_WITHIN(prefix_pass, copy_stops_at_full_output, .preemptions = 1, .stale_reads = 1) {
    engine two(2);
    two.run([&] {
        const std::array<number, 3> in{1, 1, 1};
        std::array<number, 1> out;
        const auto end =
            par::copy_if(by_one, in, out, [](const number& n) { return n.value() > 0; });
        sim::check(end.in == in.begin() + 1 && end.out == out.end(), "the copy stopped at one");
        sim::check(out[0].value() == 1, "the match was copied");
    });
}
