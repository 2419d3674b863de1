// SPDX-License-Identifier: Apache-2.0
// Events of futures that happen at one moment: value and deadline, value and cancellation, the end
// of the wait and the end of the state.
#include "support.hpp"

#include <sennit/cancelled.hpp>
#include <sennit/detail/core/cancel_scope.hpp>
#include <sennit/detail/core/strand.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::future;
using sennit::future_status;
using sennit::promise;
namespace sched = sennit::sched;

constexpr int rounds = 10'000;

class race : public with_workers {};
SENNIT_FOR_WORKERS(race);

int get_with_impatience(future<int>& wanted, int round) {
    while (wanted.wait_for(std::chrono::nanoseconds(round % 64 * 200)) == future_status::timeout)
        sched::yield();
    return wanted.get();
}

TEST_P(race, race_of_value_and_deadline_loses_no_value_in_a_fiber) {
    runtime.run([] {
        for (int round = 0; round < rounds; ++round) {
            promise<int> made;
            future<int> wanted = made.get_future();
            const sennit::fiber setter([&] {
                for (int i = 0; i < round % 4; ++i) sched::yield();
                made.set_value(round);
            });
            ASSERT_EQ(get_with_impatience(wanted, round), round);
        }
    });
}

TEST_P(race, race_of_value_and_deadline_loses_no_value_in_a_thread) {
    for (int round = 0; round < rounds; ++round) {
        promise<int> made;
        future<int> wanted = made.get_future();
        const future<void> setter =
            runtime.run([&] { return sennit::async([&] { made.set_value(round); }); });
        ASSERT_EQ(get_with_impatience(wanted, round), round);
        setter.wait();
    }
}

// The fiber that has seen the value destroys the promise, while set_value may not have returned
// yet.
TEST_P(race, promise_and_state_may_end_before_set_value_returns) {
    runtime.run([] {
        for (int round = 0; round < rounds; ++round) {
            auto made = std::make_unique<promise<counted>>();
            future<counted> wanted = made->get_future();
            sennit::fiber setter([&where = *made, round] { where.set_value(counted(round)); });
            if (round % 3 == 0) sched::yield();
            ASSERT_EQ(wanted.get().value, round);
            made.reset();
            setter.join();
        }
    });
}

TEST_P(race, futures_may_be_dropped_while_their_values_are_set) {
    runtime.run([] {
        for (int round = 0; round < rounds; ++round) {
            auto made = std::make_unique<promise<counted>>();
            std::optional<sennit::shared_future<counted>> wanted = made->get_future().share();
            sennit::fiber setter([own = std::move(made), round]() mutable {
                if (round % 2) own->set_value(counted(round));
                own.reset();
            });
            if (round % 3 == 0) wanted->wait();
            wanted.reset();
            setter.join();
        }
    });
}

// While it lives, the running strand is in `scope`.
class inside {
public:
    explicit inside(sched::cancel_scope& scope)
        : outer_(std::exchange(sched::current_strand()->scope, &scope)) {}
    ~inside() { sched::current_strand()->scope = outer_; }
    inside(const inside&) = delete;

private:
    sched::cancel_scope* const outer_;
};

class cancellation : public with_workers {};
SENNIT_FOR_WORKERS(cancellation);

TEST_P(cancellation, cancellation_ends_every_blocking_call_and_leaves_the_future_valid) {
    runtime.run([] {
        promise<int> made;
        future<int> wanted = made.get_future();
        sched::cancel_scope scope(nullptr);
        scope.cancel();
        {
            const inside cancelled(scope);
            EXPECT_THROW(wanted.get(), sennit::cancelled);
            EXPECT_THROW(wanted.wait(), sennit::cancelled);
            EXPECT_THROW((void)wanted.wait_for(1h), sennit::cancelled);
            EXPECT_THROW((void)wanted.wait_until(std::chrono::steady_clock::now() + 1h),
                         sennit::cancelled);
            EXPECT_THROW((void)wanted.get_exception_ptr(), sennit::cancelled);
            EXPECT_THROW(sennit::wait_all(wanted), sennit::cancelled);
            EXPECT_EQ(wanted.wait_for(0s), future_status::timeout); // does not block
        }
        EXPECT_TRUE(wanted.valid());
        made.set_value(3);
        const inside cancelled(scope);
        EXPECT_EQ(wanted.get(), 3); // nothing to wait for
    });
}

TEST_P(cancellation, cancellation_drops_futures_that_wait_all_values_was_given) {
    promise<counted> made;
    runtime.run([&] {
        sched::cancel_scope scope(nullptr);
        scope.cancel();
        const inside cancelled(scope);
        std::vector<future<counted>> parts;
        parts.push_back(made.get_future());
        parts.push_back(sennit::make_ready_future(counted(1)));
        EXPECT_THROW((void)sennit::wait_all_values(std::move(parts)), sennit::cancelled);
    });
    made.set_value(counted(2));
}

TEST_P(cancellation, cancellation_wakes_a_waiting_fiber) {
    runtime.run([] {
        promise<int> never;
        future<int> wanted = never.get_future();
        sched::cancel_scope scope(nullptr);
        std::atomic<bool> inside_now{false};
        future<bool> was_cancelled = sennit::async([&] {
            const inside mine(scope);
            inside_now = true;
            try {
                wanted.get();
            } catch (const sennit::cancelled&) {
                return true;
            }
            return false;
        });
        while (!inside_now) sched::yield(); // with one worker, the fiber then waits
        scope.cancel();
        EXPECT_TRUE(was_cancelled.get());
    });
}

TEST_P(cancellation, cancellation_races_with_the_value_and_one_of_them_wins) {
    runtime.run([] {
        for (int round = 0; round < rounds; ++round) {
            promise<int> made;
            future<int> wanted = made.get_future();
            sched::cancel_scope scope(nullptr);
            const sennit::fiber setter([&] { made.set_value(round); });
            const sennit::fiber canceller([&] { scope.cancel(); });
            try {
                const inside mine(scope);
                if (round % 3 == 0) sched::yield();
                ASSERT_EQ(wanted.get(), round);
                ASSERT_FALSE(wanted.valid());
            } catch (const sennit::cancelled&) {
                ASSERT_TRUE(wanted.valid());
                ASSERT_EQ(wanted.get(), round);
            }
        }
    });
}

} // namespace
