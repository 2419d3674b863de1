// SPDX-License-Identifier: Apache-2.0
// Actors keep their promises while many threads send, stop and spawn at the same time.
#include "race_rounds.hpp"
#include "sennit/actor.hpp"
#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/mutex.hpp"
#include "sennit/this_fiber.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace {

using sennit::actor_group;
using sennit::actor_ref;

constexpr int senders = 8;
constexpr int rounds = race_rounds * 3 / 10;

struct item {
    int from;
    int number;
};
struct count {
    using reply = int;
};

// Checks that one handler runs at a time and that the messages of each sender arrive in order.
// After every `blocks_every` messages the handler yields, so that its batch may continue on another
// thread. With 0 it never yields.
class sink : public sennit::actor<sink, item, count> {
public:
    explicit sink(int blocks_every) : blocks_every_(blocks_every) {}
    void on(item m) {
        const int inside = inside_.fetch_add(1);
        EXPECT_EQ(inside, 0);
        auto& last = last_[static_cast<std::size_t>(m.from)];
        EXPECT_EQ(m.number, last + 1) << "from " << m.from;
        last = m.number;
        ++handled_;
        if (blocks_every_ != 0 && handled_ % blocks_every_ == 0) sennit::this_fiber::yield();
        inside_.fetch_sub(1);
    }
    int on(count) { return handled_; }

private:
    const int blocks_every_;
    int handled_ = 0;
    std::array<int, 2 * senders> last_{};
    std::atomic<int> inside_{0};
};

struct go {};
// Sends numbers to all sinks, up to ten to each in one handler call, so that a thief sometimes
// steals the source between two calls.
class source : public sennit::actor<source, go> {
public:
    source(int me, std::vector<actor_ref<sink>> to) : me_(me), to_(std::move(to)) {}
    void on(go) {
        for (int i = 0; i < 10 && next_ <= rounds; ++i, ++next_)
            for (const auto& one : to_) one.tell(item{me_, next_});
        if (next_ <= rounds)
            self().tell(go{});
        else
            stop();
    }

private:
    int me_, next_ = 1;
    std::vector<actor_ref<sink>> to_;
};

class on_many_workers : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime runtime{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, on_many_workers, testing::Values(1u, 2u, 4u));

// Actors and plain threads send to the same sinks.
TEST_P(on_many_workers, messages_of_each_sender_stay_in_order_and_one_handler_runs_at_a_time) {
    for (const int blocks_every : {0, 7}) {
        actor_group group(runtime);
        std::vector<actor_ref<sink>> sinks;
        for (int i = 0; i < 3; ++i) sinks.push_back(group.spawn<sink>(blocks_every));
        actor_group sending(runtime);
        for (int i = 0; i < senders; ++i) sending.spawn<source>(i, sinks).tell(go{});
        std::vector<std::thread> threads;
        for (int i = senders; i < senders + 2; ++i)
            threads.emplace_back([&, i] {
                for (int k = 1; k <= rounds; ++k)
                    for (const auto& one : sinks) one.tell(item{i, k});
            });
        sending.join();
        for (auto& one : threads) one.join();
        for (const auto& one : sinks) EXPECT_EQ(one.ask(count{}).get(), (senders + 2) * rounds);
    }
}

// Checks that the messages of each sender arrive in order, and sends 100 numbered messages to the
// sink for each of them.
class echo : public sennit::actor<echo, item, count> {
public:
    echo(int me, actor_ref<sink> to) : me_(me), to_(to) {}
    void on(item m) {
        EXPECT_EQ(m.number, ++seen_[static_cast<std::size_t>(m.from)]) << "from " << m.from;
        for (int i = 0; i < times; ++i) to_.tell(item{me_, ++sent_});
    }
    int on(count) { return sent_; }
    static constexpr int times = 100;

private:
    int me_, sent_ = 0;
    std::array<int, 2> seen_{};
    actor_ref<sink> to_;
};

// Four actors flood one receiver, while a strand of the runtime and a thread send to the four. The
// runtime reschedules a flooding actor behind its receiver (src/actors/runtime/flood_detector.hpp).
// No message that the four send or receive is lost or overtakes another message of its sender.
TEST_P(on_many_workers, flooding_actors_keep_the_order_of_messages) {
    constexpr int echoes = 4, pieces = rounds / 10;
    actor_group group(runtime);
    const auto to = group.spawn<sink>(0);
    std::vector<actor_ref<echo>> between;
    for (int i = 0; i < echoes; ++i) between.push_back(group.spawn<echo>(i, to));
    std::thread other([&] {
        for (int k = 1; k <= pieces; ++k)
            for (const auto& one : between) one.tell(item{1, k});
    });
    runtime.run([&] {
        for (int k = 1; k <= pieces; ++k)
            for (const auto& one : between) one.tell(item{0, k});
    });
    other.join();
    for (const auto& one : between) EXPECT_EQ(one.ask(count{}).get(), 2 * pieces * echo::times);
    EXPECT_EQ(to.ask(count{}).get(), echoes * 2 * pieces * echo::times);
}

// ---- reuse of slots

struct whoami {
    using reply = int;
    int expected;
};
class shortlived : public sennit::actor<shortlived, whoami> {
public:
    explicit shortlived(int number) : number_(number) {}
    int on(whoami m) {
        EXPECT_EQ(m.expected, number_) << "a message for another actor";
        stop();
        return number_;
    }

private:
    int number_;
};

TEST_P(on_many_workers, stale_reference_never_reaches_new_actor) {
    const auto silent = sennit::set_dead_letter_handler(nullptr);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            actor_group group(runtime);
            std::vector<std::pair<actor_ref<shortlived>, int>> stale;
            for (int i = 0; i < rounds; ++i) {
                const int number = t * 1'000'000 + i;
                auto one = group.spawn<shortlived>(number);
                auto answer = one.ask(whoami{number});
                if (!stale.empty()) {
                    const auto& old = stale[static_cast<std::size_t>(i) % stale.size()];
                    old.first.tell(whoami{old.second}); // its own actor, or no actor
                }
                EXPECT_EQ(answer.get(), number);
                stale.emplace_back(one, number);
            }
            group.join();
        });
    for (auto& one : threads) one.join();
    sennit::set_dead_letter_handler(silent);
}

// ---- termination

class chatty;
struct pass {
    std::shared_ptr<int> load;
};
class chatty : public sennit::actor<chatty, pass, actor_ref<chatty>> {
public:
    void on(actor_ref<chatty> m) { next_ = m; }
    void on(pass m) {
        next_.tell(pass{std::make_shared<int>(*m.load + 1)});
        next_.tell(std::move(m));
        if (++seen_ % 50 == 0) group().spawn<chatty>().tell(pass{std::make_shared<int>(0)});
    }

private:
    actor_ref<chatty> next_;
    int seen_ = 0;
};

// Each message causes two, so that the load never ends by itself. The group ends all actors, and
// the contents of all messages are freed: AddressSanitizer checks that.
TEST_P(on_many_workers, group_ends_its_actors_under_load) {
    const auto silent = sennit::set_dead_letter_handler(nullptr);
    for (int i = 0; i < 5; ++i) {
        actor_group group(runtime);
        std::vector<actor_ref<chatty>> ring;
        for (int k = 0; k < 10; ++k) ring.push_back(group.spawn<chatty>());
        for (std::size_t k = 0; k < 10; ++k) ring[k].tell(ring[(k + 1) % 10]);
        sennit::event begun;
        for (const auto& one : ring) one.tell(pass{std::make_shared<int>(0)});
        group.stop();
        group.join();
        EXPECT_EQ(group.size(), 0u);
    }
    sennit::set_dead_letter_handler(silent);
}

TEST_P(on_many_workers, ask_that_races_with_stop_gets_answer_or_actor_down) {
    const auto silent = sennit::set_dead_letter_handler(nullptr);
    for (int i = 0; i < rounds / 10; ++i) {
        actor_group group(runtime);
        auto one = group.spawn<sink>(0);
        std::thread ends([&] { one.stop(); });
        auto answer = one.ask(count{}, std::chrono::seconds(30));
        EXPECT_TRUE(answer || answer.error() == sennit::ask_error::actor_down);
        ends.join();
    }
    sennit::set_dead_letter_handler(silent);
}

// ---- fairness

class loop : public sennit::actor<loop, go> {
public:
    explicit loop(std::shared_ptr<std::atomic<bool>> end) : end_(std::move(end)) {}
    void on(go) {
        if (*end_)
            stop();
        else
            self().tell(go{});
    }

private:
    std::shared_ptr<std::atomic<bool>> end_;
};

TEST(actor_fairness, actor_that_sends_to_itself_starves_no_other_task) {
    sennit::runtime runtime({.workers = 1});
    actor_group group(runtime);
    auto end = std::make_shared<std::atomic<bool>>(false);
    group.spawn<loop>(end).tell(go{});
    auto other = group.spawn<sink>(0);
    other.tell(item{0, 1});
    EXPECT_EQ(other.ask(count{}).get(), 1);
    bool ran = false;
    sennit::fiber({.runtime = &runtime}, [&] { ran = true; }).join();
    EXPECT_TRUE(ran);
    *end = true;
    other.stop();
    group.join();
}

// A handler that does not return occupies its worker. The other worker takes over the actor that
// prefers to run there.
TEST(actor_fairness, another_worker_handles_messages_for_actor_of_stuck_worker) {
    struct stuck : sennit::actor<stuck, go> {
        explicit stuck(std::atomic<int>& s) : state(s) {}
        void on(go) {
            state = 1;
            while (state != 2) std::this_thread::yield(); // yields the thread, but keeps the worker
        }
        std::atomic<int>& state;
    };
    std::array<std::atomic<int>, 2> states{};
    sennit::runtime runtime({.workers = 2});
    actor_group group(runtime);
    for (unsigned w = 0; w < 2; ++w) {
        std::atomic<int>& state = states[w];
        auto other = group.spawn<sink>({.initial_worker = w}, 0);
        auto one = group.spawn<stuck>({.worker = w}, state);
        one.tell(go{});
        while (state != 1) std::this_thread::yield();
        EXPECT_EQ(other.ask(count{}).get(), 0);
        state = 2;
    }
}

// ---- overload

TEST_P(on_many_workers, senders_wait_for_slow_receiver_and_lose_no_message) {
    actor_group group(runtime);
    auto slow = group.spawn<sink>({.mailbox = 4}, 3);
    std::vector<sennit::fiber> fibers;
    for (int i = 0; i < 4; ++i)
        fibers.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, [&, i] {
            for (int k = 1; k <= rounds / 3; ++k)
                EXPECT_EQ(slow.send(item{i, k}), sennit::send_status::sent);
        });
    for (auto& one : fibers) one.join();
    int sum = 0;
    for (;;) // the question may find the mailbox full
        if (auto answer = slow.ask(count{}, std::chrono::seconds(30))) {
            sum = *answer;
            break;
        }
    EXPECT_EQ(sum, 4 * (rounds / 3));
}

} // namespace
