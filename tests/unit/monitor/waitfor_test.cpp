// SPDX-License-Identifier: Apache-2.0
// External scheduling with waitfor, and active objects.
#include "crew.hpp"

#include <sennit/active.hpp>
#include <sennit/monitor.hpp>
#include <sennit/with_timeout.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace std::chrono_literals;

class waitfor : public on_workers {};
SENNIT_ON_WORKERS(waitfor);

struct accepting_buffer : sennit::monitor {
    static constexpr std::size_t most = 5;
    std::vector<int> values;
    void put(int value) {
        auto in = sennit::enter<&accepting_buffer::put>(*this);
        if (values.size() == most) sennit::waitfor(sennit::accept<&accepting_buffer::take>(*this));
        EXPECT_LT(values.size(), most);
        values.push_back(value);
    }
    int take() {
        auto in = sennit::enter<&accepting_buffer::take>(*this);
        if (values.empty()) sennit::waitfor(sennit::accept<&accepting_buffer::put>(*this));
        EXPECT_FALSE(values.empty());
        const int value = values.back();
        values.pop_back();
        return value;
    }
};

TEST_P(waitfor, bounded_buffer_needs_no_conditions) {
    expect_bounded_buffer<accepting_buffer>(runtime);
}

struct phases : sennit::monitor {
    enum { barged, accepting, called } state = barged;
    void call() {
        auto in = sennit::enter<&phases::call>(*this);
        EXPECT_EQ(state, accepting);
        state = called;
    }
    void barge() {
        auto in = sennit::enter<&phases::barge>(*this);
        EXPECT_NE(state, accepting);
        state = barged;
    }
    void accept_one() {
        auto in = sennit::enter<&phases::accept_one>(*this);
        state = accepting;
        EXPECT_EQ(sennit::waitfor(sennit::accept<&phases::call>(*this)), 0u);
        EXPECT_EQ(state, called);
        state = barged;
    }
};

TEST_P(waitfor, no_strand_comes_between_accepted_call_and_acceptor) {
    phases one;
    std::atomic<bool> inside{false}, over{false};
    crew(runtime, 5, [&](std::size_t i) {
        if (i == 0) {
            // A call that finds the monitor free need not be accepted, so the acceptor keeps it.
            auto in = sennit::enter(one);
            inside = true;
            for (int k = 0; k < 400; ++k) one.accept_one();
            over = true;
            return;
        }
        while (!inside) sennit::this_fiber::yield();
        if (i < 3) {
            for (int k = 0; k < 200; ++k) one.call();
        } else {
            do one.barge();
            while (!over);
        }
    });
}

struct steps : sennit::monitor {
    int next = 0;
    std::string done;
    void a() {
        auto in = sennit::enter<&steps::a>(*this);
        done += 'a';
    }
    void b() {
        auto in = sennit::enter<&steps::b>(*this);
        done += 'b';
    }
    void c() {
        auto in = sennit::enter<&steps::c>(*this);
        done += 'c';
    }
};

TEST_P(waitfor, guards_choose_the_clause_that_waitfor_returns) {
    steps one;
    std::atomic<bool> inside{false};
    crew(runtime, 4, [&](std::size_t i) {
        if (i == 0) {
            auto in = sennit::enter(one);
            inside = true;
            for (int turn = 0; turn < 30; ++turn) {
                int then = -1;
                const std::size_t which = sennit::waitfor(
                    sennit::when(turn % 3 == 0,
                                 sennit::accept<&steps::a>(one).then([&] { then = 0; })),
                    sennit::when(turn % 3 == 1,
                                 sennit::accept<&steps::b>(one).then([&] { then = 1; })),
                    sennit::when(turn % 3 == 2,
                                 sennit::accept<&steps::c>(one).then([&] { then = 2; })));
                EXPECT_EQ(which, static_cast<std::size_t>(turn % 3));
                EXPECT_EQ(then, turn % 3);
                EXPECT_EQ(one.done.back(), "abc"[turn % 3]);
            }
            return;
        }
        while (!inside) sennit::this_fiber::yield();
        for (int k = 0; k < 10; ++k) {
            if (i == 1) one.a();
            if (i == 2) one.b();
            if (i == 3) one.c();
        }
    });
    EXPECT_EQ(one.done.size(), 30u);
}

TEST_P(waitfor, waiting_calls_are_accepted_in_order_of_clauses) {
    steps one;
    runtime.run([&] {
        std::vector<sennit::fiber> callers;
        auto in = sennit::enter(one);
        for (int i = 0; i < 3; ++i) {
            std::atomic<int> about{0};
            for (void (steps::*call)() : {&steps::a, &steps::b})
                callers.emplace_back([&, call] {
                    ++about;
                    (one.*call)();
                });
            yield_until([&] { return about == 2; });
            let_others_run();
        }
        if (runtime.workers() > 1) // some callers may still be on their way
            for (int i = 0; i < 6; ++i)
                sennit::waitfor(sennit::accept<&steps::a>(one), sennit::accept<&steps::b>(one));
        else
            for (int i = 0; i < 3; ++i) {
                sennit::waitfor(sennit::accept<&steps::b>(one), sennit::accept<&steps::a>(one));
                sennit::waitfor(sennit::accept<&steps::a>(one), sennit::accept<&steps::b>(one));
            }
        for (auto& each : callers) each.join();
    });
    if (runtime.workers() == 1) {
        EXPECT_EQ(one.done, "bababa");
    }
    EXPECT_EQ(one.done.size(), 6u);
}

TEST_P(waitfor, waitfor_ends_by_or_else_timeout_or_no_clause) {
    steps one;
    runtime.run([&] {
        auto in = sennit::enter(one);
        bool late = false;
        EXPECT_EQ(sennit::waitfor(sennit::accept<&steps::a>(one), sennit::or_else()), 1u);
        EXPECT_EQ(sennit::waitfor(sennit::accept<&steps::a>(one),
                                  sennit::timeout(50us).then([&] { late = true; })),
                  1u);
        EXPECT_TRUE(late);
        EXPECT_EQ(sennit::waitfor(sennit::when(false, sennit::accept<&steps::a>(one)),
                                  sennit::timeout(50us)),
                  1u);
        EXPECT_EQ(sennit::waitfor(sennit::when(false, sennit::accept<&steps::a>(one))),
                  sennit::no_clause);
        EXPECT_EQ(sennit::waitfor(sennit::when(false, sennit::accept<&steps::a>(one)),
                                  sennit::when(false, sennit::or_else())),
                  sennit::no_clause);
    });
}

// The call may come at the deadline: one of the two ends the wait.
TEST_P(waitfor, one_of_call_and_deadline_ends_waitfor) {
    steps one;
    std::atomic<int> accepted{0}, rounds{200};
    crew(runtime, 2, [&](std::size_t i) {
        if (i == 0) {
            auto in = sennit::enter(one);
            for (; rounds > 0; --rounds) {
                const auto before = one.done.size();
                const auto limit = std::chrono::nanoseconds(rounds * 997 % 30'000);
                const bool came =
                    sennit::waitfor(sennit::accept<&steps::a>(one), sennit::timeout(limit)) == 0;
                EXPECT_EQ(one.done.size(), before + came);
                accepted += came;
            }
        } else {
            while (rounds == 200) sennit::this_fiber::yield();
            while (rounds > 0) {
                one.a();
                sennit::this_fiber::yield();
            }
        }
    });
    EXPECT_LE(one.done.size(),
              static_cast<std::size_t>(accepted) + 1); // the last call may have come after the end
}

struct nest : sennit::monitor {
    std::string order;
    void one() {
        auto in = sennit::enter<&nest::one>(*this);
        sennit::waitfor(sennit::accept<&nest::two>(*this));
        order += '1';
    }
    void two() {
        auto in = sennit::enter<&nest::two>(*this);
        sennit::waitfor(sennit::accept<&nest::three>(*this));
        order += '2';
    }
    void three() {
        auto in = sennit::enter<&nest::three>(*this);
        order += '3';
    }
};

TEST_P(waitfor, accepted_calls_may_accept_further_calls) {
    nest all;
    std::atomic<bool> inside{false};
    crew(runtime, 4, [&](std::size_t i) {
        if (i == 0) {
            auto in = sennit::enter(all);
            inside = true;
            for (int k = 0; k < 50; ++k) {
                sennit::waitfor(sennit::accept<&nest::one>(all));
                EXPECT_EQ(all.order, "321");
                all.order.clear();
            }
        }
        while (!inside) sennit::this_fiber::yield();
        for (int k = 0; i > 0 && k < 50; ++k) {
            if (i == 1) all.one();
            if (i == 2) all.two();
            if (i == 3) all.three();
        }
    });
}

struct part : sennit::monitor {
    int calls = 0;
    void alone() {
        auto in = sennit::enter<&part::alone>(*this);
        ++calls;
    }
};
void together(part& a, part& b) {
    auto in = sennit::enter<&together>(a, b);
    a.calls += 10;
    b.calls += 10;
}

// The whole set of monitors must match: a clause for one monitor does not accept a call that enters
// both.
TEST_P(waitfor, waitfor_accepts_calls_of_sets_of_monitors) {
    part a, b;
    std::atomic<bool> inside{false};
    crew(runtime, 4, [&](std::size_t i) {
        if (i == 0) {
            auto in = sennit::enter(a, b);
            inside = true;
            for (int k = 0; k < 50; ++k) {
                const int before_a = a.calls, before_b = b.calls;
                const std::size_t which = k % 2 == 0
                                              ? sennit::waitfor(sennit::accept<&together>(b, a))
                                              : sennit::waitfor(sennit::accept<&part::alone>(a),
                                                                sennit::accept<&part::alone>(b));
                if (k % 2 == 0) {
                    EXPECT_EQ(which, 0u);
                    EXPECT_EQ(a.calls - before_a + b.calls - before_b, 20);
                } else {
                    EXPECT_EQ(which == 0 ? a.calls - before_a : b.calls - before_b, 1);
                    EXPECT_EQ(which == 0 ? b.calls - before_b : a.calls - before_a, 0);
                }
            }
            while (sennit::waitfor(sennit::accept<&part::alone>(a), sennit::accept<&part::alone>(b),
                                   sennit::accept<&together>(a, b), sennit::or_else()) != 3) {
            }
            return;
        }
        while (!inside) sennit::this_fiber::yield();
        for (int k = 0; k < 25; ++k) {
            if (i == 1) together(a, b);
            if (i == 2) a.alone();
            if (i == 3) b.alone();
        }
    });
    EXPECT_EQ(a.calls, 25 * 11);
    EXPECT_EQ(b.calls, 25 * 11);
}

struct broken : sennit::monitor {
    void call() {
        auto in = sennit::enter<&broken::call>(*this);
        throw std::runtime_error("the caller's");
    }
};

TEST_P(waitfor, exception_of_accepted_call_reaches_its_caller) {
    broken one;
    std::atomic<bool> inside{false};
    crew(runtime, 2, [&](std::size_t i) {
        if (i == 0) {
            auto in = sennit::enter(one);
            inside = true;
            EXPECT_EQ(sennit::waitfor(sennit::accept<&broken::call>(one)), 0u);
        } else {
            while (!inside) sennit::this_fiber::yield();
            EXPECT_THROW(one.call(), std::runtime_error);
        }
    });
}

TEST_P(waitfor, cancelled_waitfor_throws_inside_the_monitor) {
    steps one;
    runtime.run([&] {
        EXPECT_THROW(sennit::with_timeout(1ms,
                                          [&] {
                                              auto in = sennit::enter(one);
                                              sennit::waitfor(sennit::accept<&steps::a>(one));
                                          }),
                     sennit::timed_out);
        one.a(); // the monitor is free, and no waitfor waits for calls
    });
}

// In a scope that may be cancelled, a call must claim the acceptor's wait before waitfor accepts
// it, because a cancellation may end that wait.
TEST_P(waitfor, waitfor_accepts_calls_in_a_scope_that_may_be_cancelled) {
    steps one;
    std::atomic<bool> inside{false};
    crew(runtime, 2, [&](std::size_t i) {
        if (i == 0) {
            sennit::with_timeout(1h, [&] {
                auto in = sennit::enter(one);
                inside = true;
                for (int k = 0; k < 200; ++k) sennit::waitfor(sennit::accept<&steps::a>(one));
            });
        } else {
            while (!inside) sennit::this_fiber::yield();
            for (int k = 0; k < 200; ++k) one.a();
        }
    });
    EXPECT_EQ(one.done.size(), 200u);
}

// ---- destruction, active objects

struct server : sennit::monitor {
    explicit server(std::string& told) : log(&told) { *log += "c"; }
    ~server() { *log += "d"; }
    std::string* log;
    int asked = 0;
    void ask(int what) {
        auto in = sennit::enter<&server::ask>(*this);
        asked += what;
    }
    void stop_then_fail() { auto in = sennit::enter<&server::stop_then_fail>(*this); }
    void run() {
        EXPECT_EQ(asked, 0); // no call has entered before run()
        for (;;) {
            const std::size_t which = sennit::waitfor(
                sennit::accept<&server::ask>(*this), sennit::accept<&server::stop_then_fail>(*this),
                sennit::accept_destructor(*this));
            if (which == 1) throw std::runtime_error("stopped");
            if (which == 2) break;
        }
        *log += "e" + std::to_string(asked);
    }
};

TEST_P(waitfor, active_object_serves_until_its_destructor_is_accepted) {
    runtime.run([] {
        for (int round = 0; round < 50; ++round) {
            std::string log;
            {
                sennit::active<server> one(log);
                std::vector<sennit::fiber> clients;
                for (int i = 0; i < 4; ++i) clients.emplace_back([&] { one->ask(1); });
                for (auto& each : clients) each.join();
            }
            EXPECT_EQ(log, "ce4d");
        }
    });
}

TEST_P(waitfor, join_throws_exception_of_active_objects_run) {
    runtime.run([] {
        std::string log;
        sennit::active<server> one(log);
        one->stop_then_fail();
        EXPECT_THROW(one.join(), std::runtime_error);
    });
}

struct patient : sennit::monitor {
    bool more = true;
    void stop() {
        auto in = sennit::enter<&patient::stop>(*this);
        more = false;
    }
    void run() {
        while (more) sennit::waitfor(sennit::accept<&patient::stop>(*this));
    }
};

TEST_P(waitfor, timed_join_of_active_object_times_out_or_succeeds) {
    runtime.run([] {
        sennit::active<patient> one;
        EXPECT_FALSE(one.join_for(0s));
        EXPECT_FALSE(one.join_until(std::chrono::steady_clock::now() + 1ms));
        one->stop();
        EXPECT_TRUE(one.join_for(1h));
        EXPECT_THROW((void)one.join_for(0s), std::system_error); // at most one join
    });
}

struct dying : sennit::monitor {
    std::vector<int>* seen;
    explicit dying(std::vector<int>& to) : seen(&to) {}
    ~dying() {
        auto last = sennit::enter_destructor(*this);
        seen->push_back(-1);
    }
    void use(int i) {
        auto in = sennit::enter(*this);
        let_others_run(3);
        seen->push_back(i);
    }
};

TEST_P(waitfor, destructor_waits_for_earlier_entrants) {
    std::vector<int> seen;
    runtime.run([&] {
        auto one = std::make_unique<dying>(seen);
        std::vector<sennit::fiber> users;
        {
            auto in = sennit::enter(*one);
            for (int i = 0; i < 3; ++i) {
                std::atomic<bool> about{false};
                users.emplace_back([&, i] {
                    about = true;
                    one->use(i);
                });
                yield_until(about);
                // With several workers the user may still be on its way: the test then joins it
                // first.
                let_others_run();
            }
        }
        if (runtime.workers() > 1)
            for (auto& each : users) each.join();
        delete one.release();
        if (runtime.workers() == 1)
            for (auto& each : users) each.join();
    });
    EXPECT_EQ(seen.size(), 4u);
    EXPECT_EQ(seen.back(), -1);
}

} // namespace
