// SPDX-License-Identifier: Apache-2.0
// Bugs that refusals have found, with the smallest program of each.
#include "faults.hpp"

#include <sennit/active.hpp>
#include <sennit/actor.hpp>
#include <sennit/blocking.hpp>
#include <sennit/catcher.hpp>
#include <sennit/coroutine.hpp>
#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/future.hpp>
#include <sennit/nursery.hpp>
#include <sennit/promise.hpp>
#include <sennit/receiver.hpp>
#include <sennit/runtime.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

namespace {

using faults::extent, faults::request;

// The text of the error needs memory. Without memory for it the program ended, because no waiter
// could receive the error.
TEST(refusals_regress, promise_breaks_without_memory) {
    std::optional<sennit::promise<int>> given(std::in_place);
    sennit::future<int> waits = given->get_future();
    faults::refuse(request::allocation, 1, extent::all_from_there);
    given.reset();
    EXPECT_GE(faults::stop(), 1);
    EXPECT_THROW(waits.get(), std::bad_alloc);
}

struct nothing_to_say {};
class listener : public sennit::actor<listener, nothing_to_say> {
public:
    void on(nothing_to_say) {}
};

// The search for the group's actors needed memory; without it the program ended.
TEST(refusals_regress, group_without_actors_stops_without_memory) {
    // The program uses its own runtime. The default runtime would continue beside the tests that
    // count live objects.
    sennit::runtime runtime;
    runtime.run([] {
        sennit::actor_group group;
        group.spawn<listener>().stop();
        group.join();
        faults::refuse(request::allocation, 1, extent::all_from_there);
        group.stop();
        EXPECT_EQ(faults::stop(), 0);
    });
}

// Each end was a message, and without memory for the message the program ended.
TEST(refusals_regress, group_with_actors_ends_without_memory) {
    sennit::runtime runtime({.workers = 2});
    runtime.run([] {
        {
            sennit::actor_group group;
            for (int i = 0; i < 20; ++i) group.spawn<listener>();
            faults::refuse(request::allocation, 1, extent::all_from_there);
            group.stop();
            group.stop();
            group.join();
            EXPECT_EQ(group.size(), 0u);
        }
        EXPECT_GE(faults::stop(), 1);
    });
}

// The removal of the catcher's handler was a question, and without memory for the question the
// program ended.
TEST(refusals_regress, catcher_and_its_receiver_end_without_memory) {
    sennit::runtime runtime({.workers = 2});
    runtime.run([] {
        {
            sennit::receiver here;
            const sennit::catcher<nothing_to_say> caught(here);
            faults::refuse(request::allocation, 1, extent::all_from_there);
        }
        (void)faults::stop();
    });
}

struct go_on {};
struct thread_of_now {
    using reply = std::thread::id;
};
// A separate function: within one function the compiler takes the thread's identity for a constant,
// which a handler that blocks shows to be wrong.
[[gnu::noinline]] std::thread::id thread_here() {
    asm volatile("");
    return std::this_thread::get_id();
}
class traveller : public sennit::actor<traveller, go_on, thread_of_now> {
public:
    traveller() = default;
    traveller(sennit::event& waits_for, std::atomic<std::thread::id>& first,
              std::atomic<std::thread::id>& then)
        : waits_for_(&waits_for), first_(&first), then_(&then) {}
    void on(go_on) {
        first_->store(thread_here());
        waits_for_->wait();
        then_->store(thread_here());
    }
    std::thread::id on(thread_of_now) { return std::this_thread::get_id(); }

private:
    sennit::event* waits_for_ = nullptr;
    std::atomic<std::thread::id>* first_ = nullptr;
    std::atomic<std::thread::id>* then_ = nullptr;
};

// A handler that blocked continued on another worker. That worker tried for ever to enter the first
// worker's queue, which the system refused from then on.
TEST(refusals_regress, actor_moves_when_membarriers_are_refused_later) {
    sennit::runtime runtime({.workers = 2, .max_spare_workers = 0});
    sennit::actor_group group(runtime);
    sennit::event open;
    std::atomic<std::thread::id> first{}, then{};
    const auto one = group.spawn<traveller>(open, first, then);
    one.tell(go_on{});
    while (first.load() == std::thread::id()) std::this_thread::yield();
    faults::refuse(request::barrier, 1, extent::all_from_there);
    std::atomic<bool> kept{false};
    // This fiber occupies the first worker until the handler has continued elsewhere.
    std::thread keeps([&] {
        runtime.run([&] {
            sennit::nursery both;
            for (unsigned i = 0; i < 2; ++i)
                both.start(sennit::fiber_attributes{.worker = i}, [&] {
                    if (std::this_thread::get_id() != first.load()) return;
                    kept = true;
                    while (then.load() == std::thread::id()) std::this_thread::yield();
                });
            both.join();
        });
    });
    while (!kept.load()) std::this_thread::yield();
    open.set();
    keeps.join();
    EXPECT_NE(one.ask(thread_of_now{}).get(), std::thread::id());
    EXPECT_NE(first.load(), then.load());
    EXPECT_GE(faults::stop(), 1);
}

// `spawn` of an actor for a worker other than the owner of the actor's slot tried for ever when the
// system refused membarriers.
TEST(refusals_regress, actor_for_one_worker_spawns_when_membarriers_are_refused_later) {
    sennit::runtime runtime({.workers = 2, .max_spare_workers = 0});
    sennit::actor_group group(runtime);
    for (unsigned i = 0; i < 2; ++i) {
        const auto here = runtime.run([&] {
            return sennit::fiber(sennit::fiber_attributes{.worker = i},
                                 [] { return std::this_thread::get_id(); })
                .join<std::thread::id>();
        });
        // A spawn that takes a slot from a worker which uses its queue alone needs a membarrier.
        std::atomic<bool> busy{false}, spawned{false};
        std::thread occupies([&] {
            runtime.run([&] {
                const sennit::fiber_attributes there{.worker = 1 - i};
                sennit::fiber(there, [&] {
                    for (int many = 0; many < 1000; ++many) sennit::fiber(there, [] {}).join();
                    busy = true;
                    while (!spawned.load()) std::this_thread::yield();
                }).join();
            });
        });
        while (!busy.load()) std::this_thread::yield();
        faults::refuse(request::barrier, 1, extent::all_from_there);
        // A thread that is not a worker spawns the actors, so the slots of those that are not bound
        // alternate between the workers.
        const sennit::spawn_options bound{.worker = i}, begun{.initial_worker = i};
        std::vector<sennit::actor_ref<traveller>> stay, may_move;
        for (int many = 0; many < 4; ++many) {
            stay.push_back(group.spawn<traveller>(bound));
            may_move.push_back(group.spawn<traveller>(begun));
        }
        EXPECT_GE(faults::so_far(), 1);
        spawned = true;
        for (int k = 0; k < 10; ++k) {
            for (const auto& one : stay) EXPECT_EQ(one.ask(thread_of_now{}).get(), here);
            for (const auto& one : may_move)
                EXPECT_NE(one.ask(thread_of_now{}).get(), std::thread::id());
        }
        faults::stop();
        occupies.join();
    }
}

// The refused call waited behind a call that had a thread and might wait for an effect of the
// refused call.
TEST(refusals_regress, blocking_call_without_a_thread_runs_as_a_plain_call) {
    sennit::runtime runtime({.workers = 2});
    runtime.run([] {
        std::binary_semaphore released{0};
        sennit::event begun;
        sennit::fiber first([&] {
            sennit::blocking([&] {
                begun.set();
                released.acquire();
            });
        });
        begun.wait();
        faults::refuse(request::thread_creation, 1, extent::all_from_there);
        sennit::fiber second([&] { sennit::blocking([&] { released.release(); }); });
        second.join();
        EXPECT_GE(faults::stop(), 1);
        first.join();
    });
}

// If the fiber of an active object could not be made, the monitor was destroyed as if a call were
// inside. Here there is no memory even for the runtime.
struct busy_monitor : sennit::monitor {
    void run() {}
};
TEST(refusals_regress, active_object_throws_without_memory) {
    faults::refuse(request::allocation, 1, extent::all_from_there);
    EXPECT_THROW(sennit::active<busy_monitor>(), std::bad_alloc);
    EXPECT_GE(faults::stop(), 1);
}

// A transfer to a coroutine that had not begun, and whose stack was refused, broke both coroutines.
TEST(refusals_regress, transfer_without_a_stack_changes_nothing) {
    int turns = 0;
    sennit::coroutine<> second({.stack_size = 64 << 20}, [&](auto&) {
        turns += 10;
    }); // of a size that no stack has had before
    sennit::coroutine<> first([&](auto& self) {
        faults::refuse(request::mapping, 1, extent::all_from_there);
        EXPECT_THROW(self.transfer(second), std::bad_alloc);
        EXPECT_GE(faults::stop(), 1);
        ++turns;
        self.suspend();
        ++turns;
    });
    first.resume();
    EXPECT_EQ(turns, 1);
    second.resume();
    EXPECT_EQ(turns, 11);
    first.resume();
    EXPECT_EQ(turns, 12);
}

} // namespace
