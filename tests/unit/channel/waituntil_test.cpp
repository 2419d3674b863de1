// SPDX-License-Identifier: Apache-2.0
// waituntil, and the cases for locks, semaphores and events, in waituntil and in select.
#include "channels.hpp"
#include "race.hpp"
#include "thread_or_fiber.hpp"

#include <sennit/async.hpp>
#include <sennit/fiber.hpp>
#include <sennit/on_lock.hpp>
#include <sennit/on_ready.hpp>
#include <sennit/promise.hpp>
#include <sennit/this_fiber.hpp>
#include <sennit/waituntil.hpp>
#include <sennit/with_timeout.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::channel_status;

class waituntil : public thread_or_fiber {};
INSTANTIATE_TEST_SUITE_P(by, waituntil, testing::Bool(), name_of_strand);

// Three futures, of which those that `ready` names are ready. Each clause appends its letter to
// `log`.
struct three_futures {
    explicit three_futures(std::string_view ready) {
        for (std::size_t i = 0; i < 3; ++i)
            if (ready.find("abc"[i]) != std::string_view::npos) promises[i].set_value();
    }
    std::array<sennit::promise<void>, 3> promises;
    std::array<sennit::shared_future<void>, 3> futures{
        promises[0].get_future(), promises[1].get_future(), promises[2].get_future()};
    std::string log;
    auto clause(std::size_t which) {
        return sennit::on_ready(futures[which], [this, which] { log += "abc"[which]; });
    }
    auto a() { return clause(0); }
    auto b() { return clause(1); }
    auto c() { return clause(2); }
};

TEST_P(waituntil, clauses_of_and_run_in_the_order_in_which_they_become_ready) {
    go([this] {
        three_futures f("");
        sennit::event seen_b, seen_c;
        auto later = partner([&] {
            f.promises[1].set_value();
            seen_b.wait();
            f.promises[2].set_value();
            seen_c.wait();
            f.promises[0].set_value();
        });
        const auto how = sennit::waituntil(
            f.a() and sennit::on_ready(f.futures[1], [&] { f.log += 'b', seen_b.set(); }) and
            sennit::on_ready(f.futures[2], [&] { f.log += 'c', seen_c.set(); }));
        EXPECT_TRUE(how);
        EXPECT_EQ(f.log, "bca");
        EXPECT_TRUE(how.happened(0) && how.happened(1) && how.happened(2));
        EXPECT_FALSE(how.happened(3));
        EXPECT_FALSE(how.happened(63));
        EXPECT_FALSE(how.happened(1000));
    });
}

TEST_P(waituntil, or_runs_one_random_clause_of_those_that_are_ready) {
    go([] {
        std::array<int, 3> count{};
        for (int round = 0; round < 300; ++round) {
            three_futures f("abc");
            EXPECT_TRUE(sennit::waituntil(f.a() or f.b() or f.c()));
            ASSERT_EQ(f.log.size(), 1u);
            ++count.at(static_cast<std::size_t>(f.log[0] - 'a'));
        }
        for (const int times : count) EXPECT_GT(times, 0) << "of 300";
    });
}

TEST_P(waituntil, side_that_holds_runs_no_further_clause) {
    go([] {
        for (int round = 0; round < 100; ++round) {
            three_futures f("abc");
            EXPECT_TRUE(sennit::waituntil((f.a() or f.b()) and f.c()));
            EXPECT_EQ(f.log.size(), 2u) << f.log;
            EXPECT_NE(f.log.find('c'), std::string::npos) << f.log;
        }
    });
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
// Evaluates `a or b and c`, with both bracketings, for all eight sets of ready futures. Checks the
// result and the clauses that have run.
TEST_P(waituntil, and_binds_more_tightly_than_or) {
    go([] {
        for (const std::string_view ready : {"", "a", "b", "c", "ab", "ac", "bc", "abc"}) {
            const bool a = ready.find('a') < 9, b = ready.find('b') < 9, c = ready.find('c') < 9;
            three_futures plain(ready), left(ready);
            bool fell = false;
            const auto how = sennit::waituntil(plain.a() or plain.b() and plain.c(),
                                               sennit::otherwise([&] { fell = true; }));
            EXPECT_EQ(static_cast<bool>(how), a || (b && c)) << ready;
            EXPECT_EQ(fell, !how) << ready;
            EXPECT_EQ(how.happened(0), plain.log.find('a') != std::string::npos) << ready;
            const auto other = sennit::waituntil((left.a() or left.b()) and left.c(),
                                                 sennit::otherwise([&] { fell = true; }));
            EXPECT_EQ(static_cast<bool>(other), (a || b) && c) << ready;
            EXPECT_EQ(left.log.size(), std::size_t{a || b} + c) << ready << ": " << left.log;
        }
    });
}
#pragma GCC diagnostic pop

TEST_P(waituntil, waituntil_does_not_need_disabled_clause) {
    go([] {
        three_futures f("b");
        EXPECT_TRUE(sennit::waituntil(sennit::when(false, f.a()) and f.b()));
        EXPECT_EQ(f.log, "b");
        EXPECT_TRUE(sennit::waituntil(sennit::when(false, f.a() or f.c()) and f.b()));
        EXPECT_TRUE(sennit::waituntil(sennit::when(true, f.a() or f.b())));
        EXPECT_EQ(f.log, "bbb");
        EXPECT_THROW(sennit::waituntil(sennit::when(false, f.a() and f.b())), std::logic_error);
        bool fell = false;
        EXPECT_FALSE(
            sennit::waituntil(sennit::when(false, f.b()), sennit::otherwise([&] { fell = true; })));
        EXPECT_TRUE(fell);
        EXPECT_THROW(sennit::waituntil(sennit::when(false, f.b()),
                                       sennit::when(false, sennit::otherwise([&] { FAIL(); }))),
                     std::logic_error);
        EXPECT_EQ(f.log, "bbb");
    });
}

TEST_P(waituntil, otherwise_runs_after_ready_clauses) {
    go([] {
        three_futures f("a");
        const auto how =
            sennit::waituntil(f.a() and f.b(), sennit::otherwise([&] { f.log += '-'; }));
        EXPECT_FALSE(how);
        EXPECT_TRUE(how.happened(0));
        EXPECT_FALSE(how.happened(1));
        EXPECT_EQ(f.log, "a-");
    });
}

TEST_P(waituntil, time_clause_ends_the_wait_and_leaves_other_clauses) {
    go([] {
        sennit::channel<int> here(1), nowhere;
        (void)here.push(7);
        std::string log;
        const auto how = sennit::waituntil(
            (sennit::on_pop(here, [&](int value) { log += std::to_string(value); }) and
             sennit::on_pop(nowhere, [](int) { FAIL(); })) or
            sennit::after(1ms, [&] { log += 't'; }));
        EXPECT_TRUE(how);
        EXPECT_TRUE(how.happened(2) && !how.happened(1));
        EXPECT_TRUE(log == "7t" || log == "t") << log; // the time may have passed first
        EXPECT_EQ(nowhere.try_push(1), channel_status::full);
    });
}

TEST_P(waituntil, time_clause_in_an_and_is_a_minimum) {
    go([] {
        three_futures f("a");
        const auto began = std::chrono::steady_clock::now();
        EXPECT_TRUE(sennit::waituntil(f.a() and sennit::after(2ms, [&] { f.log += 't'; })));
        EXPECT_GE(std::chrono::steady_clock::now() - began, 2ms);
        EXPECT_EQ(f.log, "at");
    });
}

TEST_P(waituntil, closed_channel_is_ready) {
    go([] {
        sennit::channel<int> closed;
        closed.close();
        three_futures f("b");
        EXPECT_TRUE(sennit::waituntil(
            sennit::on_pop(closed, [](int) { FAIL(); }, [&] { f.log += '0'; }) and f.b()));
        EXPECT_EQ(f.log.size(), 2u);
    });
}

TEST_P(waituntil, exception_of_a_clause_ends_waituntil) {
    go([] {
        sennit::channel<int> first(1), second(1);
        (void)first.push(1);
        EXPECT_THROW(
            sennit::waituntil(sennit::on_pop(first, [](int) { throw std::runtime_error("no"); }) and
                              sennit::on_pop(second, [](int) { FAIL(); })),
            std::runtime_error);
        EXPECT_EQ(first.size(), 0u);
        EXPECT_EQ(second.try_push(2), channel_status::success); // no clause waits there any more
        EXPECT_EQ(second.size(), 1u);
    });
}

TEST_P(waituntil, cancelled_waituntil_takes_nothing_more) {
    go([] {
        sennit::channel<int> first(1), second(1);
        (void)first.push(1);
        int got = 0;
        const auto both = [&] {
            sennit::waituntil(sennit::on_pop(first, [&](int value) { got = value; }) and
                              sennit::on_pop(second, [](int) { FAIL(); }));
        };
        EXPECT_THROW(sennit::with_timeout(2ms, both), sennit::timed_out);
        EXPECT_EQ(got, 1);
        EXPECT_EQ(second.try_push(2), channel_status::success);
        EXPECT_EQ(second.size(), 1u);
    });
}

// ---- locks, semaphores, events

TEST_P(waituntil, on_lock_holds_mutex_while_its_clause_runs) {
    go([this] {
        sennit::mutex lock;
        sennit::event is_held, let_go;
        auto holder = partner([&] {
            std::lock_guard guard(lock);
            is_held.set();
            let_go.wait();
        });
        is_held.wait();
        bool fell = false, ran = false;
        EXPECT_EQ(sennit::select(sennit::on_lock(lock, [] { FAIL(); }),
                                 sennit::otherwise([&] { fell = true; })),
                  1u);
        EXPECT_EQ(
            sennit::select(sennit::on_lock(lock, [] { FAIL(); }), sennit::after(1ms, nothing)), 1u);
        EXPECT_TRUE(fell);
        let_go.set();
        EXPECT_TRUE(sennit::waituntil(sennit::on_lock(lock, [&] {
            ran = true;
            bool got = true;
            partner([&] { got = lock.try_lock(); }).join();
            EXPECT_FALSE(got);
        })));
        EXPECT_TRUE(ran);
        EXPECT_TRUE(lock.try_lock()); // the mutex is free again
        EXPECT_THROW((void)sennit::on_lock(lock, nothing), std::system_error);
        lock.unlock();
        EXPECT_THROW(sennit::select(sennit::on_lock(lock, [] { throw std::runtime_error("no"); })),
                     std::runtime_error);
        EXPECT_TRUE(lock.try_lock());
        lock.unlock();
    });
}

TEST_P(waituntil, on_acquire_takes_a_token_or_leaves_it) {
    go([this] {
        sennit::counting_semaphore<8> tokens(1);
        sennit::binary_semaphore none(0);
        int ran = 0;
        const auto count = [&] { ++ran; };
        EXPECT_EQ(
            sennit::select(sennit::on_acquire(none, count), sennit::on_acquire(tokens, count)), 1u);
        EXPECT_FALSE(tokens.try_acquire());
        EXPECT_EQ(sennit::select(sennit::on_acquire(tokens, count), sennit::after(1ms, nothing)),
                  1u);
        auto giver = partner([&] { none.release(), tokens.release(); });
        EXPECT_TRUE(sennit::waituntil(sennit::on_acquire(tokens, count) and
                                      sennit::on_acquire(none, count)));
        EXPECT_EQ(ran, 3);
        EXPECT_FALSE(tokens.try_acquire() || none.try_acquire());
    });
}

TEST_P(waituntil, on_set_uses_up_auto_reset_event_and_no_manual_one) {
    go([this] {
        sennit::event once(sennit::event::mode::auto_reset, true),
            stays(sennit::event::mode::manual_reset, true);
        EXPECT_TRUE(
            sennit::waituntil(sennit::on_set(once, nothing) and sennit::on_set(stays, nothing)));
        EXPECT_FALSE(once.try_wait());
        EXPECT_TRUE(stays.try_wait());
        auto setter = partner([&] { once.set(); });
        EXPECT_EQ(sennit::select(sennit::on_set(once, nothing), sennit::after(1h, nothing)), 0u);
        EXPECT_FALSE(once.try_wait());
    });
}

// ---- races

class waituntil_race : public race {};
INSTANTIATE_TEST_SUITE_P(all, waituntil_race, testing::ValuesIn(race_settings), name_of_race);

// A strand that gets a mutex, by lock or by a clause, has it alone. A clause that loses against a
// time does not hold the mutex.
TEST_P(waituntil_race, mutex_admits_one_strand_by_lock_or_clause) {
    sennit::mutex lock, other;
    int inside = 0; // guarded by `lock`
    std::atomic<int> taken{0};
    for (int strand = 0; strand < 4; ++strand)
        start([&, strand, mine = sennit::base::random(chance.next())]() mutable {
            for (int i = 0; i < rounds; ++i) {
                const auto hold = [&] {
                    ++inside;
                    if (mine.below(4) == 0) sennit::this_fiber::yield();
                    ++taken;
                };
                if (strand == 0) {
                    std::lock_guard guard(lock);
                    hold();
                } else {
                    sennit::waituntil(
                        sennit::on_lock(lock, hold) or
                        sennit::when(mine.below(2) == 0, sennit::after(some_time(mine), nothing)) or
                        sennit::when(mine.below(4) == 0, sennit::on_lock(other, nothing)));
                }
            }
        });
    join();
    EXPECT_EQ(inside, taken);
    EXPECT_TRUE(lock.try_lock() && other.try_lock());
    lock.unlock(), other.unlock();
}

// Cancellation races with readiness. A token belongs to the strand whose clause has run, or it
// remains in the semaphore.
TEST_P(waituntil_race, token_is_taken_or_remains_however_the_wait_ends) {
    sennit::counting_semaphore<> tokens(0);
    sennit::channel<int> values(sennit::channel<int>::unbounded);
    std::atomic<int> took{0}, popped{0};
    constexpr int each = 300;
    start([&] {
        for (int i = 0; i < 2 * each; ++i) {
            tokens.release();
            (void)values.push(1);
            if (i % 8 == 0) sennit::this_fiber::yield();
        }
    });
    for (int strand = 0; strand < 2; ++strand)
        start([&, mine = sennit::base::random(chance.next())]() mutable {
            for (int i = 0; i < each; ++i) try {
                    sennit::with_timeout(some_time(mine), [&] {
                        sennit::waituntil(sennit::on_acquire(tokens, [&] { ++took; }) and
                                          sennit::on_pop(values, [&](int) { ++popped; }));
                    });
                } catch (const sennit::timed_out&) {
                    // No token or value is taken without a call of its clause.
                }
        });
    join();
    int left_tokens = 0;
    while (tokens.try_acquire()) ++left_tokens;
    EXPECT_EQ(took + left_tokens, 2 * each);
    EXPECT_EQ(popped + static_cast<int>(values.size()), 2 * each);
}

// Pushes, pops and times in one expression, with guards that change. The two pushers use the two
// channels in opposite order.
TEST_P(waituntil_race, every_value_arrives_once) {
    sennit::channel<int> a, b(2);
    std::atomic<long> sent{0}, got{0};
    std::atomic<int> pushing{2};
    for (int p = 0; p < 2; ++p)
        start([&, p, mine = sennit::base::random(chance.next())]() mutable {
            for (int i = 1; i <= rounds; ++i)
                sennit::waituntil(
                    (sennit::on_push(p == 0 ? a : b, i, [&, i] { sent += i; }) and
                     sennit::when(mine.below(2) == 0,
                                  sennit::on_push(p == 0 ? b : a, i, [&, i] { sent += i; }))) or
                    sennit::when(mine.below(4) == 0, sennit::after(some_time(mine), nothing)));
            if (--pushing == 0) a.close(), b.close();
        });
    for (int p = 0; p < 2; ++p)
        start([&] {
            for (bool a_open = true, b_open = true; a_open || b_open;)
                sennit::waituntil(sennit::when(a_open, sennit::on_pop(
                                                           a, [&](int v) { got += v; },
                                                           [&] { a_open = false; })) or
                                  sennit::when(b_open, sennit::on_pop(
                                                           b, [&](int v) { got += v; },
                                                           [&] { b_open = false; })));
        });
    join();
    EXPECT_EQ(sent, got);
}

} // namespace
