// SPDX-License-Identifier: Apache-2.0
// Random programs whose fibers wait for each other without leaving their threads: in loops, in
// system calls and in std::latch. They end only if the scheduler keeps its liveness promises.
//
// The promises hold as long as the runtime has a thread for each fiber that does not leave its own.
// So each such fiber claims a thread of a `thread_budget` first. A fiber that holds a claim waits
// only for fibers of its own program, none of which claims anything.
#pragma once

#include "random_test.hpp"

#include <sennit/sennit.hpp>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace liveness_programs {

// The threads of a runtime that its fibers may hold at one time.
class thread_budget {
public:
    explicit thread_budget(int threads) : most_(threads), free_(threads) {}
    int most() const noexcept { return most_; }

    class claim {
    public:
        // Blocks the fiber, but not its thread, until that many threads are free.
        claim(thread_budget& from, int threads) : from_(from), threads_(threads) {
            std::unique_lock held(from_.mutex_);
            from_.changed_.wait(held, [&] { return from_.free_ >= threads; });
            from_.free_ -= threads;
        }
        ~claim() {
            const std::lock_guard held(from_.mutex_);
            from_.free_ += threads_;
            from_.changed_.notify_all();
        }
        claim(const claim&) = delete;
        claim& operator=(const claim&) = delete;

    private:
        thread_budget& from_;
        const int threads_;
    };

private:
    const int most_;
    sennit::mutex mutex_;
    sennit::condition_variable changed_;
    int free_; // guarded by mutex_
};

// A runtime for random programs, and the counts that are checked at the end.
struct world {
    // `threads` is the least number of threads that the runtime has, including spare workers. One
    // thread stays free for the fibers that the fibers with a claim wait for.
    world(sennit::runtime& runtime, int threads) : on(runtime), budget(std::max(1, threads - 1)) {}
    // Every fiber that was started has run, and no closure is left.
    bool complete() const { return ran == started && closures == 0 && wrong == 0; }

    sennit::runtime& on;
    thread_budget budget;
    unsigned least_workers = 1, max_workers = 1; // the range of the program's resizes
    std::atomic<long> started{0}, ran{0}, closures{0}, wrong{0};
};

// Fibers that are counted, and joined at the end in random order.
class team {
public:
    team(world& all, dice& with) : all_(all), with_(with) {}
    ~team() { join(); }
    team(const team&) = delete;
    team& operator=(const team&) = delete;

    template <class F>
    void start(F body) {
        start({}, std::move(body));
    }
    template <class F>
    void start(sennit::fiber_attributes how, F body) {
        how.runtime = &all_.on;
        ++all_.started;
        fibers_.emplace_back(how, counted<F>(all_, std::move(body)));
    }
    void join() {
        while (!fibers_.empty()) {
            const auto last = static_cast<int>(fibers_.size()) - 1;
            std::swap(fibers_.back(), fibers_[static_cast<std::size_t>(with_.from(0, last))]);
            fibers_.back().join();
            fibers_.pop_back();
        }
    }

private:
    template <class F>
    struct counted {
        counted(world& of, F body) : all(&of), what(std::move(body)) { ++all->closures; }
        counted(const counted& other) : all(other.all), what(other.what) { ++all->closures; }
        counted(counted&& from) noexcept : all(from.all), what(std::move(from.what)) {
            ++all->closures; // the moved-from closure counts until its own end
        }
        ~counted() { --all->closures; }
        void operator()() {
            ++all->ran;
            what();
        }
        world* all;
        F what;
    };
    world& all_;
    dice& with_;
    std::vector<sennit::fiber> fibers_;
};

inline void pause(dice& with) {
    switch (with.from(0, 7)) {
    case 0:
        return sennit::this_fiber::sleep_for(std::chrono::microseconds(with.from(0, 200)));
    case 1:
    case 2:
        return sennit::this_fiber::yield();
    default:
        return;
    }
}

// ---- fibers that hold their threads ------------------------------------------------------------

// Keeps the caller's thread until `members` callers have come.
class meeting {
public:
    enum class way { spin, yield_thread, block };
    meeting(int members, way how) : members_(members), how_(how), all_here_(members) {}
    void arrive_and_wait() {
        if (how_ == way::block) return all_here_.arrive_and_wait();
        ++here_;
        while (here_ < members_)
            if (how_ == way::yield_thread) std::this_thread::yield();
    }
    static way any(dice& with) {
        constexpr std::array ways{way::spin, way::yield_thread, way::block};
        return ways[static_cast<std::size_t>(with.from(0, 2))];
    }

private:
    const int members_;
    const way how_;
    std::latch all_here_;
    std::atomic<int> here_{0};
};

// Fibers that wait until all of them have begun. Either each fiber starts the next one, or the
// program starts all.
inline void group(world& all, dice& with) {
    const int members = with.from(1, all.budget.most());
    const bool each_starts_next = with.one_in(2);
    const thread_budget::claim held(all.budget, members);
    meeting here(members, meeting::any(with));
    std::vector<std::unique_ptr<team>> teams; // one for each member that starts another
    for (int i = 0; i < members; ++i) teams.push_back(std::make_unique<team>(all, with));
    struct chain {
        void member(int i) {
            team& own = *teams[static_cast<std::size_t>(i)];
            if (i + 1 < members) own.start([this, i] { member(i + 1); });
            here.arrive_and_wait();
        }
        int members;
        meeting& here;
        std::vector<std::unique_ptr<team>>& teams;
    } all_members{members, here, teams};
    team own(all, with);
    if (each_starts_next)
        own.start([&] { all_members.member(0); });
    else
        for (int i = 0; i < members; ++i) own.start([&here] { here.arrive_and_wait(); });
    own.join();
    for (auto& each : teams) each->join();
}

// Each fiber but the last waits until the next fiber has begun, which a third fiber starts.
inline void chain_of_waits(world& all, dice& with) {
    const int members = with.from(1, all.budget.most());
    const auto count = static_cast<std::size_t>(members);
    const bool upwards = with.one_in(2);
    const thread_budget::claim held(all.budget, members);
    std::vector<std::atomic<bool>> begun(count);
    std::vector<std::unique_ptr<team>> odd;
    sennit::latch ended(members);
    const auto wait_for_next = [&](std::size_t i) {
        begun[i] = true;
        while (i + 1 < count && !begun[i + 1]) std::this_thread::yield();
        ended.count_down();
    };
    const std::size_t evens = count / 2 + 1;
    for (std::size_t i = 0; i < evens; ++i) odd.push_back(std::make_unique<team>(all, with));
    team even(all, with);
    for (std::size_t k = 0; k < evens; ++k)
        even.start([&, half = upwards ? k : evens - 1 - k] {
            const std::size_t i = 2 * half;
            if (i > 0) odd[half]->start([&wait_for_next, i] { wait_for_next(i - 1); });
            if (i < count) wait_for_next(i);
        });
    ended.wait(); // a join would run the joined fiber first
    even.join();
    for (auto& each : odd) each->join();
}

inline void poll_with_timeout(world& all, dice& with) {
    const thread_budget::claim held(all.budget, 1);
    (void)::poll(nullptr, 0, with.from(0, 3));
}

// A fiber reads from a pipe that another fiber writes, after a pause of its own.
inline void read_from_pipe(world& all, dice& with) {
    const thread_budget::claim held(all.budget, 1);
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) {
        ++all.wrong;
        return;
    }
    const char sent = static_cast<char>(with.from(1, 100));
    std::atomic<bool> reads{false};
    const bool late = with.one_in(2);
    {
        team both(all, with);
        const auto write = [&, mine = dice(with.seed())]() mutable {
            while (late && !reads) sennit::this_fiber::yield();
            pause(mine);
            if (::write(ends[1], &sent, 1) != 1) ++all.wrong;
        };
        const bool reader_starts_writer = with.one_in(2);
        team inner(all, with);
        both.start([&] {
            if (reader_starts_writer) inner.start(write);
            reads = true;
            char got = 0;
            if (::read(ends[0], &got, 1) != 1 || got != sent) ++all.wrong;
        });
        if (!reader_starts_writer) both.start(write);
        both.join();
    }
    ::close(ends[0]);
    ::close(ends[1]);
}

// A fiber blocks its thread on a latch that another fiber opens at the end of a way through
// channels, timers and wake-ups.
inline void wait_on_latch(world& all, dice& with) {
    const thread_budget::claim held(all.budget, 1);
    std::latch open(1);
    sennit::channel<int> line(static_cast<std::size_t>(with.from(0, 1)));
    sennit::event passed;
    team three(all, with), inner(all, with);
    three.start([&] {
        inner.start([&] {
            (void)line.pop();
            passed.set();
        });
        open.wait();
    });
    three.start([&, mine = dice(with.seed())]() mutable {
        pause(mine);
        line.push(1);
    });
    three.start([&] {
        passed.wait();
        open.count_down();
    });
    three.join();
    inner.join();
}

// A fiber keeps its thread while it holds a mutex that other fibers want.
inline void block_in_mutex(world& all, dice& with) {
    const thread_budget::claim held(all.budget, 1);
    sennit::mutex mutex;
    std::atomic<bool> begun{false};
    long entries = 0;
    const int rivals = with.from(1, 6);
    {
        team fibers(all, with);
        fibers.start([&] {
            const std::lock_guard in(mutex);
            while (!begun) std::this_thread::yield();
            ++entries;
        });
        for (int i = 0; i < rivals; ++i)
            fibers.start([&] {
                begun = true;
                const std::lock_guard in(mutex);
                ++entries;
            });
    }
    if (entries != rivals + 1) ++all.wrong;
}

struct go {};
class attendant : public sennit::actor<attendant, go> {
public:
    explicit attendant(meeting& here) : here_(here) {}
    void on(go) {
        here_.arrive_and_wait();
        stop();
    }

private:
    meeting& here_;
};

// Actors whose handlers keep their threads until all of them run.
inline void group_of_actors(world& all, dice& with) {
    const int members = with.from(1, all.budget.most());
    const thread_budget::claim held(all.budget, members);
    meeting here(members, meeting::any(with));
    sennit::actor_group actors(all.on);
    for (int i = 0; i < members; ++i) actors.spawn<attendant>(here).tell(go{});
    actors.join();
}

// A child process that ends at once.
inline void fork_child(world& all, dice&) {
    const thread_budget::claim held(all.budget, 1);
    const pid_t child = ::fork();
    if (child == 0) ::syscall(SYS_exit_group, 0); // no destructors, and no locks
    int status = -1;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) ++all.wrong;
}

// A runtime that lives only for one group. Its destructor keeps the caller's thread.
inline void brief_runtime(world& all, dice& with) {
    const thread_budget::claim held(all.budget, 1);
    const auto workers = static_cast<unsigned>(with.from(1, 2)), spares = 2u;
    sennit::runtime brief({.workers = workers, .max_spare_workers = spares});
    world inside(brief, static_cast<int>(workers + spares));
    brief.run([&] { group(inside, with); });
    if (!inside.complete()) ++all.wrong;
}

// ---- fibers that leave their threads -----------------------------------------------------------

// Pairs of fibers talk over channels until two new fibers have begun, one older than the pairs.
inline void talk(world& all, dice& with) {
    const int pairs = with.from(1, 8);
    const auto capacity = static_cast<std::size_t>(with.from(0, 1));
    std::atomic<int> begun{0};
    using line = sennit::channel<int>;
    std::vector<std::array<std::unique_ptr<line>, 2>> lines;
    for (int i = 0; i < pairs; ++i)
        lines.push_back({std::make_unique<line>(capacity), std::make_unique<line>(capacity)});
    team fibers(all, with);
    fibers.start([&begun] { ++begun; });
    for (auto& [there, back] : lines) {
        fibers.start([&begun, &there = *there, &back = *back] {
            while (begun < 2) {
                there.push(1);
                (void)back.pop();
            }
            there.close();
        });
        fibers.start([&there = *there, &back = *back] {
            while (there.pop()) back.push(1);
        });
    }
    fibers.start([&begun] { ++begun; });
    fibers.join();
}

inline void sleepers(world& all, dice& with) {
    team fibers(all, with);
    for (int i = with.from(1, 20); i > 0; --i)
        fibers.start([&all, time = std::chrono::microseconds(with.from(0, 3'000))] {
            const auto until = std::chrono::steady_clock::now() + time;
            sennit::this_fiber::sleep_until(until);
            if (std::chrono::steady_clock::now() < until) ++all.wrong;
        });
    fibers.join();
}

struct ball {
    int number, hops;
};
class runner : public sennit::actor<runner, ball> {
public:
    struct game {
        std::vector<sennit::actor_ref<runner>> ring;
        std::vector<std::unique_ptr<sennit::event>> home; // one for each ball
    };
    explicit runner(game& all) : all_(all) {}
    void on(ball m) {
        if (m.hops == 0) return all_.home[static_cast<std::size_t>(m.number)]->set();
        const auto next = static_cast<std::size_t>(m.hops) % all_.ring.size();
        all_.ring[next].tell(ball{m.number, m.hops - 1});
    }

private:
    game& all_;
};

// Actors pass balls around.
inline void ring_of_actors(world& all, dice& with) {
    runner::game game;
    sennit::actor_group actors(all.on);
    const int runners = with.from(1, 8), balls = with.from(1, 4);
    for (int i = 0; i < runners; ++i) game.ring.push_back(actors.spawn<runner>(game));
    for (int i = 0; i < balls; ++i) game.home.push_back(std::make_unique<sennit::event>());
    for (int i = 0; i < balls; ++i) game.ring.front().tell(ball{i, with.from(0, 200)});
    for (auto& each : game.home) each->wait();
}

// Fibers bound to a permanent worker. No thread can take over that worker, so no claim waits for
// them.
inline void bound_fibers(world& all, dice& with) {
    team fibers(all, with);
    const auto last = static_cast<int>(all.least_workers) - 1;
    for (int i = with.from(1, 6); i > 0; --i) {
        const auto worker = static_cast<unsigned>(with.from(0, last));
        fibers.start({.worker = worker}, [mine = dice(with.seed())]() mutable {
            for (int k = mine.from(0, 4); k > 0; --k) pause(mine);
        });
    }
    fibers.join();
}

inline void forks(world& all, dice& with) {
    const int times = with.from(1, 20);
    team fibers(all, with);
    for (int i = with.from(1, 4); i > 0; --i)
        fibers.start([&all, times] {
            for (int k = 0; k < times; ++k) {
                auto [a, b] = sennit::fork_join([=] { return k; },
                                                [=] {
                                                    sennit::this_fiber::yield();
                                                    return 2 * k;
                                                });
                if (a + b != 3 * k) ++all.wrong;
            }
        });
    fibers.join();
}

inline void resize(world& all, dice& with) {
    const auto least = static_cast<int>(all.least_workers);
    const auto most = static_cast<int>(all.max_workers);
    if (most > least) all.on.resize(static_cast<unsigned>(with.from(least, most)));
}

// ---- random trees of all of them ---------------------------------------------------------------

using program = void (*)(world&, dice&);
inline constexpr std::array programs{
    &group,          &chain_of_waits,  &poll_with_timeout, &read_from_pipe, &wait_on_latch,
    &block_in_mutex, &group_of_actors, &fork_child,        &brief_runtime,  &talk,
    &sleepers,       &ring_of_actors,  &bound_fibers,      &forks,          &resize};

inline void any_program(world& all, dice& with) {
    const int last = static_cast<int>(programs.size()) - 1;
    programs[static_cast<std::size_t>(with.from(0, last))](all, with);
}

inline void tree(world& all, dice& with, int depth) {
    if (depth == 0) return any_program(all, with);
    team children(all, with);
    for (int i = with.from(1, 4); i > 0; --i) {
        children.start([&all, depth, seed = with.seed()] {
            dice mine(seed);
            tree(all, mine, depth - 1);
        });
        pause(with);
    }
    children.join();
}

} // namespace liveness_programs
