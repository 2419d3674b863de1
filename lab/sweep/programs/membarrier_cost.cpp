// SPDX-License-Identifier: Apache-2.0
// The cost of a membarrier system call: to the calling thread, and to threads that compute
// meanwhile. Rows: one caller and several callers at once, beside more and more computing threads;
// a barrier for all processors and, where the kernel has it, for one processor.
//
//     membarrier_cost [MOST_THREADS]
#include "measure.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <thread>

using namespace sweep;

namespace {

// Numbers of linux/membarrier.h; older headers lack some of them.
enum : int {
    all_processors = 1 << 3,
    register_for_all = 1 << 4,
    one_processor = 1 << 7,
    register_for_one = 1 << 8,
};
constexpr unsigned flag_cpu = 1;

long barrier(int command, unsigned flags = 0, unsigned processor = 0) {
    return ::syscall(SYS_membarrier, command, flags, processor);
}

struct alignas(128) loop_count {
    std::atomic<std::uint64_t> loops{0};
};

struct measured {
    double p50_us, p99_us, per_second;
    double lost_ns; // by a computing thread, for each barrier that reached it
};

// One measurement: `callers` issue barriers for 120 ms beside `computing` threads.
class experiment {
public:
    experiment(const std::vector<unsigned>& list, unsigned callers, unsigned computing, int command)
        : list_(list), command_(command), counts_(computing), took_(callers) {}

    measured run() {
        std::vector<std::thread> computing;
        for (std::size_t i = 0; i < counts_.size(); ++i)
            computing.emplace_back([this, i] { compute_and_count(i); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const double undisturbed =
            rate([] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }).loops_per_ns;
        std::vector<std::thread> callers;
        for (std::size_t i = 0; i < took_.size(); ++i) callers.emplace_back([this, i] { call(i); });
        while (ready_.load() != took_.size()) std::this_thread::yield();
        const seen disturbed = rate([&] {
            go_ = true;
            for (std::thread& one : callers) one.join();
        });
        stop_ = true;
        for (std::thread& one : computing) one.join();
        return result(undisturbed, disturbed);
    }

private:
    struct seen {
        double loops_per_ns, elapsed_ns;
    };

    void compute_and_count(std::size_t i) {
        pin(list_, took_.size() + i);
        std::uint64_t n = 0, x = 1;
        while (!stop_.load(std::memory_order_relaxed)) {
            x = compute(16, x);
            counts_[i].loops.store(++n, std::memory_order_relaxed);
        }
        if (x == 42) std::puts(""); // keeps the computation
    }

    void call(std::size_t caller) {
        constexpr std::size_t most = 200'000;
        pin(list_, caller);
        took_[caller].reserve(most);
        ready_.fetch_add(1);
        while (!go_.load()) relax();
        const std::int64_t end = now_ns() + 120'000'000;
        std::size_t next = caller;
        for (std::int64_t now = now_ns(); now < end && took_[caller].size() < most;) {
            if (command_ == one_processor) {
                const std::size_t place = took_.size() + next++ % counts_.size();
                (void)barrier(command_, flag_cpu, list_[place % list_.size()]);
            } else {
                (void)barrier(command_);
            }
            took_[caller].push_back(us_since(now));
            now = now_ns();
        }
    }

    template <class Wait>
    seen rate(Wait wait) {
        const auto total = [this] {
            std::uint64_t n = 0;
            for (const loop_count& each : counts_) n += each.loops.load();
            return n;
        };
        const std::uint64_t before = total();
        const std::int64_t start = now_ns();
        wait();
        const auto elapsed = static_cast<double>(now_ns() - start);
        return {static_cast<double>(total() - before) / elapsed, elapsed};
    }

    measured result(double undisturbed, seen disturbed) const {
        std::vector<double> all;
        for (const auto& each : took_) all.insert(all.end(), each.begin(), each.end());
        const auto calls = static_cast<double>(all.size());
        const double hits = command_ == one_processor
                                ? calls / std::max<double>(1, static_cast<double>(counts_.size()))
                                : calls;
        const double lost =
            undisturbed > 0 && hits > 0
                ? (1 - disturbed.loops_per_ns / undisturbed) * disturbed.elapsed_ns / hits
                : 0;
        return {quantile(all, 0.5), quantile(all, 0.99), calls / disturbed.elapsed_ns * 1e9, lost};
    }

    const std::vector<unsigned>& list_;
    const int command_;
    std::vector<loop_count> counts_;
    std::vector<std::vector<double>> took_;
    std::atomic<bool> stop_{false}, go_{false};
    std::atomic<std::size_t> ready_{0};
};

void print(const std::vector<unsigned>& list, unsigned callers, unsigned computing, int command) {
    const measured seen = experiment(list, callers, computing, command).run();
    row("membarrier_cost")
        .add("reaches", command == one_processor ? "one processor" : "all")
        .add("callers", callers)
        .add("computing", computing)
        .add("p50_us", seen.p50_us)
        .add("p99_us", seen.p99_us)
        .add("per_second", seen.per_second)
        .add("lost_ns", seen.lost_ns)
        .print();
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<unsigned> list = processors();
    const auto all = static_cast<unsigned>(list.size());
    const unsigned most = std::min(all, count(argc, argv, 1, all));
    if (barrier(register_for_all) != 0) {
        std::fputs("membarrier_cost: the kernel refuses membarrier\n", stderr);
        return 1;
    }
    const bool has_one = barrier(register_for_one) == 0;
    print(list, 1, 0, all_processors);
    for (unsigned n = 1; n < most; n = next_count(n, most)) print(list, 1, n, all_processors);
    for (unsigned n = 2; n < most; n *= 2) print(list, n, most - n, all_processors);
    if (!has_one) return 0;
    for (unsigned n = 1; n < most; n = next_count(n, most)) print(list, 1, n, one_processor);
    if (most > 4) print(list, 4, most - 4, one_processor);
}
