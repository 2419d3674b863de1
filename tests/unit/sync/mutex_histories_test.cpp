// SPDX-License-Identifier: Apache-2.0
// Records short random histories of every mutex. Then searches for a sequential order of the calls
// in which one bit, or a counter of readers, would give the same answers.
#include "linearizable.hpp"
#include "strands.hpp"

#include <sennit/detail/base/random.hpp>
#include <sennit/mutex.hpp>
#include <sennit/shared_mutex.hpp>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <random>
#include <system_error>
#include <type_traits>
#include <utility>

namespace {

using sennit::base::random;

enum class lock_call {
    lock,
    try_lock,
    try_lock_for,
    unlock,
    lock_shared,
    try_lock_shared,
    unlock_shared
};
enum class lock_answer { done, refused, deadlock, not_permitted };

// The model of a lock: an owner that has locked it `times` times, or a number of readers.
struct lock_model {
    struct call {
        lock_call what;
        int who;
        lock_answer answer;
        long begin, end; // Both come from one clock.

        bool shared() const { return what >= lock_call::lock_shared; }
        bool unlocks() const {
            return what == lock_call::unlock || what == lock_call::unlock_shared;
        }
        friend std::ostream& operator<<(std::ostream& out, const call& one) {
            constexpr const char* names[] = {"lock",         "try_lock",    "try_lock_for",
                                             "unlock",       "lock_shared", "try_lock_shared",
                                             "unlock_shared"};
            constexpr const char* answers[] = {"done", "refused", "deadlock", "not permitted"};
            return out << one.begin << '-' << one.end << ' ' << one.who << ' '
                       << names[static_cast<int>(one.what)] << ' '
                       << answers[static_cast<int>(one.answer)];
        }
    };
    struct state {
        int owner = -1;
        int times = 0; // The number of locks by the owner.
        int readers = 0;
        auto operator<=>(const state&) const = default;
    };
    bool recursive;
    // True if a reader is also refused while a writer waits. The standard permits both.
    bool readers_wait = false;

    bool apply(const call& one, state& now) const {
        const bool mine = now.owner == one.who;
        switch (one.answer) {
        case lock_answer::deadlock:
            return mine && !recursive;
        case lock_answer::not_permitted:
            return one.shared() ? now.readers == 0 : !mine;
        case lock_answer::refused:
            return now.owner != -1 || (one.shared() ? readers_wait : now.readers != 0);
        default:
            break;
        }
        if (one.unlocks()) {
            if (one.shared()) return now.readers-- > 0;
            if (!mine) return false;
            if (--now.times == 0) now.owner = -1;
            return true;
        }
        if (one.shared()) return now.owner == -1 && ++now.readers != 0;
        if (now.readers != 0 || (now.owner != -1 && !(mine && recursive))) return false;
        now.owner = one.who;
        return ++now.times != 0;
    }
};
using lock_history = std::vector<lock_model::call>;

TEST(lock_histories, model_distinguishes_possible_and_impossible_histories) {
    using enum lock_call;
    using enum lock_answer;
    const auto possible = [](lock_history history, bool recursive = false) {
        return linearizable(lock_model{recursive}, std::move(history));
    };
    EXPECT_TRUE(possible({{lock, 0, done, 1, 2}, {unlock, 0, done, 3, 4}, {lock, 1, done, 5, 6}}));
    EXPECT_FALSE(possible({{lock, 0, done, 1, 2}, {lock, 1, done, 3, 4}}));
    EXPECT_FALSE(possible({{lock, 0, done, 1, 2}, {lock, 1, done, 3, 6}, {unlock, 0, done, 7, 8}}));
    EXPECT_TRUE(possible({{lock, 0, done, 1, 2}, {lock, 1, done, 3, 6}, {unlock, 0, done, 5, 8}}));
    EXPECT_FALSE(possible({{try_lock, 0, refused, 1, 2}}));
    EXPECT_FALSE(
        possible({{lock, 0, done, 1, 2}, {unlock, 0, done, 3, 4}, {try_lock, 1, refused, 5, 6}}));
    EXPECT_TRUE(
        possible({{lock, 0, done, 1, 2}, {unlock, 0, done, 3, 6}, {try_lock, 1, refused, 4, 5}}));
    EXPECT_FALSE(possible({{lock, 0, done, 1, 2}, {unlock, 1, done, 3, 4}}));
    EXPECT_TRUE(possible({{lock, 0, done, 1, 2}, {unlock, 1, not_permitted, 3, 4}}));
    EXPECT_FALSE(possible({{lock, 0, done, 1, 2}, {unlock, 0, not_permitted, 3, 4}}));
    EXPECT_TRUE(possible({{lock, 0, done, 1, 2}, {lock, 0, deadlock, 3, 4}}));
    EXPECT_FALSE(possible({{lock, 0, done, 1, 2}, {lock, 0, done, 3, 4}}));
    const lock_history twice{{lock, 0, done, 1, 2},
                             {lock, 0, done, 3, 4},
                             {unlock, 0, done, 5, 6},
                             {lock, 1, done, 7, 8}};
    EXPECT_FALSE(possible(twice, true)); // The owner must unlock once more.
    EXPECT_TRUE(possible(
        {twice[0], twice[1], twice[2], {unlock, 0, done, 6, 7}, {lock, 1, done, 8, 9}}, true));
    EXPECT_TRUE(possible({{lock_shared, 0, done, 1, 2}, {lock_shared, 1, done, 3, 4}}));
    EXPECT_FALSE(possible({{lock_shared, 0, done, 1, 2}, {lock, 1, done, 3, 4}}));
    EXPECT_FALSE(possible({{lock, 0, done, 1, 2}, {try_lock_shared, 1, done, 3, 4}}));
    EXPECT_FALSE(possible({{lock_shared, 0, done, 1, 2}, {try_lock_shared, 1, refused, 3, 4}}));
    EXPECT_FALSE(possible({{unlock_shared, 0, done, 1, 2}}));
}

class lock_histories_of : public strands {
protected:
    static constexpr int actors = 4, max_calls = 3;

    template <class Mutex>
    void expect_possible(const char* name) {
        constexpr bool recursive = std::is_same_v<Mutex, sennit::recursive_timed_mutex>;
        const std::uint64_t seed = std::random_device()();
        random chance(seed);
        int overlapped = 0;
        const int rounds = race_rounds / (std::get<1>(GetParam()) >= strand::threads ? 200 : 40);
        for (int round = 0; round < rounds; ++round) {
            Mutex tested;
            std::vector<lock_history> logs(actors);
            std::vector<random> chances;
            for (int i = 0; i < actors; ++i) chances.emplace_back(chance.next());
            clock_ = 0;
            together(actors, [&](std::size_t me) {
                actor<Mutex> one{*this, tested, static_cast<int>(me), chances[me], logs[me]};
                for (std::uint32_t left = 1 + chances[me].below(max_calls); left > 0; --left)
                    one.act(recursive);
                one.leave();
            });
            lock_history all;
            for (const lock_history& log : logs) all.insert(all.end(), log.begin(), log.end());
            ASSERT_LE(all.size(), 31u);
            bool readers_wait = false; // True if a writer may have waited.
            for (const auto& one : all) {
                overlapped += one.end > one.begin + 1;
                readers_wait |= !one.shared() && !one.unlocks() && one.end > one.begin + 1;
            }
            ASSERT_TRUE(linearizable(lock_model{recursive, readers_wait}, all))
                << name << ", seed " << seed << ", round " << round << ": "
                << testing::PrintToString(all);
        }
        // Calls of other kinds of strands overlap only by chance.
        if (std::get<1>(GetParam()) == strand::fibers) {
            EXPECT_GT(overlapped, 0) << name;
        }
    }

private:
    std::atomic<long> clock_{0};

    template <class Mutex>
    struct actor {
        lock_histories_of& test;
        Mutex& tested;
        int me;
        random& chance;
        lock_history& log;
        int held = 0, read = 0;

        template <class F>
        lock_answer record(lock_call what, F call) {
            log.push_back({what, me, lock_answer::done, ++test.clock_, 0});
            lock_answer& answer = log.back().answer;
            try {
                if (!call()) answer = lock_answer::refused;
            } catch (const std::system_error& error) {
                answer = error.code() == std::errc::operation_not_permitted
                             ? lock_answer::not_permitted
                             : lock_answer::deadlock;
            }
            log.back().end = ++test.clock_;
            return answer;
        }
        void lock(lock_call what) {
            const auto done = record(what, [&] {
                if constexpr (requires { tested.try_lock_for(1ns); })
                    if (what == lock_call::try_lock_for)
                        return tested.try_lock_for(std::chrono::nanoseconds(chance.below(3000)));
                if (what != lock_call::lock) return tested.try_lock();
                tested.lock();
                return true;
            });
            held += done == lock_answer::done;
        }
        void unlock() {
            const auto done = record(lock_call::unlock, [&] { return tested.unlock(), true; });
            held -= done == lock_answer::done;
        }
        void act(bool recursive) {
            for (std::uint32_t k = chance.below(3); k > 0; --k) sennit::this_fiber::yield();
            const std::uint32_t form = chance.below(8);
            if constexpr (requires { tested.lock_shared(); }) {
                if (read > 0 || form >= 5) return act_shared(form);
            }
            if (form == 0) return unlock(); // Even if this strand does not own the lock.
            if (held > 0 && form < 4) return unlock();
            if (held > 0 && !recursive && form > 5) return; // A lock that must fail is rare.
            lock(form < 3   ? lock_call::try_lock
                 : form < 5 ? lock_call::try_lock_for
                            : lock_call::lock);
        }
        // A strand that reads takes no other lock, because it might wait for itself.
        void act_shared(std::uint32_t form) {
            if constexpr (requires { tested.lock_shared(); }) {
                if (read > 0) {
                    (void)record(lock_call::unlock_shared,
                                 [&] { return tested.unlock_shared(), true; });
                    --read;
                } else if (held == 0) {
                    const bool tries = form == 5;
                    const auto done =
                        record(tries ? lock_call::try_lock_shared : lock_call::lock_shared, [&] {
                            if (tries) return tested.try_lock_shared();
                            tested.lock_shared();
                            return true;
                        });
                    read += done == lock_answer::done;
                }
            }
        }
        void leave() {
            if (read > 0) act_shared(0);
            while (held > 0) unlock();
        }
    };
};
SENNIT_BY_STRANDS(lock_histories_of);

TEST_P(lock_histories_of, every_mutex_has_possible_histories) {
    expect_possible<sennit::mutex>("mutex");
    expect_possible<sennit::timed_mutex>("timed_mutex");
    expect_possible<sennit::recursive_timed_mutex>("recursive_timed_mutex");
    expect_possible<sennit::shared_timed_mutex>("shared_timed_mutex");
}

} // namespace
