// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <sched.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <deque>
#include <random>
#include <system_error>
#include <utility>

namespace lab::io {

namespace {

struct entry {
    clock::duration at; // After the start.
    bool heavy;
};

// Poisson arrivals: the gaps are exponential, so requests come in clusters as those of independent
// clients do. Equal in every run.
std::vector<entry> timetable(const open_loop& of) {
    std::mt19937_64 random(20'261'128);
    std::vector<entry> all(of.requests);
    const auto heavy =
        static_cast<std::size_t>(std::llround(of.heavy_part * static_cast<double>(of.requests)));
    for (std::size_t i = 0; i < heavy; ++i) all[i].heavy = true;
    std::shuffle(all.begin(), all.end(), random);
    double at = 0;
    for (entry& one : all) {
        const double uniform = (static_cast<double>(random() >> 11) + 1) * 0x1p-53; // (0, 1]
        at -= std::log(uniform) / of.per_second;
        one.at = std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(at));
    }
    return all;
}

// A timer of the system that makes a descriptor readable.
class alarm_clock {
public:
    alarm_clock() : descriptor_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
        if (descriptor_ < 0) refuse("timerfd_create");
    }
    ~alarm_clock() { ::close(descriptor_); }
    alarm_clock(const alarm_clock&) = delete;
    alarm_clock& operator=(const alarm_clock&) = delete;

    int descriptor() const noexcept { return descriptor_; }
    // steady_clock has the zero of CLOCK_MONOTONIC.
    void set(clock::time_point to) {
        const auto since =
            std::chrono::duration_cast<std::chrono::nanoseconds>(to.time_since_epoch());
        itimerspec when{};
        when.it_value.tv_sec = static_cast<time_t>(since.count() / 1'000'000'000);
        when.it_value.tv_nsec = static_cast<long>(since.count() % 1'000'000'000);
        if (::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &when, nullptr) != 0)
            refuse("timerfd_settime");
    }
    void clear() {
        std::uint64_t expirations = 0;
        if (::read(descriptor_, &expirations, sizeof expirations) < 0 && errno != EAGAIN)
            refuse("reading a timer");
    }

private:
    int descriptor_;
};

// While it lives, this thread runs as soon as it can, as a client with a processor of its own does:
// with a real-time priority. Where the system refuses that, `late` tells how late the thread was.
class real_time {
public:
    real_time() {
        const sched_param lowest{.sched_priority = 1};
        has_ = ::sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
    }
    ~real_time() {
        const sched_param none{};
        if (has_) ::sched_setscheduler(0, SCHED_OTHER, &none);
    }
    real_time(const real_time&) = delete;
    real_time& operator=(const real_time&) = delete;

private:
    bool has_;
};

class running {
public:
    running(const open_loop& load, connections& over)
        : load_(load), over_(over), table_(timetable(load)), start_() {
        over.watch_alarm(alarm_.descriptor());
        for (std::size_t i = 0; i < over.size(); ++i) free_.push_back(i);
        message work{};
        work[0] = load.heavy_steps;
        work[1] = 1;
        heavy_answer_ = reply_of_mixed(work)[1];
    }

    open_loop::result run() {
        start_ = clock::now();
        while (done_ < table_.size()) {
            send_due();
            if (next_ < table_.size() && !free_.empty()) alarm_.set(start_ + table_[next_].at);
            for (const std::size_t index : over_.wait()) {
                if (index == connections::alarm)
                    alarm_.clear();
                else if (over_.receive(over_[index]))
                    finish(index);
            }
        }
        return std::move(result_);
    }

private:
    void send_due() {
        for (; next_ < table_.size(); ++next_) {
            const clock::time_point now = clock::now(), due = start_ + table_[next_].at;
            if (due > now) return;
            if (free_.empty()) {
                waits_ = true;
                return;
            }
            if (!std::exchange(waits_, false)) result_.late.push_back(nanoseconds(now - due));
            send(free_.front(), table_[next_].heavy, due);
            free_.pop_front();
        }
    }
    void send(std::size_t index, bool heavy, clock::time_point due) {
        connection& on = over_[index];
        message request = over_.fresh();
        request[0] = heavy ? load_.heavy_steps : 0;
        request[1] = 1;
        message expected = request;
        if (heavy) expected[1] = heavy_answer_;
        on.begin = due;
        on.kind = heavy;
        over_.send(on, request, expected);
    }
    void finish(std::size_t index) {
        const connection& one = over_[index];
        (one.kind == 0 ? result_.light : result_.heavy)
            .push_back(nanoseconds(clock::now() - one.begin));
        free_.push_back(index);
        ++done_;
    }

    const open_loop& load_;
    connections& over_;
    alarm_clock alarm_;
    const std::vector<entry> table_;
    std::deque<std::size_t> free_; // The connection that has been free for the longest comes first.
    std::size_t next_ = 0, done_ = 0;
    bool waits_ = false; // The next request is due and waits for a connection.
    std::uint64_t heavy_answer_ = 0;
    clock::time_point start_;
    open_loop::result result_;
};

} // namespace

open_loop::result open_loop::run(connections& over) const {
    running load(*this, over);
    const real_time priority;
    return load.run();
}

} // namespace lab::io
