// SPDX-License-Identifier: Apache-2.0
// Records short random histories of a channel. For each history, searches for an order of its calls
// that a bounded queue would show. In a rendezvous a push and a pop take effect together.
#include "linearizable.hpp"
#include "race_rounds.hpp"

#include <sennit/channel.hpp>
#include <sennit/detail/base/random.hpp>
#include <sennit/fiber.hpp>
#include <sennit/select.hpp>
#include <sennit/this_fiber.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::channel_status;
using sennit::base::random;

enum class kind { push, pop, close };
struct channel_call {
    kind what;
    int value; // the value of a push, or of a pop that got one
    channel_status answer;
    long begin, end; // times of one clock

    friend std::ostream& operator<<(std::ostream& out, const channel_call& one) {
        constexpr const char* names[] = {"push", "pop", "close"};
        constexpr const char* answers[] = {"success", "empty", "full", "timeout", "closed"};
        return out << one.begin << '-' << one.end << ' ' << names[static_cast<int>(one.what)] << ' '
                   << one.value << ' ' << answers[static_cast<int>(one.answer)];
    }
};
using call = channel_call;

struct bounded_queue {
    using call = channel_call;
    struct state {
        std::deque<int> queue;
        bool closed = false;
        auto operator<=>(const state&) const = default;
    };
    std::size_t capacity;

    bool apply(const call& one, state& now) const {
        if (one.what == kind::close) return now.closed = true;
        const bool pushes = one.what == kind::push;
        switch (one.answer) {
        case channel_status::success:
            if (pushes ? now.closed || now.queue.size() >= capacity
                       : now.queue.empty() || now.queue.front() != one.value)
                return false;
            if (pushes)
                now.queue.push_back(one.value);
            else
                now.queue.pop_front();
            return true;
        case channel_status::closed:
            return now.closed && (pushes || now.queue.empty());
        default: // the call would have to wait
            return !now.closed && (pushes ? now.queue.size() >= capacity : now.queue.empty());
        }
    }
    bool together(const call& push, const call& pop, state& now) const {
        constexpr auto success = channel_status::success;
        return capacity == 0 && !now.closed && push.what == kind::push && pop.what == kind::pop &&
               push.answer == success && pop.answer == success && push.value == pop.value;
    }
};

bool linearizable(std::vector<call> history, std::size_t capacity) {
    return ::linearizable(bounded_queue{capacity}, std::move(history));
}

TEST(linearizability, checker_accepts_possible_histories_and_refuses_impossible_ones) {
    using enum channel_status;
    const call push1{kind::push, 1, success, 1, 2}, push2{kind::push, 2, success, 3, 4};
    EXPECT_TRUE(linearizable(
        {push1, push2, {kind::pop, 1, success, 5, 6}, {kind::pop, 2, success, 7, 8}}, 2));
    EXPECT_FALSE(linearizable(
        {push1, push2, {kind::pop, 2, success, 5, 6}, {kind::pop, 1, success, 7, 8}}, 2));
    EXPECT_TRUE(linearizable(
        {push1, push2, {kind::pop, 2, success, 5, 8}, {kind::pop, 1, success, 6, 7}}, 2));
    // The queue has no room for the second push.
    EXPECT_FALSE(linearizable({push1, push2, {kind::pop, 1, success, 5, 6}}, 1));
    EXPECT_TRUE(linearizable({push1, push2, {kind::pop, 1, success, 0, 6}}, 1));
    // Two pops get one value.
    EXPECT_FALSE(
        linearizable({push1, {kind::pop, 1, success, 3, 4}, {kind::pop, 1, success, 5, 6}}, 2));
    EXPECT_FALSE(linearizable({push1, {kind::pop, 0, empty, 3, 4}}, 1));
    // The value is lost.
    EXPECT_FALSE(
        linearizable({push1, {kind::close, 0, success, 3, 4}, {kind::pop, 0, closed, 5, 6}}, 1));
    EXPECT_FALSE(
        linearizable({{kind::close, 0, success, 1, 2}, {kind::push, 1, success, 3, 4}}, 1));
    EXPECT_FALSE(linearizable({{kind::push, 1, closed, 1, 2}, {kind::close, 0, success, 3, 4}}, 1));
    EXPECT_FALSE(linearizable({{kind::push, 1, full, 1, 2}}, 1));
    EXPECT_FALSE(linearizable({push1}, 0)); // no pop took the value
    EXPECT_FALSE(linearizable({push1, {kind::pop, 1, success, 3, 4}}, 0));
    EXPECT_TRUE(linearizable({push1, {kind::pop, 1, success, 2, 4}}, 0));
    EXPECT_TRUE(linearizable({{kind::push, 1, full, 1, 2}, {kind::pop, 0, timeout, 3, 4}}, 0));
    EXPECT_FALSE(linearizable({{kind::close, 0, success, 1, 2}, {kind::pop, 0, empty, 3, 4}}, 0));
}

struct history_setting {
    bool threads;
    unsigned workers;
    std::size_t capacity;
};

class histories : public testing::TestWithParam<history_setting> {
protected:
    std::atomic<long> clock{0};

    // Makes one call in one of its forms. If `patient`, the call may wait.
    call act(sennit::channel<int>& on, kind what, int value, bool patient, random& chance) {
        call done{what, what == kind::pop ? 0 : value, channel_status::success, ++clock, 0};
        channel_status& answer = done.answer;
        const std::uint32_t form = chance.below(patient ? 5 : 3);
        if (what == kind::close) {
            on.close();
        } else if (what == kind::push) {
            if (form == 0) answer = on.try_push(value);
            if (form == 1) answer = on.push_for(int{value}, 0ns);
            if (form == 2)
                sennit::select(sennit::on_push(
                                   on, value, [] {}, [&] { answer = channel_status::closed; }),
                               sennit::otherwise([&] { answer = channel_status::full; }));
            if (form == 3) answer = on.push(value);
            if (form == 4)
                sennit::select(
                    sennit::on_push(on, value, [] {}, [&] { answer = channel_status::closed; }));
        } else {
            const auto take = [&](int got) { done.value = got; };
            if (form == 0) answer = on.try_pop(done.value);
            if (form == 1) answer = on.pop_for(done.value, 0ns);
            if (form == 2)
                sennit::select(sennit::on_pop(on, take, [&] { answer = channel_status::closed; }),
                               sennit::otherwise([&] { answer = channel_status::empty; }));
            if (form == 3) answer = on.pop(done.value);
            if (form == 4)
                sennit::select(sennit::on_pop(on, take, [&] { answer = channel_status::closed; }));
        }
        done.end = ++clock;
        return done;
    }
    static kind some_kind(random& chance) { return chance.below(2) == 0 ? kind::push : kind::pop; }
};

// Two strands may wait. The third strand does not wait, and finally closes the channel, so that no
// strand waits for ever.
TEST_P(histories, histories_of_a_channel_are_those_of_a_bounded_queue) {
    const auto [threads, workers, capacity] = GetParam();
    const std::uint64_t seed = std::random_device()();
    random chance(seed);
    sennit::runtime runtime({.workers = workers});
    int waited = 0, moved = 0;
    // Fewer rounds with threads: a thread that waits costs the system two switches.
    const int rounds = race_rounds / (threads ? 40 : 4);
    for (int round = 0; round < rounds; ++round) {
        sennit::channel<int> tested(capacity);
        std::vector<std::vector<call>> logs(3);
        const auto body = [&](int me, random mine) {
            std::vector<call>& log = logs[static_cast<std::size_t>(me)];
            for (int i = 1 + static_cast<int>(mine.below(8)); i > 0; --i) {
                for (std::uint32_t k = mine.below(3); k > 0; --k) sennit::this_fiber::yield();
                const bool last = me == 2 && (i == 1 || mine.below(16) == 0);
                log.push_back(
                    act(tested, last ? kind::close : some_kind(mine), 10 * me + i, me != 2, mine));
            }
        };
        if (threads) {
            std::vector<std::jthread> actors;
            for (int me = 0; me < 3; ++me) actors.emplace_back(body, me, random(chance.next()));
        } else {
            std::vector<sennit::fiber> actors;
            for (int me = 0; me < 3; ++me)
                actors.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, body, me,
                                    random(chance.next()));
            for (sennit::fiber& one : actors) one.join();
        }
        std::vector<call> history;
        for (const auto& log : logs) history.insert(history.end(), log.begin(), log.end());
        for (const call& one : history) {
            waited += one.end > one.begin + 1;
            moved += one.what == kind::pop && one.answer == channel_status::success;
        }
        ASSERT_TRUE(linearizable(history, capacity))
            << "seed " << seed << ", round " << round << ": " << testing::PrintToString(history);
    }
    EXPECT_GT(waited, 0); // calls overlapped
    EXPECT_GT(moved, 0);
}

std::vector<history_setting> settings() {
    std::vector<history_setting> all;
    for (const std::size_t capacity : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        for (const unsigned workers : {1u, 2u, 4u}) all.push_back({false, workers, capacity});
        all.push_back({true, 1, capacity});
    }
    return all;
}
INSTANTIATE_TEST_SUITE_P(all, histories, testing::ValuesIn(settings()), [](const auto& test) {
    return (test.param.threads ? std::string("threads")
                               : "fibers_w" + std::to_string(test.param.workers)) +
           "_c" + std::to_string(test.param.capacity);
});

} // namespace
