// SPDX-License-Identifier: Apache-2.0
// Bugs of the public interfaces that a reading has found, with the smallest program of each.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

void nothing() {}
void twice(int& value) {
    value *= 2;
}

// An iterator that throws ended the program if the callables were noexcept.
TEST(regress, loop_rethrows_an_iterators_exception) {
    const std::vector<std::string> texts{"1", "x"};
    const auto numbers =
        texts | std::views::transform([](const std::string& text) { return std::stol(text); });
    EXPECT_THROW((void)sennit::par::transform_reduce(numbers, 0L, std::plus<>(), std::identity()),
                 std::invalid_argument);
    EXPECT_THROW(sennit::par::for_each(numbers, [](long) noexcept {}), std::invalid_argument);
}

// The concepts accepted functions and pointers to members, but the calls did not compile.
TEST(regress, functions_and_member_pointers_are_callables) {
    sennit::fork_join(nothing, nothing);
    std::vector<int> values{1, 2, 3};
    sennit::par::for_each(values, twice);
    EXPECT_EQ(values, (std::vector{2, 4, 6}));
    const std::vector<std::string> names{"a", "bcd"};
    EXPECT_EQ(sennit::fork_each(names, &std::string::size), (std::vector<std::size_t>{1, 3}));
}

// The default runtime's own worker destroyed it, and the program aborted.
TEST(regress, program_exits_inside_run) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(sennit::run([] { std::exit(7); }), testing::ExitedWithCode(7), "");
}

// A scope that was made before its fiber moved still forked into the fork stack of the old worker.
TEST(regress, scope_moves_with_its_fiber) {
    sennit::runtime from({.workers = 1}), to({.workers = 1});
    int ran = 0;
    sennit::fiber traveller({.runtime = &from, .migratable = true}, [&] {
        sennit::scope family;
        sennit::this_fiber::migrate_to(to);
        family.spawn([&] { family.spawn([&] { ++ran; }); });
        family.join();
        ++ran;
    });
    traveller.join();
    EXPECT_EQ(ran, 2);
}

// Time points that are too far away for nanoseconds counted as past.
TEST(regress, deadline_in_the_far_future_does_not_end_a_wait) {
    using namespace std::chrono;
    constexpr sys_days far = year(9999) / 1 / 1;
    const auto waits = [](auto until_cancelled) {
        bool returned = false;
        sennit::nursery children;
        children.start([&] {
            until_cancelled();
            returned = true;
        });
        for (int i = 0; i < 10; ++i)
            sennit::this_fiber::yield(); // with one worker the fiber has begun now
        children.cancel();
        children.join();
        return !returned;
    };
    sennit::runtime one({.workers = 1, .max_spare_workers = 0});
    one.run([&] {
        sennit::channel<int> nothing;
        sennit::counting_semaphore<> none(0);
        int value = 0;
        EXPECT_TRUE(waits([&] { (void)nothing.pop_until(value, file_clock::time_point::max()); }));
        EXPECT_TRUE(waits([&] { (void)none.try_acquire_until(far); }));
        EXPECT_TRUE(waits([&] {
            sennit::select(sennit::on_pop(nothing, [](int) {}),
                           sennit::at(sys_seconds::max(), [] {}));
        }));
        EXPECT_TRUE(waits([&] { sennit::with_deadline(far, [&] { none.acquire(); }); }));
        EXPECT_TRUE(waits([&] { sennit::this_fiber::sleep_until(far); }));
        sennit::promise<int> kept;
        const auto wanted = kept.get_future();
        EXPECT_TRUE(waits([&] { (void)wanted.wait_until(far); }));
        EXPECT_FALSE(none.try_acquire_until(sys_days(year(1) / 1 / 1)))
            << "a deadline in the distant past did not end the wait";
    });
}

// This clock runs half as fast as the scheduler's clock, and waits ended after half of the time.
struct slow_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<slow_clock>;
    static constexpr bool is_steady = true;
    static time_point now() {
        return time_point(std::chrono::steady_clock::now().time_since_epoch() / 2);
    }
};
TEST(regress, timed_wait_lasts_until_its_own_clock_reaches_the_deadline) {
    const auto lasts = [](auto wait) {
        const auto when = slow_clock::now() + std::chrono::milliseconds(2);
        wait(when);
        return slow_clock::now() >= when;
    };
    sennit::channel<int> nothing, full(1);
    full.push(1);
    int value = 0;
    EXPECT_TRUE(lasts([&](auto when) { (void)nothing.pop_until(value, when); }));
    EXPECT_TRUE(lasts([&](auto when) { (void)full.push_until(2, when); }));
    EXPECT_TRUE(
        lasts([](auto when) { (void)sennit::counting_semaphore<>(0).try_acquire_until(when); }));
    EXPECT_TRUE(lasts([](auto when) { (void)sennit::event().wait_until(when); }));
    EXPECT_TRUE(lasts([&](auto when) {
        sennit::select(sennit::on_pop(nothing, [](int) {}), sennit::at(when, [] {}));
    }));
    EXPECT_TRUE(lasts([&](auto when) {
        sennit::waituntil(sennit::at(when, [] {}) and
                          sennit::at(when - std::chrono::milliseconds(1), [] {}));
    }));
    // The wait is too early while only the scheduler's deadline has passed.
    EXPECT_TRUE(lasts([](auto when) {
        auto later = sennit::at(when, [] {});
        while (sennit::select(std::move(later), sennit::otherwise([] {})) != 0)
            sennit::this_fiber::yield();
    }));
    sennit::mutex lock;
    sennit::condition_variable never;
    EXPECT_TRUE(lasts([&](auto when) {
        std::unique_lock mine(lock);
        EXPECT_FALSE(never.wait_until(mine, when, [] { return false; }));
    }));
    EXPECT_TRUE(lasts([&](auto when) {
        std::unique_lock mine(lock);
        sennit::condition_variable_any any;
        EXPECT_FALSE(any.wait_until(mine, std::stop_token(), when, [] { return false; }));
    }));
    sennit::run([&] {
        sennit::timed_mutex taken;
        taken.lock();
        sennit::fiber other(
            [&] { EXPECT_TRUE(lasts([&](auto when) { (void)taken.try_lock_until(when); })); });
        other.join();
        taken.unlock();
    });
}

// A value of a type with its own `operator&` could not be sent.
struct handle {
    int number = 0;
    void operator&() const = delete;
};
TEST(regress, channel_sends_values_with_an_address_operator) {
    sennit::promise<handle> given;
    auto wanted = given.get_future();
    given.set_value(handle{3});
    EXPECT_EQ(wanted.get().number, 3);
    sennit::channel<handle> line(2);
    line.push(handle{1});
    sennit::select(sennit::on_push(line, handle{2}, [] {}));
    EXPECT_EQ(line.pop()->number, 1);
    sennit::select(sennit::on_pop(line, [](handle got) { EXPECT_EQ(got.number, 2); }));
}

// A null error made a future ready, with neither a value nor an error.
TEST(regress, promise_rejects_a_null_error) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(sennit::promise<int>().set_exception(nullptr), "null");
}

// A data race that ThreadSanitizer finds: `join` read without the lock whether another thread had
// cancelled the nursery.
TEST(regress, cancel_races_with_join_of_a_nursery) {
    for (int i = 0; i < 50; ++i) {
        sennit::nursery outer;
        sennit::event begun;
        outer.start([&] {
            sennit::nursery inner;
            std::jthread cancels([&] { inner.cancel(); });
            begun.set();
            inner.start([] { sennit::event().wait(); });
            inner.join();
        });
        begun.wait();
        outer.cancel();
        outer.join();
    }
}

// A cancelled wait that unwound until after its limit was reported as timed out.
TEST(regress, slow_unwinding_of_a_cancel_is_not_a_timeout) {
    using clock = std::chrono::steady_clock;
    std::atomic<bool> told{false}, as_cancelled{false};
    sennit::event begun;
    sennit::nursery family;
    family.start([&] {
        const clock::time_point limit = clock::now() + std::chrono::milliseconds(20);
        try {
            sennit::with_deadline(limit, [&] {
                begun.set();
                try {
                    sennit::event().wait();
                } catch (const sennit::cancelled&) {
                    while (!told || clock::now() < limit) std::this_thread::yield();
                    throw;
                }
            });
        } catch (const sennit::cancelled&) {
            as_cancelled = true;
            throw;
        }
    });
    begun.wait();
    family.cancel();
    told = true;
    family.join();
    EXPECT_TRUE(as_cancelled);
}

// Each scope took slots of the fork stack, however few were left. The children of a scope take no
// frames.
std::size_t children_below(int depth) {
    std::atomic<std::size_t> count{0};
    {
        sennit::scope family;
        for (int i = 0; i < 63; ++i) family.spawn([&] { ++count; });
        family.spawn([&] { count += depth == 0 ? 1 : 1 + children_below(depth - 1); });
        family.join();
    }
    return count;
}
TEST(regress, nested_scopes_leave_slots_to_forks) {
    sennit::runtime one({.workers = 1, .stack_size = 64 << 10});
    EXPECT_EQ(one.run([] { return children_below(100); }), 101u * 64);
}

// An urgent message stood first in a full mailbox that drops the oldest message, and was dropped.
struct work {
    int n;
};
class slow : public sennit::actor<slow, work> {
public:
    slow(std::vector<int>& into, sennit::event& begun, sennit::event& goes_on)
        : into_(into), begun_(begun), goes_on_(goes_on) {}
    void on(work m) {
        into_.push_back(m.n);
        if (m.n == 2) stop();
        if (m.n != 0) return;
        begun_.set();
        goes_on_.wait();
    }

private:
    std::vector<int>& into_;
    sennit::event &begun_, &goes_on_;
};
TEST(regress, full_mailbox_does_not_drop_an_urgent_message) {
    std::vector<int> handled;
    sennit::event begun, goes_on;
    {
        sennit::actor_group group;
        const auto one = group.spawn<slow>(
            {.mailbox = 1, .overflow = sennit::overflow::drop_oldest}, handled, begun, goes_on);
        one.tell(work{0});
        begun.wait();
        one.tell(work{1});
        one.tell(work{2});
        one.tell_urgent(work{9});
        goes_on.set();
        group.join();
    }
    EXPECT_EQ(handled, (std::vector{0, 9, 2}));
}

} // namespace
