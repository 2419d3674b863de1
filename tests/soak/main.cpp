// SPDX-License-Identifier: Apache-2.0
// Runs random programs over every primitive, for the given time. The soak checks each answer. After
// each round no stack, no timer and no ready work may be left. After a warm-up the resident memory
// must be flat.
//
//   soak [--workers N] SECONDS [SEED [PROGRAM]]
//
// The soak prints one line for each period. Exit status 0: every answer was right; 1: an answer or
// a check was wrong; 2: bad input. With `--workers` every runtime that the soak itself makes has N
// workers. A round that hangs ends the soak with a dump of all fibers.
#include "mix.hpp"
#include "resident.hpp"

#include "nothing_left.hpp"
#include "race_rounds.hpp"
#include "stall_alarm.hpp"

#include <sennit/sennit.hpp>

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using clock = std::chrono::steady_clock;

std::vector<soak::program> chosen; // set by main
unsigned asked_workers = 0;        // set by main; 0: the command line does not say

// The resident memory may grow after the warm-up by an eighth and by this. The warm-up ends after
// 30 s and this many rounds, on a loaded machine too: each stack and each worker's cache keeps the
// most that it has ever needed, and in 1,300 rounds few of 3,000 stacks have seen their deepest
// program.
constexpr long slack_kib = 8 * 1024, rounds_of_warm_up = 5'000;
// The growth counts only if as many samples in a row show it. A single one may show threads of
// `sennit::blocking` that end 5 s after their last call.
constexpr std::size_t samples_of_growth = 4;

struct totals {
    std::atomic<long> rounds{0}, programs{0};
    std::atomic<bool> failed{false};
};

// One round: as many programs at once as there are fibers in `crew`; each fiber runs several
// programs in a row.
void play(sennit::runtime& on, soak::dice& with, totals& sum) {
    const int crew = with.from(1, 6);
    on.run([&] {
        std::vector<sennit::fiber> all;
        for (int i = 0; i < crew; ++i)
            all.emplace_back([&sum, seed = with.seed()] {
                soak::dice mine(seed);
                for (int k = mine.from(1, 6); k > 0; --k) {
                    const auto& one =
                        chosen[static_cast<std::size_t>(mine.from(0, int(chosen.size()) - 1))];
                    if (!one.run(mine)) {
                        sum.failed = true;
                        std::fprintf(stderr, "soak: wrong answer: %s, seed %llu\n", one.name,
                                     static_cast<unsigned long long>(seed));
                    }
                    ++sum.programs;
                }
            });
        for (auto& one : all) one.join();
    });
    ++sum.rounds;
    if (!nothing_left(on)) {
        const auto now = on.metrics();
        sum.failed = true;
        std::fprintf(
            stderr,
            "soak: %zu stacks of %u workers are still in use after a round, or a timer, or work\n",
            now.stacks_live, now.workers);
    }
}

// Blocks as many fibers at once as hardly any later round does; each touches some of its stack.
// Runtimes keep their stacks, so without this step the memory would creep up to that level for a
// long time.
void flood(sennit::runtime& one) {
    constexpr std::ptrdiff_t crowd = memory_is_shadowed ? 50 : 1'000;
    one.run([] {
        sennit::latch all(crowd);
        std::vector<sennit::fiber> blocked;
        for (std::ptrdiff_t i = 0; i < crowd; ++i)
            blocked.emplace_back([&all] {
                volatile char touched[12'000];
                for (std::size_t at = 0; at < sizeof touched; at += 1'000) touched[at] = 1;
                all.arrive_and_wait();
            });
        for (auto& each : blocked) each.join();
    });
}

// The runtimes that live as long as the soak, and now and then a runtime for a single round.
class stage {
public:
    stage() {
        std::vector<unsigned> sizes{1, 2, 3, 8};
        if (asked_workers != 0) sizes = {asked_workers};
        const unsigned few = asked_workers != 0 ? asked_workers : 2;
        for (unsigned workers : sizes)
            lasting_.push_back(make(workers, sennit::scheduling::stealing));
        lasting_.push_back(make(few, sennit::scheduling::sharing));
        lasting_.push_back(make(few, sennit::scheduling::round_robin));
        for (const auto& one : lasting_) flood(*one);
    }
    // The stacks that all lasting runtimes have made and kept.
    std::size_t stacks() const {
        std::size_t sum = 0;
        for (const auto& one : lasting_)
            sum += one->metrics().stacks_cached + one->metrics().stacks_live;
        return sum;
    }
    void round(soak::dice& with, totals& sum) {
        if (with.from(0, 19) == 0) {
            const auto brief =
                make(soak::workers_for_runtime(with, 4), sennit::scheduling::stealing);
            play(*brief, with, sum);
        } else {
            play(*lasting_[static_cast<std::size_t>(with.from(0, int(lasting_.size()) - 1))], with,
                 sum);
        }
    }

private:
    static std::unique_ptr<sennit::runtime> make(unsigned workers, sennit::scheduling policy) {
        return std::make_unique<sennit::runtime>(
            sennit::runtime_options{.workers = workers, .stack_size = 256 << 10, .policy = policy});
    }
    std::vector<std::unique_ptr<sennit::runtime>> lasting_;
};

} // namespace

unsigned soak::workers_for_runtime(dice& with, unsigned most) {
    const auto any = static_cast<unsigned>(with.from(1, static_cast<int>(most)));
    return asked_workers != 0 ? asked_workers : any;
}

int main(int count, char** given) {
    char* end = nullptr;
    bool bad = false;
    if (count > 1 && given[1] == std::string_view("--workers")) {
        const unsigned long workers = count > 2 ? std::strtoul(given[2], &end, 10) : 0;
        bad = count < 3 || *end != '\0' || workers < 1 || workers > 64;
        asked_workers = static_cast<unsigned>(workers);
        count = std::max(1, count - 2);
        given += 2;
    }
    const double seconds = count > 1 ? std::strtod(given[1], &end) : 0;
    const std::uint64_t seed =
        count > 2 ? std::strtoull(given[2], nullptr, 10) : std::random_device{}();
    for (const auto& one : soak::programs())
        if (count < 4 || one.name == std::string_view(given[3])) chosen.push_back(one);
    if (bad || count < 2 || count > 4 || !(seconds > 0) || *end != '\0' || chosen.empty()) {
        std::fprintf(stderr, "usage: soak [--workers N] SECONDS [SEED [PROGRAM]], where N is from "
                             "1 to 64 and PROGRAM is the\n"
                             "name of a program of tests/soak, such as \"stuck workers\"\n");
        return 2;
    }
    std::printf("soak: %.0f s, seed %llu\n", seconds, static_cast<unsigned long long>(seed));
    soak::dice with(seed);
    totals sum;
    stage all;
    stall_alarm alarm;
    const auto began = clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(clock::now() - began).count();
    };
    const double warm = std::min(30.0, seconds / 4), period = std::min(15.0, seconds / 4);
    long flat = 0;
    std::size_t grown = 0;
    double told = 0;
    while (elapsed() < seconds && !sum.failed) {
        alarm.begin_round("round " + std::to_string(sum.rounds) + " of seed " +
                          std::to_string(seed));
        all.round(with, sum);
        if (elapsed() - told < period) continue;
        told = elapsed();
        // The memory that the program has freed does not count as the library's.
        ::malloc_trim(0);
        const long now = resident_kib();
        if (flat == 0 && told >= warm && (sum.rounds >= rounds_of_warm_up || told >= seconds / 4))
            flat = now;
        std::printf("soak: %4.0f s, %ld rounds, %ld programs, %ld KiB resident, %zu KiB allocated, "
                    "%zu stacks, %ld threads\n",
                    told, sum.rounds.load(), sum.programs.load(), now, allocated_kib(),
                    all.stacks(), thread_count());
        std::fflush(stdout);
        const bool over = flat != 0 && now > flat + flat / 8 + slack_kib;
        grown = over ? grown + 1 : 0;
        if (!memory_is_shadowed && grown >= samples_of_growth) {
            std::fprintf(stderr, "soak: memory grows: %ld KiB after the warm-up, %ld KiB now\n",
                         flat, now);
            sum.failed = true;
        }
    }
    std::printf("soak: %s after %.0f s, %ld rounds, %ld programs\n",
                sum.failed ? "FAILED" : "all right", elapsed(), sum.rounds.load(),
                sum.programs.load());
    return sum.failed ? 1 : 0;
}
