// SPDX-License-Identifier: Apache-2.0
// Fibers that never leave a worker idle must not keep a new fiber from beginning, a woken fiber
// from continuing, a timer from firing, or an actor from handling a message.
//
// In each test busy fibers run until the event that they might hold up has happened. No test
// measures time. A broken promise hangs the test, and ctest's time limit ends the hang.
#include <sennit/detail/base/sanitizers.hpp>
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace starvation {
namespace {

using namespace std::chrono_literals;

// ---- pairs of fibers that are always ready ------------------------------------------------------

using stop_flag = std::atomic<bool>;

// A state that both fibers of a pair see, and a way to begin and to end the pair.
struct pair_state {
    pair_state(const stop_flag& stop, sennit::latch& ready) : over(stop), all_busy_(ready) {}
    virtual ~pair_state() = default;
    pair_state(const pair_state&) = delete;
    pair_state& operator=(const pair_state&) = delete;
    virtual void first() = 0;
    virtual void second() = 0;
    // Called by the first fiber in each round.
    void note_round() {
        if (!std::exchange(noted_, true)) all_busy_.count_down();
    }
    const stop_flag& over;

private:
    sennit::latch& all_busy_;
    bool noted_ = false;
};

template <std::size_t Capacity>
struct channel_pair final : pair_state {
    using pair_state::pair_state;
    void first() override {
        while (!over) {
            there.push(1);
            (void)back.pop();
            note_round();
        }
        there.close();
    }
    void second() override {
        while (there.pop()) back.push(2);
    }
    sennit::channel<int> there{Capacity}, back{Capacity};
};

struct yield_pair final : pair_state {
    using pair_state::pair_state;
    void first() override {
        while (!over) {
            sennit::this_fiber::yield();
            note_round();
        }
    }
    void second() override {
        while (!over) sennit::this_fiber::yield();
    }
};

// Each fiber yields while it holds the mutex, so that the other fiber blocks on it.
struct mutex_pair final : pair_state {
    using pair_state::pair_state;
    void first() override {
        while (!over) {
            lock_and_yield();
            note_round();
        }
    }
    void second() override {
        while (!over) lock_and_yield();
    }

private:
    void lock_and_yield() {
        const std::lock_guard held(mutex_);
        sennit::this_fiber::yield();
    }
    sennit::mutex mutex_;
};

// Each fiber waits for its turn, which the other fiber announces by the condition variable.
struct condition_pair final : pair_state {
    using pair_state::pair_state;
    void first() override {
        while (!over) {
            take_turn(true);
            note_round();
        }
        const std::lock_guard held(mutex_);
        ended_ = true;
        changed_.notify_all();
    }
    void second() override {
        while (take_turn(false)) {
        }
    }

private:
    bool take_turn(bool mine) {
        std::unique_lock held(mutex_);
        changed_.wait(held, [&] { return turn_ == mine || ended_; });
        turn_ = !mine;
        changed_.notify_one();
        return !ended_;
    }
    sennit::mutex mutex_;
    sennit::condition_variable changed_;
    bool turn_ = true, ended_ = false;
};

// Each fiber forks, which blocks the parent where the child is stolen, and yields in the child.
struct fork_pair final : pair_state {
    using pair_state::pair_state;
    void first() override {
        while (!over) {
            fork();
            note_round();
        }
    }
    void second() override {
        while (!over) fork();
    }

private:
    static void fork() {
        sennit::fork_join([] { sennit::this_fiber::yield(); }, [] { sennit::this_fiber::yield(); });
    }
};

// Two actors that send a ball to each other. The first fiber starts them and waits for their end.
class actor_pair final : public pair_state {
public:
    using pair_state::pair_state;
    void first() override {
        sennit::actor_group group;
        const auto a = group.spawn<player>(*this), b = group.spawn<player>(*this);
        a.tell(ball{b});
        ended.wait();
    }
    void second() override {}

private:
    class player;
    struct ball {
        sennit::actor_ref<player> from;
    };
    class player : public sennit::actor<player, ball> {
    public:
        explicit player(actor_pair& game) : game_(game) {}
        void on(ball m) {
            if (game_.over) return game_.ended.set();
            game_.note_round();
            m.from.tell(ball{self()});
        }

    private:
        actor_pair& game_;
    };
    sennit::event ended;
};

// A fiber that lets other fibers run only between pieces of work of about 100 us.
struct long_pieces final : pair_state {
    using pair_state::pair_state;
    void first() override {
        while (!over) {
            work();
            note_round();
        }
    }
    void second() override {
        while (!over) work();
    }

private:
    static void work() {
        for (int i = 0; i < 100'000; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
        sennit::this_fiber::yield();
    }
};

using make_pair = std::unique_ptr<pair_state> (*)(const stop_flag& over, sennit::latch& all_busy);
template <class Pair>
std::unique_ptr<pair_state> make(const stop_flag& over, sennit::latch& all_busy) {
    return std::make_unique<Pair>(over, all_busy);
}

// The largest crowd. It takes most of the time of a test. The sanitizers look for races and wrong
// accesses, which 8 pairs of fibers show as well as 64.
#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)
constexpr int largest_crowd = 8;
#else
constexpr int largest_crowd = 64;
#endif

struct kind {
    const char* name;
    make_pair make;
    int most_pairs = largest_crowd;
};
constexpr std::array kinds{kind{"unbuffered_channel", &make<channel_pair<0>>},
                           kind{"buffered_channel", &make<channel_pair<1>>},
                           kind{"yield", &make<yield_pair>}, kind{"mutex", &make<mutex_pair>},
                           kind{"condition_variable", &make<condition_pair>},
                           kind{"fork_join", &make<fork_pair>}, kind{"actors", &make<actor_pair>},
                           // Eight pairs are more fibers than workers. 64 pairs would take eight
                           // times as long.
                           kind{"long_pieces", &make<long_pieces>, 8}};

// Pairs that keep their runtime busy from `start` until `stop`.
class busy_pairs {
public:
    busy_pairs(const kind& how, int pairs) : all_busy_(pairs) {
        for (int i = 0; i < pairs; ++i) pairs_.push_back(how.make(over_, all_busy_));
    }
    void start() {
        for (auto& each : pairs_) {
            fibers_.emplace_back([&each] { each->first(); });
            fibers_.emplace_back([&each] { each->second(); });
        }
    }
    // Until each pair has completed a round.
    void wait_until_busy() { all_busy_.wait(); }
    void stop() { over_ = true; }
    void join() {
        for (auto& each : fibers_) each.join();
    }

private:
    std::atomic<bool> over_{false};
    sennit::latch all_busy_;
    std::vector<std::unique_ptr<pair_state>> pairs_;
    std::vector<sennit::fiber> fibers_;
};

// ---- events that must happen meanwhile ----------------------------------------------------------

struct setting {
    kind pairs;
    unsigned workers;
    sennit::scheduling policy;
    std::string name;
};
std::vector<setting> settings() {
    std::vector<setting> all;
    for (const kind& how : kinds) {
        const std::string name = how.name;
        using enum sennit::scheduling;
        for (const unsigned workers : {1u, 2u, 3u, 8u})
            all.push_back({how, workers, stealing, name + "_w" + std::to_string(workers)});
        all.push_back({how, 1, sharing, name + "_sharing"});
        all.push_back({how, 1, round_robin, name + "_round_robin"});
    }
    return all;
}

std::string name_of_setting(const testing::TestParamInfo<setting>& one) {
    return one.param.name;
}
class starvation : public testing::TestWithParam<setting> {
protected:
    // Calls `body(busy)` on a worker for each number of pairs that keep the workers busy.
    template <class F>
    static void for_each_crowd(F body) {
        const setting& how = GetParam();
        sennit::runtime runtime({.workers = how.workers, .policy = how.policy});
        for (const int pairs : {1, 2, 8, 64}) {
            if (pairs > how.pairs.most_pairs) break;
            busy_pairs busy(how.pairs, pairs);
            runtime.run([&] {
                if constexpr (std::is_invocable_v<F, busy_pairs&, sennit::runtime&>)
                    body(busy, runtime);
                else
                    body(busy);
            });
        }
    }
};
INSTANTIATE_TEST_SUITE_P(, starvation, testing::ValuesIn(settings()), name_of_setting);

TEST_P(starvation, fiber_begins_that_is_older_than_busy_fibers) {
    for_each_crowd([](busy_pairs& busy) {
        sennit::event began;
        sennit::fiber older([&] { began.set(); });
        busy.start();
        began.wait();
        busy.stop();
        busy.join();
        older.join();
    });
}

TEST_P(starvation, fiber_begins_that_is_younger_than_busy_fibers) {
    for_each_crowd([](busy_pairs& busy) {
        busy.start();
        busy.wait_until_busy();
        sennit::event began;
        sennit::fiber younger([&] { began.set(); });
        began.wait();
        busy.stop();
        busy.join();
        younger.join();
    });
}

TEST_P(starvation, fiber_begins_that_an_outside_thread_starts) {
    for_each_crowd([](busy_pairs& busy, sennit::runtime& runtime) {
        busy.start();
        busy.wait_until_busy();
        std::thread outside([&] {
            const sennit::fiber_attributes here{.runtime = &runtime};
            sennit::fiber(here, [&busy] { busy.stop(); }).join();
        });
        busy.join();
        sennit::blocking([&] { outside.join(); });
    });
}

TEST_P(starvation, bound_fiber_begins) {
    for_each_crowd([](busy_pairs& busy) {
        busy.start();
        busy.wait_until_busy();
        sennit::event began;
        sennit::fiber bound({.worker = 0u}, [&] { began.set(); });
        began.wait();
        busy.stop();
        busy.join();
        bound.join();
    });
}

TEST_P(starvation, each_fiber_of_a_crowd_begins_and_continues) {
    for_each_crowd([](busy_pairs& busy) {
        constexpr int many = 100;
        busy.start();
        busy.wait_until_busy();
        sennit::latch all_began(many), all_continued(many);
        std::vector<sennit::fiber> crowd;
        for (int i = 0; i < many; ++i)
            crowd.emplace_back([&] {
                all_began.arrive_and_wait();
                all_continued.count_down();
            });
        all_continued.wait();
        busy.stop();
        busy.join();
        for (auto& each : crowd) each.join();
    });
}

TEST_P(starvation, woken_fiber_continues) {
    for_each_crowd([](busy_pairs& busy) {
        sennit::event wake, woken;
        sennit::latch waits(1);
        sennit::fiber sleeper([&] {
            waits.count_down();
            wake.wait();
            woken.set();
        });
        waits.wait();
        busy.start();
        busy.wait_until_busy();
        wake.set();
        woken.wait();
        busy.stop();
        busy.join();
        sleeper.join();
    });
}

TEST_P(starvation, timer_fires) {
    for_each_crowd([](busy_pairs& busy) {
        sennit::event woken;
        sennit::fiber sleeper([&] {
            sennit::this_fiber::sleep_for(1ms);
            woken.set();
        });
        busy.start();
        woken.wait();
        busy.stop();
        busy.join();
        sleeper.join();
    });
}

TEST_P(starvation, time_limit_of_a_wait_ends_it) {
    for_each_crowd([](busy_pairs& busy) {
        busy.start();
        busy.wait_until_busy();
        sennit::event never;
        EXPECT_FALSE(never.wait_for(1ms));
        busy.stop();
        busy.join();
    });
}

struct question {
    using reply = int;
};
class answerer : public sennit::actor<answerer, question> {
public:
    int on(question) { return 42; }
};

TEST_P(starvation, new_actor_handles_its_message) {
    for_each_crowd([](busy_pairs& busy) {
        busy.start();
        busy.wait_until_busy();
        sennit::actor_group actors;
        EXPECT_EQ(actors.spawn<answerer>().ask(question{}).get(), 42);
        busy.stop();
        busy.join();
    });
}

TEST_P(starvation, actor_handles_a_message_from_outside) {
    for_each_crowd([](busy_pairs& busy) {
        sennit::actor_group actors;
        const auto target = actors.spawn<answerer>();
        busy.start();
        busy.wait_until_busy();
        std::thread outside([&] {
            EXPECT_EQ(target.ask(question{}).get(), 42);
            busy.stop();
        });
        busy.join();
        sennit::blocking([&] { outside.join(); });
    });
}

// ---- timers behind fibers that never let their worker run other fibers --------------------------

// Each round waits for the watchdog. On a machine that other programs keep busy, a round of threads
// that give way to them takes seconds.
constexpr int timer_rounds = 5;

class timer_with_workers : public testing::TestWithParam<unsigned> {};
std::string name_of_count(const testing::TestParamInfo<unsigned>& workers) {
    return std::string(1, 'w').append(std::to_string(workers.param));
}
INSTANTIATE_TEST_SUITE_P(, timer_with_workers, testing::Values(1u, 2u, 3u, 8u), name_of_count);

// The timers are armed before every worker spins.
TEST_P(timer_with_workers, fires_behind_fibers_that_spin) {
    sennit::runtime runtime({.workers = GetParam()});
    for (int round = 0; round < timer_rounds; ++round)
        runtime.run([&runtime] {
            constexpr int timers = 8;
            sennit::latch all_armed(timers);
            std::atomic<int> fired{0};
            std::vector<sennit::fiber> all;
            for (int i = 0; i < timers; ++i)
                all.emplace_back([&, i] {
                    all_armed.count_down();
                    sennit::this_fiber::sleep_for(i * 500us);
                    ++fired;
                });
            all_armed.wait();
            const auto spin = [&fired] {
                while (fired != timers) std::this_thread::yield();
            };
            for (unsigned i = 1; i < runtime.workers(); ++i) all.emplace_back(spin);
            spin();
            for (auto& each : all) each.join();
        });
}

// A spare worker arms the timer while every worker spins, and then spins as well.
TEST_P(timer_with_workers, fires_behind_fibers_that_spin_where_a_spare_worker_arms_it) {
    sennit::runtime runtime({.workers = GetParam()});
    for (int round = 0; round < timer_rounds; ++round)
        runtime.run([&runtime] {
            std::atomic<bool> fired{false};
            const auto spin = [&fired] {
                while (!fired) std::this_thread::yield();
            };
            std::vector<sennit::fiber> all;
            for (unsigned i = 1; i < runtime.workers(); ++i) all.emplace_back(spin);
            all.emplace_back([&] {
                sennit::fiber sleeper([&fired] {
                    sennit::this_fiber::sleep_for(1ms);
                    fired = true;
                });
                sennit::this_fiber::yield();
                spin();
                sleeper.join();
            });
            spin();
            for (auto& each : all) each.join();
        });
}

} // namespace
} // namespace starvation
