// SPDX-License-Identifier: Apache-2.0
// Tests fibers that change their runtime for good: fiber_attributes::migratable,
// this_fiber::migrate_to.
#include "on_workers.hpp"
#include "runtime_here.hpp"

#include <sennit/blocking.hpp>
#include <sennit/channel.hpp>
#include <sennit/coroutine.hpp>
#include <sennit/detail/core/verbs.hpp>
#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/fiber_local.hpp>
#include <sennit/fork_each.hpp>
#include <sennit/fork_join.hpp>
#include <sennit/mutex.hpp>
#include <sennit/nursery.hpp>
#include <sennit/scope.hpp>
#include <sennit/with_timeout.hpp>

#include <cfenv>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::this_fiber::migrate_to;

// Fibers migrate from `here`, whose number of workers is the parameter, to `there`. Both runtimes
// have four workers together.
class migratable_fiber : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime here{{.workers = GetParam(), .name = "here"}};
    sennit::runtime there{{.workers = 4 - GetParam(), .name = "there"}};
    const sennit::fiber_attributes moves{.name = "mover", .runtime = &here, .migratable = true};

    void TearDown() override {
        expect_nothing_alive(here);
        expect_nothing_alive(there);
    }
};
INSTANTIATE_TEST_SUITE_P(workers, migratable_fiber, testing::Values(1u, 2u, 3u),
                         [](const auto& test) {
                             return std::string(1, 'w').append(std::to_string(test.param));
                         });

TEST_P(migratable_fiber, fiber_migrates_back_and_forth) {
    int moved = 0;
    sennit::fiber one(moves, [&] {
        for (int i = 0; i < 500; ++i) {
            migrate_to(there);
            moved += is_in(there);
            migrate_to(here);
            moved += is_in(here);
        }
    });
    one.join();
    EXPECT_EQ(moved, 1000);
}

TEST_P(migratable_fiber, migration_to_current_runtime_does_nothing) {
    sennit::fiber one(moves, [&] {
        const auto runs = here.metrics().tasks_run;
        migrate_to(here);
        EXPECT_TRUE(is_in(here));
        if (here.workers() == 1) {
            EXPECT_EQ(here.metrics().tasks_run, runs);
        }
    });
    one.join();
}

TEST_P(migratable_fiber, fiber_keeps_identity_and_locals) {
    static sennit::fiber_local<std::unique_ptr<int>> local([] { return std::make_unique<int>(1); });
    sennit::event asked;
    sennit::fiber one(moves, [&](std::stop_token stop) {
        const auto id = sennit::this_fiber::get_id();
        const int* kept = local->get();
        **local = 7;
        for (int i = 0; i < 10; ++i) {
            migrate_to(i % 2 == 0 ? there : here);
            EXPECT_EQ(sennit::this_fiber::get_id(), id);
            EXPECT_EQ(sennit::this_fiber::name(), "mover");
            EXPECT_EQ(local->get(), kept);
            EXPECT_EQ(**local, 7);
            EXPECT_EQ(sennit::this_fiber::get_stop_token(), stop);
        }
        migrate_to(there);
        EXPECT_FALSE(stop.stop_requested());
        asked.set();
        while (!stop.stop_requested()) sennit::this_fiber::yield();
        return id;
    });
    const auto id = one.get_id();
    EXPECT_EQ(one.name(), "mover");
    asked.wait();
    EXPECT_TRUE(one.request_stop());
    EXPECT_EQ(one.join<sennit::fiber::id>(), id);
}

TEST_P(migratable_fiber, fiber_locals_are_destroyed_once_at_end) {
    struct tells {
        int* gone;
        explicit tells(int* where) : gone(where) {}
        tells(tells&& other) noexcept : gone(std::exchange(other.gone, nullptr)) {}
        ~tells() {
            if (gone) ++*gone;
        }
    };
    int gone = 0;
    sennit::fiber_local<tells> local([&] { return tells(&gone); });
    sennit::fiber one(moves, [&] {
        (void)local.get();
        for (int i = 0; i < 3; ++i) {
            migrate_to(there);
            EXPECT_EQ(gone, 0);
            migrate_to(here);
            EXPECT_EQ(gone, 0);
        }
    });
    one.join();
    EXPECT_EQ(gone, 1);
}

TEST_P(migratable_fiber, fiber_sees_its_new_thread_and_worker) {
    static thread_local int of_this_thread = 0;
    // The volatile pointers make each call compute its result anew. The compiler may assume that a
    // function does not change its thread.
    static int* (*volatile const mark)() = [] { return &of_this_thread; };
    static std::thread::id (*volatile const thread)() = [] { return std::this_thread::get_id(); };
    sennit::fiber one(moves, [&] {
        *mark() = 1; // Marks a thread of `here`.
        const auto before = thread();
        migrate_to(there);
        EXPECT_NE(thread(), before);
        EXPECT_EQ(*mark(), 0);
        int sum = 0;
        sennit::fiber child([&] { sum += is_in(there); });
        child.join();
        auto [a, b] = sennit::fork_join([&] { return is_in(there); }, [&] { return is_in(there); });
        EXPECT_EQ(sum + a + b, 3);
        EXPECT_TRUE(there.run([&] { return is_in(there); }));
        EXPECT_TRUE(here.run([&] { return is_in(here); }));
        EXPECT_TRUE(is_in(there));
    });
    one.join();
}

TEST_P(migratable_fiber, fiber_is_joined_from_either_runtime_during_migration) {
    for (int round = 0; round < race_rounds / 100; ++round) {
        const auto body = [&] {
            for (int i = 0; i < round % 4; ++i) migrate_to(i % 2 == 0 ? there : here);
            return round;
        };
        sennit::fiber one(moves, body), two(moves, body), three(moves, body), four(moves, body);
        EXPECT_EQ(one.join<int>(), round);
        EXPECT_EQ(here.run([&] { return two.join<int>(); }), round);
        EXPECT_EQ(there.run([&] { return three.join<int>(); }), round);
        while (!four.join_for(1us)) {
        }
        here.run([&] {
            sennit::fiber own({.migratable = true}, body),
                now({.policy = sennit::launch::now, .migratable = true}, body);
            EXPECT_EQ(own.join<int>(), round);
            EXPECT_EQ(now.join<int>(), round);
        });
    }
}

TEST_P(migratable_fiber, fiber_is_detached_or_destroyed_during_migration) {
    std::atomic<int> ended{0};
    constexpr int rounds = race_rounds / 100;
    for (int round = 0; round < rounds; ++round) {
        const auto body = [&] {
            migrate_to(there);
            migrate_to(here);
            ++ended;
        };
        sennit::fiber(moves, body).detach();
        const sennit::fiber destroyed(moves, body);
    }
    while (ended != 2 * rounds) here.run([] { sennit::this_fiber::yield(); });
}

TEST_P(migratable_fiber, exception_after_migration_reaches_join) {
    sennit::fiber one(moves, [&] {
        migrate_to(there);
        throw std::runtime_error("lost there");
    });
    try {
        one.join();
        ADD_FAILURE();
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "lost there");
    }
}

TEST_P(migratable_fiber, exceptions_in_flight_migrate_with_fiber) {
    sennit::fiber one(moves, [&] {
        struct mover {
            sennit::runtime& target;
            ~mover() {
                EXPECT_EQ(std::uncaught_exceptions(), 1);
                migrate_to(target);
                EXPECT_EQ(std::uncaught_exceptions(), 1);
            }
        };
        try {
            try {
                const mover during_unwinding{there};
                throw std::runtime_error("kept");
            } catch (const std::runtime_error& caught) {
                EXPECT_TRUE(is_in(there));
                EXPECT_EQ(std::uncaught_exceptions(), 0);
                for (int i = 0; i < 5; ++i) {
                    migrate_to(here);
                    sennit::this_fiber::yield();
                    migrate_to(there);
                }
                EXPECT_STREQ(caught.what(), "kept");
                throw;
            }
        } catch (const std::runtime_error& again) {
            migrate_to(here);
            EXPECT_STREQ(again.what(), "kept");
        }
        EXPECT_EQ(std::current_exception(), nullptr);
    });
    one.join();
    // No exception is left in the threads of the runtimes.
    here.run([] { EXPECT_EQ(std::current_exception(), nullptr); });
    there.run([] { EXPECT_EQ(std::current_exception(), nullptr); });
}

TEST_P(migratable_fiber, rounding_mode_migrates_with_fiber) {
    sennit::fiber one(moves, [&] {
        ASSERT_EQ(std::fesetround(FE_DOWNWARD), 0);
        migrate_to(there);
        EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
        here.run([] { EXPECT_EQ(std::fegetround(), FE_TONEAREST); });
        migrate_to(here);
        EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
        std::fesetround(FE_TONEAREST);
    });
    one.join();
    there.run([] { EXPECT_EQ(std::fegetround(), FE_TONEAREST); });
}

TEST_P(migratable_fiber, fiber_uses_locks_and_channels_in_both_runtimes) {
    sennit::mutex lock;
    int guarded = 0;
    constexpr int each = race_rounds / 100;
    sennit::channel<int> sent(2);
    std::vector<sennit::fiber> all;
    for (int f = 0; f < 4; ++f)
        all.emplace_back(moves, [&, f] {
            for (int i = 0; i < each; ++i) {
                {
                    std::lock_guard guard(lock);
                    const int before = guarded;
                    migrate_to(i % 2 == f % 2 ? there : here);
                    guarded = before + 1;
                }
                sent.push(1);
            }
        });
    int received = 0;
    sennit::fiber receiver(moves, [&] {
        for (int i = 0; i < 4 * each; ++i) {
            received += sent.pop().value_or(0);
            if (i % 3 == 0) migrate_to(is_in(here) ? there : here);
        }
    });
    receiver.join();
    for (auto& one : all) one.join();
    EXPECT_EQ(received, 4 * each);
    EXPECT_EQ(guarded, 4 * each);
}

TEST_P(migratable_fiber, nursery_child_migrates) {
    std::atomic<int> cut_short{0};
    here.run([&] {
        sennit::event blocked;
        sennit::nursery family;
        family.start({.migratable = true}, [&] {
            migrate_to(there);
            EXPECT_TRUE(is_in(there));
            blocked.set();
            try {
                sennit::event never;
                never.wait();
            } catch (const sennit::cancelled&) {
                EXPECT_TRUE(is_in(there));
                ++cut_short;
                throw;
            }
        });
        blocked.wait();
        family.cancel();
        family.join();
    });
    EXPECT_EQ(cut_short, 1);
}

TEST_P(migratable_fiber, nursery_and_coroutine_migrate_with_fiber) {
    sennit::fiber one(moves, [&] {
        sennit::coroutine<void, int> counter([](auto& self) {
            for (int i = 0;; ++i) self.suspend(i);
            return 0;
        });
        EXPECT_EQ(counter.resume(), 0);
        sennit::nursery family;
        sennit::event go;
        std::atomic<int> ran{0};
        family.start([&] {
            go.wait();
            ran += is_in(here);
        });
        migrate_to(there);
        EXPECT_EQ(counter.resume(), 1);
        family.start([&] { ran += is_in(there); });
        go.set();
        family.join();
        EXPECT_EQ(ran, 2);
        migrate_to(here);
        EXPECT_EQ(counter.resume(), 2);
    });
    one.join();
}

TEST_P(migratable_fiber, fiber_has_requested_stack_size) {
    const auto size = [] { return sennit::this_fiber::stack().size; };
    const auto with = [&](std::size_t bytes) {
        return sennit::fiber({.runtime = &here, .stack_size = bytes, .migratable = true}, size)
            .join<std::size_t>();
    };
    EXPECT_GT(with(0), std::size_t{1020} << 10);
    EXPECT_GT(with(3 << 20), std::size_t{3} << 20);
    EXPECT_LE(with(64 << 10), std::size_t{64} << 10);
    try {
        sennit::fiber(
            {.runtime = &here, .stack_size = (std::size_t{1} << 30) + 1, .migratable = true}, [] {})
            .join();
        ADD_FAILURE();
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "sennit: [SNT-106] fiber_attributes::stack_size must be at most 1 GiB");
    }
}

TEST_P(migratable_fiber, fiber_does_not_start_if_copying_its_function_throws) {
    struct refusing {
        refusing() = default;
        refusing(const refusing&) { throw std::runtime_error("copy"); }
        void operator()() const { ADD_FAILURE(); }
    };
    const refusing function;
    EXPECT_THROW(sennit::fiber one(moves, function), std::runtime_error);
}

// ---- misuse: migrate_to throws, and the fiber continues where it is

void expect_refused(sennit::runtime& to, const std::string& why) {
    auto* const before = sennit::sched::current_runtime();
    try {
        migrate_to(to);
        ADD_FAILURE() << "the fiber has migrated";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::operation_not_permitted);
        EXPECT_EQ(std::string(error.what()).substr(0, why.size()), why);
    }
    EXPECT_EQ(sennit::sched::current_runtime(), before);
}

const std::string none =
    "sennit: [SNT-108] this_fiber::migrate_to: the caller is not a migratable fiber";
const std::string inside =
    "sennit: [SNT-109] this_fiber::migrate_to: a fiber cannot move inside a fork, a scope with "
    "children, a with_timeout, a "
    "coroutine, a blocking call or the destructor of a fiber_local";

TEST_P(migratable_fiber, only_migratable_fiber_migrates) {
    expect_refused(there, none);
    here.run([&] { expect_refused(there, none); });
    sennit::fiber other({.name = "stays", .runtime = &here}, [&] {
        expect_refused(there, none);
        expect_refused(here, none);
    });
    other.join();
    sennit::fiber one(moves, [&] {
        // The child is not migratable, though its parent is.
        sennit::fiber child([&] { expect_refused(there, none); });
        child.join();
    });
    one.join();
}

TEST_P(migratable_fiber, fiber_does_not_migrate_out_of_enclosing_call) {
    sennit::fiber one(moves, [&] {
        sennit::with_timeout(1h, [&] { expect_refused(there, inside); });
        sennit::coroutine<> inner([&](auto&) { expect_refused(there, inside); });
        inner.resume();
        if (GetParam() == 1) { // No other worker steals the forks.
            sennit::fork_join([&] { expect_refused(there, inside); }, [] {});
            sennit::fork_each(3, [&](std::size_t i) {
                if (i == 0) expect_refused(there, inside);
            });
        }
        {
            sennit::scope children;
            children.spawn([] {});
            expect_refused(there, inside);
            children.join();
        }
        sennit::blocking([&] { expect_refused(there, inside); });
        migrate_to(there); // The fiber has left all enclosing calls.
        EXPECT_TRUE(is_in(there));
    });
    one.join();
}

TEST_P(migratable_fiber, stolen_fork_does_not_migrate) {
    if (GetParam() == 1) return;
    sennit::fiber one(moves, [&] {
        std::atomic<bool> stolen{false};
        sennit::fork_join([&] { yield_until(stolen); },
                          [&] {
                              expect_refused(there, none);
                              stolen = true;
                          });
    });
    one.join();
}

TEST_P(migratable_fiber, fiber_does_not_migrate_after_its_end) {
    struct late {
        sennit::runtime* to;
        explicit late(sennit::runtime* target) : to(target) {}
        late(late&& other) noexcept : to(std::exchange(other.to, nullptr)) {}
        ~late() {
            if (to) expect_refused(*to, inside);
        }
    };
    sennit::fiber_local<late> local([&] { return late(&there); });
    sennit::fiber one(moves, [&] { (void)local.get(); });
    one.join();
}

TEST_P(migratable_fiber, migratable_fiber_cannot_be_bound_to_worker) {
    const auto make = [&](const sennit::fiber_attributes& how) {
        try {
            sennit::fiber(how, [] { ADD_FAILURE(); }).join();
            ADD_FAILURE();
        } catch (const std::invalid_argument& error) {
            EXPECT_STREQ(
                error.what(),
                "sennit: [SNT-101] a fiber cannot be migratable and bound to a worker; set either "
                "fiber_attributes::migratable or fiber_attributes::worker (or pinned)");
        }
    };
    make({.runtime = &here, .worker = 0, .migratable = true});
    make({.runtime = &here, .pinned = true, .migratable = true});
}

} // namespace
