// SPDX-License-Identifier: Apache-2.0
// Tests dumps of tasks: their name, state and wait, the place where they were made, and the
// functions that await each other.
#include "slow_tests.hpp"
#include "support.hpp"

#include <sennit/obs/dump.hpp>
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

// The entries of a dump: each begins with a line that is not indented.
std::vector<std::string> entries(const std::string& dump) {
    std::vector<std::string> found;
    std::istringstream lines(dump);
    for (std::string line; std::getline(lines, line);) {
        if (line.empty()) continue;
        if (line[0] != ' ' || found.empty()) found.emplace_back();
        found.back() += line + "\n";
    }
    return found;
}

std::vector<std::string> entries_with(const sennit::runtime& runtime, const std::string& pattern) {
    const std::regex wanted(pattern);
    std::vector<std::string> found;
    for (std::string& one : entries(dump_of(runtime)))
        if (std::regex_search(one, wanted)) found.push_back(std::move(one));
    return found;
}

// Dumps until so many entries match.
std::vector<std::string> when_shown(const sennit::runtime& runtime, std::size_t count,
                                    const std::string& pattern) {
    for (;;) {
        std::vector<std::string> found = entries_with(runtime, pattern);
        if (found.size() == count) return found;
        sennit::this_fiber::yield();
    }
}

std::ptrdiff_t functions_in(const std::string& entry) {
    const std::regex line("    #[0-9]+ +[^\n]*\\+0x[0-9a-f]+\\)\n");
    return std::distance(std::sregex_iterator(entry.begin(), entry.end(), line),
                         std::sregex_iterator());
}

std::string address_of(const void* object) {
    std::ostringstream text;
    text << object;
    return text.str();
}

sennit::task<int> receive(sennit::channel<int>& from) {
    co_return (co_await from.async_pop()).value_or(-1);
}
sennit::task<int> receive_two(sennit::channel<int>& from) {
    const int first = co_await receive(from);
    co_return first + co_await receive(from);
}
sennit::task<int> session(sennit::channel<int>& from) {
    co_return co_await receive_two(from);
}

class task_dump : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime runtime{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, task_dump, testing::Values(1u, 2u, 4u));

TEST_P(task_dump, dump_shows_wait_and_functions_of_suspended_task) {
    runtime.run([this] {
        sennit::channel<int> numbers(1);
        sennit::future<int> sum = sennit::spawn(session, std::ref(numbers));
        const std::string text = when_shown(runtime, 1, "^task [0-9]+ \\[blocked")[0];
        EXPECT_NE(text.find("channel::pop at " + address_of(&numbers)), std::string::npos) << text;
        EXPECT_TRUE(std::regex_search(text, std::regex(", for [0-9.]+ s"))) << text;
        EXPECT_EQ(functions_in(text), 3) << text;
        numbers.push(20);
        numbers.push(22);
        EXPECT_EQ(sum.get(), 42);
        (void)when_shown(runtime, 0, "^task ");
    });
}

// The place at which the only task with this name was made.
std::string place_of(const sennit::runtime& runtime, const std::string& name) {
    const std::string text = when_shown(runtime, 1, "^task [0-9]+ '" + name + "' \\[blocked")[0];
    std::smatch found;
    EXPECT_TRUE(std::regex_search(text, found, std::regex("\n    made at ([^\n]+)\n"))) << text;
    return found.empty() ? "" : found[1].str();
}

TEST_P(task_dump, dump_shows_name_and_place_of_spawned_task) {
    runtime.run([this] {
        sennit::channel<int> numbers(1);
        sennit::event gate;
        sennit::future<int> first = sennit::spawn({.name = "session"}, session, std::ref(numbers));
        const sennit::task_attributes how{.name = "a name of more than 23 characters"};
        sennit::future<void> second =
            sennit::spawn(how, [&gate]() -> sennit::task<> { co_await gate.async_wait(); });
        sennit::future<int> third = sennit::spawn({.name = "made before"}, receive(numbers));
        const std::string places[] = {place_of(runtime, "session"),
                                      place_of(runtime, "a name of more than 23 "),
                                      place_of(runtime, "made before")};
        EXPECT_NE(places[0], places[1]);
        EXPECT_NE(places[0], places[2]);
        EXPECT_NE(places[1], places[2]);
        // A deadline needs memory of the name's, which then exists.
        sennit::future<bool> timed =
            sennit::spawn({.name = "timed"}, [&gate]() -> sennit::task<bool> {
                (void)co_await gate.async_wait_for(1ns);
                co_return co_await gate.async_wait_for(std::chrono::hours(1));
            });
        (void)place_of(runtime, "timed");
        numbers.push(20);
        numbers.push(22);
        numbers.push(1);
        gate.set();
        EXPECT_EQ(first.get() + third.get(), 43);
        EXPECT_TRUE(timed.get());
        second.get();
    });
}

TEST_P(task_dump, tasks_of_one_line_have_one_place_and_further_ones_are_counted_by_place) {
    runtime.run([this] {
        sennit::channel<int> numbers(100);
        std::vector<sennit::future<int>> all;
        const auto spawn_here = [&]() __attribute__((noinline)) {
            all.push_back(sennit::spawn(session, std::ref(numbers)));
        };
        for (int i = 0; i < 10; ++i) spawn_here();
        for (int i = 0; i < 3; ++i) all.push_back(sennit::spawn(session, std::ref(numbers)));
        const std::string counted =
            when_shown(runtime, 1, "^7 more tasks blocked in channel::pop, the first for ")[0];
        std::smatch place;
        ASSERT_TRUE(std::regex_search(counted, place, std::regex("made at ([^\n]+)\n"))) << counted;
        std::size_t there = 0;
        for (const std::string& one : when_shown(runtime, 6, "^task [0-9]+ \\[blocked"))
            there += one.find("made at " + place[1].str() + "\n") != std::string::npos;
        EXPECT_EQ(there, 3U);
        numbers.close();
        for (auto& each : all) EXPECT_EQ(each.get(), -2);
    });
}

TEST_P(task_dump, children_of_nursery_and_groups_have_name_or_place) {
    runtime.run([this] {
        sennit::event gate;
        const auto waits = [&gate]() -> sennit::task<> { co_await gate.async_wait(); };
        sennit::nursery children;
        children.start({.name = "child"}, waits);
        EXPECT_TRUE(children.try_start({.name = "tried"}, waits));
        EXPECT_NE(place_of(runtime, "child"), place_of(runtime, "tried"));
        int elements[] = {1, 2};
        const auto group = [&]() -> sennit::task<> {
            const auto one = [&waits](int) { return waits(); };
            co_await sennit::async_all(waits(), sennit::async_for_each(elements, 2, one));
        };
        sennit::future<void> whole = sennit::spawn({.name = "group"}, group);
        // The first child of async_all, and the two of async_for_each.
        for (const std::string& one :
             when_shown(runtime, 3, "^task [0-9]+ \\[blocked in event[^\n]*\n    made at "))
            EXPECT_GE(functions_in(one), 1) << one;
        gate.set();
        whole.get();
        children.join();
    });
}

TEST_P(task_dump, name_and_place_of_task_are_shown_before_it_begins_and_while_it_blocks) {
    runtime.run([this] {
        sennit::event gate;
        const auto blocks = [&gate]() -> sennit::task<> {
            gate.wait();
            co_return;
        };
        sennit::future<void> done = sennit::spawn({.name = "blocks"}, blocks);
        if (GetParam() == 1) { // The caller has kept the only worker.
            EXPECT_EQ(
                entries_with(runtime, "^task [0-9]+ 'blocks' \\[ready\\]\n    made at .").size(),
                1U);
        }
        (void)when_shown(runtime, 1,
                         "^task [0-9]+ 'blocks' \\[blocked in event[^\n]*\n    made at .");
        gate.set();
        done.get();
    });
}

TEST_P(task_dump, dump_shows_each_suspended_task_until_it_ends) {
    runtime.run([this] {
        sennit::channel<int> numbers(10);
        sennit::event gate;
        const auto waits = [&gate]() -> sennit::task<> { co_await gate.async_wait(); };
        std::vector<sennit::future<int>> receivers;
        for (int i = 0; i < 3; ++i) receivers.push_back(sennit::spawn(receive, std::ref(numbers)));
        sennit::future<void> waiting = sennit::spawn(waits);
        (void)when_shown(runtime, 4, "^task [0-9]+ \\[blocked");
        EXPECT_EQ(entries_with(runtime, "blocked in event at " + address_of(&gate)).size(), 1U);
        for (int i = 0; i < 3; ++i) {
            numbers.push(i);
            (void)when_shown(runtime, static_cast<std::size_t>(2 - i), "blocked in channel::pop");
        }
        gate.set();
        waiting.get();
        (void)when_shown(runtime, 0, "^task ");
        for (auto& each : receivers) each.get();
    });
}

TEST_P(task_dump, dump_counts_equal_tasks_after_the_third) {
    runtime.run([this] {
        sennit::channel<int> numbers(1000);
        std::vector<sennit::future<int>> all;
        for (int i = 0; i < 1000; ++i) all.push_back(sennit::spawn(session, std::ref(numbers)));
        const std::string text =
            when_shown(runtime, 1, "^997 more tasks blocked in channel::pop, the first for ")[0];
        EXPECT_EQ(functions_in(text), 3) << text;
        EXPECT_EQ(entries_with(runtime, "^task [0-9]+ \\[blocked").size(), 3U);
        numbers.close();
        for (auto& each : all) EXPECT_EQ(each.get(), -2);
    });
}

TEST_P(task_dump, blocking_call_in_task_is_shown_with_its_stack) {
    runtime.run([this] {
        sennit::channel<int> numbers(1);
        sennit::event gate;
        const auto blocks = [&]() -> sennit::task<int> {
            const int got = (co_await numbers.async_pop()).value_or(-1);
            gate.wait();
            co_return got;
        };
        sennit::future<int> value = sennit::spawn(blocks);
        (void)when_shown(runtime, 1, "^task [0-9]+ \\[blocked in channel::pop");
        numbers.push(7);
        const std::string text = when_shown(runtime, 1, "^task [0-9]+ \\[blocked in event")[0];
        EXPECT_TRUE(std::regex_search(text, std::regex("stack [0-9]+: "))) << text;
        EXPECT_EQ(entries_with(runtime, "^task [0-9]").size(), 1U);
        gate.set();
        EXPECT_EQ(value.get(), 7);
    });
}

TEST_P(task_dump, task_that_waits_inside_a_monitor_holds_no_stack) {
    runtime.run([this] {
        struct room : sennit::monitor {
            sennit::condition gate{*this};
            void call() { auto in = sennit::enter<&room::call>(*this); }
        } one, other;
        const auto waits = [&one]() -> sennit::task<> {
            auto in = co_await sennit::async_enter(one);
            co_await one.gate.async_wait();
        };
        const auto accepts = [&other]() -> sennit::task<> {
            auto in = co_await sennit::async_enter(other);
            co_await sennit::async_waitfor(sennit::accept<&room::call>(other));
        };
        sennit::future<void> first = sennit::spawn(waits), second = sennit::spawn(accepts);
        for (const char* what : {"condition at ", "waitfor"}) {
            const std::string text =
                when_shown(runtime, 1, std::string("^task [0-9]+ \\[blocked in ") + what)[0];
            EXPECT_EQ(text.find("stack "), std::string::npos) << text;
            EXPECT_GE(functions_in(text), 2) << text;
        }
        {
            auto in = sennit::enter(one);
            one.gate.signal();
        }
        other.call();
        first.get();
        second.get();
    });
}

TEST_P(task_dump, task_of_block_on_is_shown_beside_its_fiber) {
    runtime.run([this] {
        sennit::channel<int> numbers(1);
        sennit::fiber caller({.name = "caller"},
                             [&] { return sennit::block_on(session(numbers)); });
        const std::string text =
            when_shown(runtime, 1, "^task of strand [0-9]+ .*\\[blocked in channel::pop")[0];
        EXPECT_EQ(functions_in(text), 3) << text;
        // The task is blocked a moment before its fiber is.
        (void)when_shown(runtime, 1, "^fiber [0-9]+ 'caller' \\[blocked in channel::pop");
        numbers.push(1);
        numbers.push(2);
        EXPECT_EQ(caller.join<int>(), 3);
    });
}

TEST_P(task_dump, functions_of_children_end_at_their_parent) {
    runtime.run([this] {
        sennit::channel<int> numbers(4);
        const auto parent = [&]() -> sennit::task<int> {
            const auto [a, b] = co_await sennit::async_fork_join([&] { return session(numbers); },
                                                                 [&] { return session(numbers); });
            co_return a + b;
        };
        sennit::future<int> sum = sennit::spawn(parent);
        // The first child belongs to the strand of its parent, the second has a strand of its own.
        for (const std::string& one :
             when_shown(runtime, 2, "^task [0-9]+ \\[blocked in channel::pop"))
            EXPECT_GE(functions_in(one), 3) << one;
        for (int i = 0; i < 4; ++i) numbers.push(1);
        EXPECT_EQ(sum.get(), 4);
    });
}

TEST_P(task_dump, functions_continue_through_an_async_generator) {
    runtime.run([this] {
        sennit::channel<int> numbers(1);
        const auto each = [&]() -> sennit::async_generator<int> {
            for (;;) co_yield co_await receive(numbers);
        };
        const auto consumer = [&]() -> sennit::task<int> {
            auto values = each();
            const int* first = co_await values.next();
            co_return *first;
        };
        sennit::future<int> value = sennit::spawn(consumer);
        const std::string text =
            when_shown(runtime, 1, "^task [0-9]+ \\[blocked in channel::pop")[0];
        EXPECT_EQ(functions_in(text), 3) << text;
        numbers.push(9);
        EXPECT_EQ(value.get(), 9);
    });
}

TEST_P(task_dump, children_of_nursery_are_shown_ready_and_blocked) {
    runtime.run([this] {
        sennit::event gate;
        sennit::nursery children;
        for (int i = 0; i < 2; ++i)
            children.start([&gate]() -> sennit::task<> { co_await gate.async_wait(); });
        if (GetParam() == 1) {
            // The caller has kept the only worker, so no child has begun.
            EXPECT_EQ(entries_with(runtime, "^task [0-9]+ \\[ready\\]").size(), 2U);
        }
        (void)when_shown(runtime, 2, "^task [0-9]+ \\[blocked in event");
        gate.set();
        children.join();
    });
}

// Tasks begin, wait, pass between workers and end while dumps are taken.
TEST_P(task_dump, dumps_of_busy_tasks_are_whole) {
    runtime.run([this] {
        std::atomic<bool> stop = false;
        sennit::channel<int> forth(1), back(1);
        const auto echoes = [&]() -> sennit::task<> {
            while (std::optional<int> one = co_await forth.async_pop())
                (void)co_await back.async_push(*one);
        };
        std::vector<sennit::future<void>> all;
        for (int i = 0; i < 4; ++i) all.push_back(sennit::spawn(echoes));
        sennit::fiber feeds([&] {
            while (!stop) {
                std::vector<sennit::future<int>> receivers;
                for (int i = 0; i < 5; ++i)
                    receivers.push_back(sennit::spawn(receive, std::ref(back)));
                for (int i = 0; i < 5; ++i) forth.push(1);
                for (auto& each : receivers) EXPECT_EQ(each.get(), 1);
            }
            forth.close();
        });
        for (int i = 0; i < (tests_are_slow ? 50 : 200); ++i) {
            for (const std::string& one : entries_with(runtime, "^task [0-9]+ \\[blocked"))
                EXPECT_TRUE(functions_in(one) == 1 || one.find("stack ") != std::string::npos)
                    << one;
            sennit::this_fiber::yield();
        }
        stop = true;
        feeds.join();
        for (auto& each : all) each.get();
    });
}

TEST_P(task_dump, dump_shows_circle_of_task_and_fiber) {
    runtime.run([this] {
        sennit::timed_mutex left;
        sennit::mutex right;
        sennit::latch both(2);
        std::atomic<bool> seen = false;
        const auto locks = [&]() -> sennit::task<> {
            left.lock();
            co_await both.async_arrive_and_wait();
            co_await right.async_lock();
            right.unlock();
            left.unlock();
        };
        sennit::future<void> task = sennit::spawn(locks);
        sennit::fiber other({.name = "other"}, [&] {
            std::lock_guard guard(right);
            both.arrive_and_wait();
            while (!seen && !left.try_lock_for(20ms)) {
            }
        });
        const std::string text = when_shown(runtime, 1, "^circle: ")[0];
        EXPECT_TRUE(std::regex_search(text, std::regex("task [0-9]+ waits for"))) << text;
        EXPECT_TRUE(std::regex_search(text, std::regex("fiber [0-9]+ 'other' waits for"))) << text;
        seen = true;
        other.join();
        task.get();
    });
}

} // namespace
