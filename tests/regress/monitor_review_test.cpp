// SPDX-License-Identifier: Apache-2.0
// Bugs of monitors that a reading has found, with the smallest program of each.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace monitor_review {
namespace {

using namespace std::chrono_literals;

struct door : sennit::monitor {
    void call() {
        auto in = sennit::enter<&door::call>(*this);
        ++calls;
    }
    void only_of_one() & {
        auto in = sennit::enter<&door::only_of_one>(*this);
        ++calls;
    }
    int calls = 0;
};

// The acceptor slept for ever after two simultaneous calls and a deadline that does not come. The
// simulator explores the interleaving; this test runs many rounds.
TEST(regress, acceptor_with_a_deadline_accepts_two_simultaneous_calls) {
    door one;
    constexpr int rounds = 2000;
    std::atomic<int> accepted{0};
    std::thread acceptor([&] {
        while (accepted < 2 * rounds) {
            auto in = sennit::enter(one);
            if (sennit::waitfor(sennit::accept<&door::call>(one), sennit::timeout(1h)) == 0)
                ++accepted;
        }
    });
    const auto calls = [&] {
        for (int i = 0; i < rounds; ++i) {
            const int before = accepted;
            one.call();
            // only as an accepted call is one counted, so the acceptor is not left without its last
            // ones
            if (accepted == before) std::this_thread::yield();
        }
    };
    std::thread first(calls), second(calls);
    first.join();
    second.join();
    // These calls came while no acceptor waited.
    while (accepted < 2 * rounds) {
        one.call();
    }
    acceptor.join();
    EXPECT_GE(one.calls, 2 * rounds);
}

// A const member function could not enter its own monitor.
struct box : sennit::monitor {
    int size() const {
        auto in = sennit::enter<&box::size>(*this);
        return 3;
    }
};
int sizes(const box& a, const box& b) {
    auto in = sennit::enter(a, b);
    return a.size() + b.size();
}
TEST(regress, const_members_enter_their_monitors) {
    const box a, b;
    EXPECT_EQ(sizes(a, b), 6);
    auto in = sennit::enter(a);
    EXPECT_EQ(sennit::waitfor(sennit::accept<&box::size>(a), sennit::or_else()), 1u);
}

// The counts of a condition included a waiter whose time had run out, which `signal` does not find.
struct waits_shortly : sennit::monitor {
    sennit::condition changed{*this};
    std::atomic<bool> begun{false};
    void wait() {
        auto in = sennit::enter(*this);
        begun = true;
        EXPECT_FALSE(changed.wait_for(1ms, 7));
    }
};
TEST(regress, condition_does_not_count_timed_out_waiters) {
    waits_shortly one;
    std::thread waiter([&] { one.wait(); });
    while (!one.begun) std::this_thread::yield();
    {
        auto in = sennit::enter(one);
        // The waiter is behind this call, so it stays in the queue.
        while (!one.changed.empty()) std::this_thread::yield();
        EXPECT_FALSE(one.changed.signal());
    }
    waiter.join();
}

TEST(regress, iterators_stay_when_a_stackful_generator_moves) {
    sennit::stackful_generator<int> first([](auto& yield) {
        for (int i = 0; i < 3; ++i) yield(i);
    });
    auto at = first.begin();
    const sennit::stackful_generator<int> second(std::move(first));
    EXPECT_EQ(*at, 0);
    ++at;
    EXPECT_EQ(*at, 1);
}

TEST(regress, stackful_generator_yields_references) {
    std::string words[] = {"a", "b"};
    for (std::string& each : sennit::stackful_generator<std::string&>([&](auto& yield) {
             for (std::string& one : words) yield(one);
         }))
        each += "!";
    for (const std::string& each :
         sennit::stackful_generator<const std::string&>([&](auto& yield) { yield(words[1]); }))
        EXPECT_EQ(each, "b!");
    EXPECT_EQ(words[0], "a!");
}

// The watchdog's threads took the worker indices that `resize` needed, and `resize` then followed a
// null pointer.
TEST(regress, runtime_grows_to_the_last_worker_index) {
    sennit::runtime runtime({.workers = 1, .max_workers = 1024});
    std::atomic<bool> stuck{false}, ends{false};
    sennit::fiber first({.runtime = &runtime}, [&] {
        stuck = true;
        while (!ends) std::this_thread::yield();
    });
    while (!stuck) std::this_thread::yield();
    // This fiber waits behind the first one, for the watchdog, if the watchdog had an index.
    sennit::fiber second({.runtime = &runtime}, [] {});
    // This time is several times the time that a spare worker needs.
    std::this_thread::sleep_for(50ms);
    runtime.resize(8);
    second.join();
    ends = true;
    first.join();
    EXPECT_EQ(runtime.metrics().spares_activated, 0u);
}

// A destructor call that came during a waitfor was reported again by the next waitfor.
TEST(regress, waitfor_reports_a_destructor_once) {
    auto dying = std::make_unique<door>();
    std::atomic<bool> waits{false};
    int told = 0;
    std::thread destroyer;
    {
        auto in = sennit::enter(*dying);
        destroyer = std::thread([&] {
            while (!waits) std::this_thread::yield();
            auto last = sennit::enter_destructor(*dying);
        });
        waits = true;
        if (sennit::waitfor(sennit::accept_destructor(*dying)) == 0) ++told;
        if (sennit::waitfor(sennit::accept_destructor(*dying), sennit::or_else()) == 0) ++told;
    }
    destroyer.join();
    EXPECT_EQ(told, 1);
}

TEST(regress, clauses_take_functions_that_change_and_members_of_one_object) {
    door one;
    auto in = sennit::enter(one);
    int seen = 0;
    EXPECT_EQ(sennit::waitfor(sennit::accept<&door::only_of_one>(one),
                              sennit::or_else().then([n = 1, &seen]() mutable { seen = ++n; })),
              1u);
    EXPECT_EQ(seen, 2);
}

// `run` began while a call that the constructor had accepted was inside.
struct known_early : sennit::monitor {
    known_early() {
        helper = std::thread([this] {
            auto in = sennit::enter<&known_early::ask>(*this);
            inside = true;
            while (!goes_on) std::this_thread::yield();
            inside = false;
        });
        while (!inside) std::this_thread::yield();
        last = std::thread([this] { // without the fix `run` would have begun
            std::this_thread::yield();
            goes_on = true;
        });
    }
    ~known_early() {
        helper.join();
        last.join();
    }
    void ask() {}
    void run() { EXPECT_FALSE(inside); }
    std::atomic<bool> inside{false}, goes_on{false};
    std::thread helper, last;
};
TEST(regress, active_object_begins_when_no_call_is_inside) {
    for (int i = 0; i < 20; ++i) {
        sennit::active<known_early> one;
        one.join();
    }
}

// A waiter that came back from a wait by its limit or by cancellation queued for ever behind an
// owner that only accepts calls.
struct mailroom : sennit::monitor {
    sennit::condition arrived{*this};
    bool take() {
        auto in = sennit::enter<&mailroom::take>(*this);
        return arrived.wait_for(1ms);
    }
    void take_whenever() {
        auto in = sennit::enter<&mailroom::take_whenever>(*this);
        arrived.wait();
    }
    void ping() { auto in = sennit::enter<&mailroom::ping>(*this); }
    void run() {
        while (sennit::waitfor(sennit::accept<&mailroom::take>(*this),
                               sennit::accept<&mailroom::take_whenever>(*this),
                               sennit::accept<&mailroom::ping>(*this),
                               sennit::accept_destructor(*this)) != 3) {
        }
    }
};
TEST(regress, timed_wait_returns_to_an_object_that_only_accepts) {
    for (unsigned workers = 1; workers <= 2; ++workers) {
        sennit::runtime some({.workers = workers});
        some.run([] {
            sennit::active<mailroom> room;
            std::atomic<bool> done{false};
            sennit::fiber busy([&] {
                while (!done) {
                    room->ping();
                    sennit::this_fiber::yield();
                }
            });
            for (int i = 0; i < 5; ++i) EXPECT_FALSE(room->take());
            for (int i = 0; i < 5; ++i)
                EXPECT_THROW(sennit::with_timeout(1ms, [&] { room->take_whenever(); }),
                             sennit::timed_out);
            done = true;
            busy.join();
        });
    }
}

// Two monitors, whose owner polls without ever waiting. A waiter that comes back by its limit
// queued for ever.
void look_at_both(mailroom& a, mailroom& b, sennit::condition& changed, bool& told) {
    auto in = sennit::enter<&look_at_both>(a, b);
    told = changed.wait_for(1ms);
}
TEST(regress, timed_wait_returns_to_an_owner_that_polls) {
    sennit::runtime two({.workers = 2});
    two.run([] {
        mailroom a, b;
        sennit::condition changed{a, b};
        std::atomic<bool> back{false};
        bool told = true;
        sennit::fiber looks;
        {
            auto inside = sennit::enter(a, b);
            looks = sennit::fiber([&] {
                look_at_both(b, a, changed, told);
                back = true;
            });
            EXPECT_EQ(sennit::waitfor(sennit::accept<&look_at_both>(a, b)), 0U);
            while (!back) {
                sennit::waitfor(sennit::accept<&mailroom::ping>(a),
                                sennit::accept<&mailroom::ping>(b), sennit::or_else());
                sennit::this_fiber::yield();
            }
        }
        looks.join();
        EXPECT_FALSE(told);
    });
}

} // namespace
} // namespace monitor_review
