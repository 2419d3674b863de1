// SPDX-License-Identifier: Apache-2.0
// beside-spawn, beside-reply: how long a short task waits beside long ones. Twice as many long
// fibers as workers compute for about 1 ms at a time and yield in between, so each worker always
// has more to do. One more fiber sleeps for 1 to 2 ms, again and again, and then needs the runtime
// for a moment:
//
//   beside-spawn   it starts a short fiber and sleeps again; the time from the start to the first
//                  step of the short fiber. No fiber joins the short one meanwhile, so no join can
//                  run it in place.
//   beside-reply   it sends a request over a channel and receives the reply over another one; the
//                  time of both. The fiber that replies has nothing else to do.
//
// Size is the number of such moments, and the answer is how many of them were served. The figures
// are the 50th, 99th and 99.9th percentiles in microseconds. The sleep is not part of any of them.
#pragma once

#include "../work.hpp"
#include "count.hpp"
#include "percentiles.hpp"
#include "sleepers.hpp"

#include <atomic>
#include <chrono>

namespace lab {

inline constexpr std::int64_t long_steps = 1'000 * steps_per_microsecond;

using std::chrono::steady_clock;
inline double microseconds_since(steady_clock::time_point start) {
    return std::chrono::duration<double, std::micro>(steady_clock::now() - start).count();
}
inline std::chrono::microseconds pause_before(std::int64_t moment) {
    return std::chrono::microseconds(1'000) + nap(moment) / 100;
}

// The long fibers, from the construction to the end of this object.
template <class R>
class long_fibers {
public:
    explicit long_fibers(unsigned workers) : all_(2 * std::size_t{workers}) {
        for (auto& one : all_)
            one = R::start([this] {
                std::uint64_t state = 1;
                while (!over_.load(std::memory_order_relaxed)) {
                    state = xorshift(state, long_steps);
                    R::yield();
                }
                sum_.fetch_add(state, std::memory_order_relaxed);
            });
    }
    ~long_fibers() {
        over_.store(true, std::memory_order_relaxed);
        for (auto& one : all_) one.join();
    }

private:
    std::atomic<bool> over_ = false;
    std::atomic<std::uint64_t> sum_ = 0; // uses the results of the work
    std::vector<typename R::fiber> all_;
};

template <class R>
struct beside : counted {
    unsigned workers;
    mutable std::vector<double> us; // the time of each moment
    beside(const std::string& size, unsigned threads)
        : counted(size), workers(threads), us(static_cast<std::size_t>(n)) {}
};

template <class R>
struct beside_spawn : beside<R> {
    using beside<R>::beside;

    // excerpt beside-spawn
    std::int64_t run() const {
        const long_fibers<R> busy(this->workers);
        std::atomic<std::int64_t> served = 0;
        R::start([this, &served] {
            std::vector<typename R::fiber> all;
            for (std::int64_t i = 0; i < this->n; ++i) {
                R::sleep_for(pause_before(i));
                double& waited = this->us[static_cast<std::size_t>(i)];
                all.push_back(R::start([this, &served, &waited, start = steady_clock::now()] {
                    waited = microseconds_since(start);
                    served.fetch_add(1, std::memory_order_relaxed);
                }));
            }
            for (auto& one : all) one.join();
        }).join();
        return served.load(std::memory_order_relaxed);
    }
    // excerpt end
    std::string extra() const {
        return percentiles(this->us,
                           {{"spawn_us_p50", 500}, {"spawn_us_p99", 990}, {"spawn_us_p999", 999}});
    }
};

template <class R>
struct beside_reply : beside<R> {
    using beside<R>::beside;

    // excerpt beside-reply
    std::int64_t run() const {
        const long_fibers<R> busy(this->workers);
        typename R::template buffered<std::int64_t> requests(2), replies(2);
        std::int64_t served = 0;
        typename R::fiber server = R::start([&requests, &replies] {
            for (std::int64_t got = requests.pop(); got >= 0; got = requests.pop())
                replies.push(got + 1);
        });
        R::start([this, &requests, &replies, &served] {
            for (std::int64_t i = 0; i < this->n; ++i) {
                R::sleep_for(pause_before(i));
                const auto start = steady_clock::now();
                requests.push(i);
                served += replies.pop() == i + 1;
                this->us[static_cast<std::size_t>(i)] = microseconds_since(start);
            }
            requests.push(-1);
        }).join();
        server.join();
        return served;
    }
    // excerpt end
    std::string extra() const {
        return percentiles(this->us,
                           {{"reply_us_p50", 500}, {"reply_us_p99", 990}, {"reply_us_p999", 999}});
    }
};

// The table of these workloads, for a class as of main.hpp.
template <class R>
struct beside_long_ones {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name == "beside-spawn") return measure<R>(beside_spawn<R>(size, threads), threads);
        if (name == "beside-reply") return measure<R>(beside_reply<R>(size, threads), threads);
        return std::nullopt;
    }
};

} // namespace lab
