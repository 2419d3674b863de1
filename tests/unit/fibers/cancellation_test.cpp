// SPDX-License-Identifier: Apache-2.0
// Tests cancellation by nurseries: it ends every blocked call, does not interrupt locks, and
// touches nothing outside the nursery.
#include "blocked_calls.hpp"

#include <sennit/fiber.hpp>
#include <sennit/once.hpp>
#include <sennit/shared_mutex.hpp>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class cancellation : public on_workers {};
SENNIT_ON_WORKERS(cancellation);

// Counts a call that throws `cancelled`, and rethrows the exception.
template <class Call>
void call_and_note(Call&& call, std::atomic<int>& cancelled) {
    try {
        call();
    } catch (const sennit::cancelled&) {
        ++cancelled;
        throw;
    }
}

TEST_P(cancellation, cancellation_ends_every_blocked_call) {
    for (const blocked_call& what : blocked_calls) {
        runtime.run([&] {
            std::atomic<bool> about{false};
            std::atomic<int> cancelled{0};
            sennit::nursery children;
            children.start([&] { call_and_note([&] { what.call(about); }, cancelled); });
            yield_until(about);
            let_others_run();
            children.cancel();
            children.join();
            EXPECT_EQ(cancelled, 1) << what.name;
        });
    }
}

TEST_P(cancellation, error_of_sibling_ends_every_blocked_call) {
    for (const blocked_call& what : blocked_calls) {
        runtime.run([&] {
            std::atomic<bool> about{false};
            std::atomic<int> cancelled{0};
            sennit::nursery children;
            children.start([&] { call_and_note([&] { what.call(about); }, cancelled); });
            children.start([&] {
                yield_until(about);
                throw std::runtime_error("x");
            });
            EXPECT_THROW(children.join(), std::runtime_error) << what.name;
            EXPECT_EQ(cancelled, 1) << what.name;
        });
    }
}

TEST_P(cancellation, earlier_cancellation_ends_every_blocking_call) {
    for (const blocked_call& what : blocked_calls) {
        if (std::string(what.name) == "nested_nursery")
            continue; // The child of this call does not start, so nothing blocks.
        runtime.run([&] {
            std::atomic<int> cancelled{0};
            std::atomic<bool> about{false};
            sennit::nursery children;
            children.start([&] {
                children.cancel();
                for (int again = 0; again < 2; ++again) {
                    try {
                        what.call(about);
                        ADD_FAILURE() << what.name << " ended without an exception";
                    } catch (const sennit::cancelled&) {
                        ++cancelled;
                    }
                }
            });
            children.join();
            EXPECT_EQ(cancelled, 2) << what.name;
        });
    }
}

TEST_P(cancellation, cancellation_reaches_nested_nurseries) {
    runtime.run([] {
        std::atomic<int> cancelled{0}, blocked{0};
        const auto leaf = [&] {
            call_and_note(
                [&] {
                    ++blocked;
                    sennit::event().wait();
                },
                cancelled);
        };
        sennit::nursery outer;
        for (int i = 0; i < 3; ++i)
            outer.start([&] {
                sennit::nursery middle;
                for (int k = 0; k < 3; ++k)
                    middle.start([&] {
                        sennit::nursery inner;
                        inner.start(leaf);
                        inner.start(leaf);
                        call_and_note([&] { inner.join(); }, cancelled);
                    });
                call_and_note([&] { middle.join(); }, cancelled);
            });
        yield_until([&] { return blocked == 18; });
        let_others_run();
        outer.cancel();
        outer.join();
        EXPECT_GE(cancelled, 18);
    });
}

TEST_P(cancellation, cancelled_inner_nursery_leaves_outer_nursery_alone) {
    runtime.run([] {
        sennit::event go;
        std::atomic<int> ended{0};
        sennit::nursery outer;
        outer.start([&] {
            go.wait();
            ++ended;
        });
        outer.start([&] {
            sennit::nursery inner;
            inner.start([] { throw std::runtime_error("inner"); });
            inner.start([] { sennit::event().wait(); });
            EXPECT_THROW(inner.join(), std::runtime_error);
            go.set();
            // The cancellation of the inner nursery does not disturb a later blocked call.
            sennit::this_fiber::sleep_for(1us);
            ++ended;
        });
        outer.join();
        EXPECT_EQ(ended, 2);
        EXPECT_FALSE(outer.cancelled());
    });
}

TEST_P(cancellation, uncaught_inner_error_cancels_outer_nursery) {
    runtime.run([] {
        std::atomic<int> cancelled{0};
        sennit::nursery outer;
        outer.start([&] { call_and_note([] { sennit::event().wait(); }, cancelled); });
        outer.start([&] {
            sennit::nursery inner;
            inner.start([] { throw std::runtime_error("inner"); });
            inner.join();
        });
        EXPECT_THROW(outer.join(), std::runtime_error);
        EXPECT_LE(cancelled, 1); // That child may not have started.
    });
}

// Expects that a cancellation does not interrupt `wait`. The wait ends after `free`, which runs
// after the cancellation.
template <class Wait, class Free>
void expect_undisturbed(const char* name, Wait&& wait, Free&& free) {
    std::atomic<bool> about{false};
    std::atomic<int> got{0}, cancelled{0};
    sennit::nursery children;
    children.start([&] {
        about = true;
        wait();
        ++got;
        call_and_note([] { sennit::event().wait(); }, cancelled);
    });
    yield_until(about);
    let_others_run();
    children.cancel();
    let_others_run();
    EXPECT_EQ(got, 0) << name;
    free();
    children.join();
    EXPECT_EQ(got, 1) << name;
    EXPECT_EQ(cancelled, 1) << name;
}

TEST_P(cancellation, cancellation_does_not_interrupt_locks_joins_and_call_once) {
    runtime.run([] {
        sennit::mutex plain;
        plain.lock();
        expect_undisturbed("mutex", [&] { std::lock_guard own(plain); }, [&] { plain.unlock(); });
        sennit::recursive_timed_mutex timed;
        timed.lock();
        expect_undisturbed(
            "try_lock_for",
            [&] {
                EXPECT_TRUE(timed.try_lock_for(1h));
                timed.unlock();
            },
            [&] { timed.unlock(); });
        sennit::shared_mutex shared;
        shared.lock();
        expect_undisturbed(
            "lock_shared", [&] { std::shared_lock own(shared); }, [&] { shared.unlock(); });
        sennit::event go;
        sennit::fiber other([&] { go.wait(); });
        expect_undisturbed("join", [&] { other.join(); }, [&] { go.set(); });
        sennit::event started, finish;
        sennit::once_flag once;
        sennit::fiber first([&] {
            sennit::call_once(once, [&] {
                started.set();
                finish.wait();
            });
        });
        started.wait();
        expect_undisturbed(
            "call_once", [&] { sennit::call_once(once, [] {}); }, [&] { finish.set(); });
    });
}

TEST_P(cancellation, cancellation_reaches_only_children) {
    runtime.run([] {
        sennit::event go;
        sennit::fiber free;
        sennit::nursery children;
        children.start([&] {
            free = sennit::fiber([&] { return go.wait(), 3; });
            children.cancel();
        });
        children.join();
        go.set();
        EXPECT_EQ(free.join<int>(), 3);
    });
}

TEST_P(cancellation, cancelled_join_throws_after_all_children_have_ended) {
    runtime.run([] {
        std::atomic<int> alive{0}, cancelled{0};
        sennit::nursery outer;
        outer.start([&] {
            sennit::nursery inner;
            for (int i = 0; i < 10; ++i)
                inner.start([&] {
                    ++alive;
                    try {
                        sennit::event().wait();
                    } catch (...) {
                        let_others_run();
                        --alive;
                        throw;
                    }
                });
            call_and_note([&] { inner.join(); }, cancelled);
        });
        yield_until([&] { return alive == 10; });
        let_others_run();
        outer.cancel();
        outer.join();
        EXPECT_EQ(alive, 0);
        EXPECT_LE(cancelled, 1);
    });
}

TEST_P(cancellation, cancellation_races_with_starts_waits_ends_and_errors) {
    runtime.run([] {
        std::atomic<int> alive{0};
        for (int i = 0; i < race_rounds; ++i) {
            sennit::counting_semaphore<> tokens(0);
            sennit::nursery children;
            for (int k = 0; k < 4; ++k)
                children.start([&, k] {
                    ++alive;
                    struct leaving {
                        std::atomic<int>& count;
                        ~leaving() { --count; }
                    } at_end{alive};
                    if (k == 0) tokens.release();
                    if (k == 3 && i % 5 == 0) throw std::runtime_error("x");
                    tokens.acquire();
                });
            if (i % 3 == 0) sennit::this_fiber::yield();
            if (i % 7 == 0)
                std::thread([&] { children.cancel(); }).join();
            else
                children.cancel();
            try {
                children.join();
            } catch (const std::runtime_error&) {
                EXPECT_EQ(i % 5, 0);
            }
            ASSERT_EQ(alive, 0);
        }
    });
}

} // namespace
