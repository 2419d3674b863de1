// SPDX-License-Identifier: Apache-2.0
// Bugs of monitors that a reading has found, the smallest program of each.
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

// Two calls at one moment, and a deadline that does not come: the acceptor slept for ever. The
// simulator has the interleaving; here are many.
TEST(regress, an_acceptor_with_a_deadline_meets_two_calls) {
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
    while (accepted < 2 * rounds) { // those that came while nobody accepted
        one.call();
    }
    acceptor.join();
    EXPECT_GE(one.calls, 2 * rounds);
}

// A constant member function could not enter its own monitor.
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
TEST(regress, constant_members_enter_their_monitors) {
    const box a, b;
    EXPECT_EQ(sizes(a, b), 6);
    auto in = sennit::enter(a);
    EXPECT_EQ(sennit::waitfor(sennit::accept<&box::size>(a), sennit::or_else()), 1u);
}

// They counted one whose time had run out, and which `signal` does not find.
struct waits_shortly : sennit::monitor {
    sennit::condition changed{*this};
    std::atomic<bool> begun{false};
    void wait() {
        auto in = sennit::enter(*this);
        begun = true;
        EXPECT_FALSE(changed.wait_for(1ms, 7));
    }
};
TEST(regress, a_condition_does_not_count_whose_time_has_run_out) {
    waits_shortly one;
    std::thread waiter([&] { one.wait(); });
    while (!one.begun) std::this_thread::yield();
    {
        auto in = sennit::enter(one);
        while (!one.changed.empty())
            std::this_thread::yield(); // it is behind us, so it stays in the queue
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

TEST(regress, a_stackful_generator_gives_references) {
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

// The watchdog's threads took the places that `resize` counted on, which then followed a null
// pointer.
TEST(regress, a_runtime_grows_to_the_last_place) {
    sennit::runtime runtime({.workers = 1, .max_workers = 1024});
    std::atomic<bool> stuck{false}, ends{false};
    sennit::fiber first({.runtime = &runtime}, [&] {
        stuck = true;
        while (!ends) std::this_thread::yield();
    });
    while (!stuck) std::this_thread::yield();
    sennit::fiber second({.runtime = &runtime},
                         [] {});       // behind it: for the watchdog, if that had a place
    std::this_thread::sleep_for(50ms); // several times what that takes
    runtime.resize(8);
    second.join();
    ends = true;
    first.join();
    EXPECT_EQ(runtime.metrics().spares_activated, 0u);
}

// One that came while it was waited for was told again by the next waitfor.
TEST(regress, a_destructor_is_told_once_whenever_it_comes) {
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

// `run` began while somebody was inside whom the constructor had let in.
struct known_early : sennit::monitor {
    known_early() {
        helper = std::thread([this] {
            auto in = sennit::enter<&known_early::ask>(*this);
            inside = true;
            while (!goes_on) std::this_thread::yield();
            inside = false;
        });
        while (!inside) std::this_thread::yield();
        last = std::thread([this] { // `run` would have begun
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
TEST(regress, an_active_object_begins_when_nobody_is_inside) {
    for (int i = 0; i < 20; ++i) {
        sennit::active<known_early> one;
        one.join();
    }
}

// Who came back from a wait by its limit, or cancelled, queued behind an owner that only accepts
// calls, for ever.
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
TEST(regress, a_limited_wait_comes_back_to_an_object_that_only_accepts) {
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

// The same over two monitors, while the owner polls without ever waiting.
void look_at_both(mailroom& a, mailroom& b, sennit::condition& changed, bool& told) {
    auto in = sennit::enter<&look_at_both>(a, b);
    told = changed.wait_for(1ms);
}
TEST(regress, a_limited_wait_comes_back_to_an_owner_that_polls) {
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
