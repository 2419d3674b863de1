// SPDX-License-Identifier: Apache-2.0
// Ends a test of many rounds in which a round hangs: prints the name of the round and a dump of
// every fiber of every runtime, then aborts the process. Without the alarm a hang gives no
// information.
#pragma once

#include "race_rounds.hpp"

#include <sennit/obs/dump.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

// The time limit of a round. A round takes well below 1 s, and 10 s on an overloaded machine.
#ifdef SENNIT_SLOW_TESTS
inline constexpr std::chrono::seconds stall_limit{120};
#else
inline constexpr std::chrono::seconds stall_limit{40};
#endif

class stall_alarm {
public:
    stall_alarm() = default;
    stall_alarm(const stall_alarm&) = delete;
    stall_alarm& operator=(const stall_alarm&) = delete;
    ~stall_alarm() {
        {
            const std::lock_guard held(mutex_);
            over_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    // Begins a round; the round before has ended. `what` is for the report.
    void begin_round(std::string what) {
        const std::lock_guard held(mutex_);
        what_ = std::move(what);
        ++rounds_;
    }

private:
    void watch() {
        std::unique_lock held(mutex_);
        for (long seen = -1; !over_;) {
            if (seen == rounds_) {
                std::cerr << "no progress for " << stall_limit.count() << " s: ";
                std::cerr << what_ << std::endl;
                sennit::obs::dump(std::cerr);
                std::cerr.flush();
                std::abort();
            }
            seen = rounds_;
            changed_.wait_for(held, stall_limit, [this] { return over_; });
        }
    }

    std::mutex mutex_; // guards the next three
    std::condition_variable changed_;
    std::string what_ = "no round has begun";
    long rounds_ = 0;
    bool over_ = false;
    std::thread thread_{[this] { watch(); }};
};
