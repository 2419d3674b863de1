// SPDX-License-Identifier: Apache-2.0
// Figures of actors that compare with no other runtime:
//
//   * the cost of 10^5 idle actors, in processor time and in memory;
//   * the smallest work at each hop of a parallel ring at which two workers are 50 % efficient (the
//     METG of the ring).
//
//     bench_actors [SECONDS]    observes the idle actors for so many seconds; 2 by default
#include <sennit/sennit.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

double processor_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto in_seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
}

long resident_bytes() {
    long pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return pages * ::sysconf(_SC_PAGESIZE);
}

// ---- idle actors

struct poke {
    using reply = int;
};
class sleeper : public sennit::actor<sleeper, poke> {
public:
    int on(poke) { return ++pokes_; }

private:
    int pokes_ = 0;
};

void idle_actors(double seconds) {
    constexpr int count = 100'000;
    sennit::runtime runtime;
    sennit::actor_group group(runtime);
    std::vector<sennit::actor_ref<sleeper>> all;
    all.reserve(count);
    const long before = resident_bytes();
    for (int i = 0; i < count; ++i) all.push_back(group.spawn<sleeper>());
    for (const auto& one : all) (void)one.ask(poke{}).get();
    const long memory = resident_bytes() - before;
    // The workers search for work before they park.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double start = processor_seconds();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const double used = processor_seconds() - start;
    std::printf(
        "%d idle actors: %.3f %% of one processor over %.1f s, %.0f bytes each with their state\n",
        count, 100 * used / seconds, seconds, static_cast<double>(memory) / count);
}

// ---- a ring with work

constexpr int ring = 503, tokens = 64;

struct token {
    std::int64_t hops;
    std::uint64_t value;
};
class node;
struct next_is {
    sennit::actor_ref<node> next;
};
class node : public sennit::actor<node, next_is, token> {
public:
    node(int steps, sennit::latch& over) : steps_(steps), over_(over) {}
    void on(next_is m) { next_ = m.next; }
    void on(token m) {
        for (int i = 0; i < steps_; ++i)
            m.value = (m.value ^ m.value >> 33) * 6364136223846793005u + 1;
        if (m.hops == 0)
            over_.count_down();
        else
            next_.tell(token{m.hops - 1, m.value});
    }

private:
    sennit::actor_ref<node> next_;
    int steps_;
    sennit::latch& over_;
};

// Nanoseconds for each hop, with all workers together: the median of seven rounds.
double hop_ns(unsigned workers, int steps) {
    const std::int64_t hops = std::max<std::int64_t>(500, 4'000'000 / (tokens * (1 + steps / 8)));
    std::array<double, 7> rounds;
    for (double& round : rounds) {
        sennit::runtime runtime({.workers = workers});
        sennit::actor_group group(runtime);
        sennit::latch over(tokens);
        std::vector<sennit::actor_ref<node>> all;
        for (int i = 0; i < ring; ++i)
            all.push_back(group.spawn<node>(
                {.initial_worker = static_cast<unsigned>(i) * workers / ring}, steps, over));
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i].tell(next_is{all[(i + 1) % all.size()]});
        const auto start = clock_type::now();
        for (std::size_t i = 0; i < tokens; ++i) all[i * ring / tokens].tell(token{hops, i});
        over.wait();
        const double took =
            std::chrono::duration<double, std::nano>(clock_type::now() - start).count();
        round = took / static_cast<double>(hops * tokens);
    }
    std::ranges::sort(rounds);
    return rounds[rounds.size() / 2];
}

void smallest_work() {
    std::printf("a ring of %d actors, %d tokens; ns a hop\n%10s %10s %10s %10s\n", ring, tokens,
                "work", "1 worker", "2 workers", "efficiency");
    const double nothing = hop_ns(1, 0);
    double smallest = 0;
    for (int steps = 0; steps <= 1024; steps = steps == 0 ? 4 : 2 * steps) {
        const double one = hop_ns(1, steps), two = hop_ns(2, steps);
        const double efficiency = one / (2 * two), work = std::max(0.0, one - nothing);
        std::printf("%10.0f %10.1f %10.1f %9.0f%%\n", work, one, two, 100 * efficiency);
        if (efficiency < 0.5) smallest = -1;
        if (efficiency >= 0.5 && smallest <= 0 && (steps == 0 || smallest < 0))
            smallest = std::max(work, 1.0);
    }
    if (smallest > 0)
        std::printf("two workers are 50 %% efficient from %.0f ns of work a hop on\n", smallest);
    else
        std::printf("two workers are not 50 %% efficient with the most work tried\n");
}

} // namespace

int main(int argc, char** argv) {
    const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 2;
    if (!(seconds > 0) || argc > 2) {
        std::fputs("usage: bench_actors [SECONDS]\n", stderr);
        return 2;
    }
    idle_actors(seconds);
    smallest_work();
}
