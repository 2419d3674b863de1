// SPDX-License-Identifier: Apache-2.0
// Coroutines and their stacks between threads: sennit/coroutine.hpp,
// src/core/switch/coroutine_stack.cpp.
#include "engine.hpp"
#include "ground/ground.hpp"

#include "sennit/coroutine.hpp"
#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/this_fiber.hpp"

#include <optional>

namespace {

// Coroutine stacks live as long as the process. Some are created before the first execution, so
// that no execution creates one.
const bool enough_coroutine_stacks = [] {
    const std::function<void(int)> nest = [&](int deep) {
        sennit::coroutine<> one([&](auto&) {
            if (deep > 1) nest(deep - 1);
        });
        one.resume();
    };
    nest(6);
    return true;
}();

// Plain data on the coroutine's stack, so the explorer finds races on it. Its destructor counts.
struct guest {
    explicit guest(sim::var<int>& gone) : gone_(gone) {}
    ~guest() { gone_ = gone_ + 1; }
    guest(const guest&) = delete;
    sim::var<int> turns{0};

private:
    sim::var<int>& gone_;
};

} // namespace

// One thread begins the coroutine, and another thread continues it until it ends.
SIM_SCENARIO_WITHIN(coroutine, coroutine_is_resumed_by_another_thread, .preemptions = 2,
                    .stale_reads = 2) {
    sim::var<int> gone{0};
    sennit::event handed;
    sennit::coroutine<int, int> one([&](auto& self, int value) {
        guest here(gone);
        for (int i = 0; i < 2; ++i) {
            here.turns = here.turns + value;
            value = self.suspend(here.turns);
        }
        return here.turns + value;
    });
    sim::check(one.resume(1) == 1, "the first turn");
    sim::thread other([&] {
        handed.wait();
        sim::check(one.resume(10) == 11, "the second turn sees the first");
        sim::check(one.resume(100) == 111 && one.done(), "the last turn");
    });
    handed.set();
    other.join();
    sim::check(gone == 1, "the objects on the coroutine's stack are destroyed");
}

// Another thread destroys the suspended coroutine, and a new coroutine takes its stack immediately.
SIM_SCENARIO_WITHIN(coroutine, another_thread_destroys_suspended_coroutine, .preemptions = 2,
                    .stale_reads = 2) {
    sim::var<int> gone{0};
    sennit::event handed;
    std::optional<sennit::coroutine<>> one;
    one.emplace([&](auto& self) {
        guest here(gone);
        self.suspend();
        sim::check(false, "the coroutine continues after its end");
    });
    one->resume();
    sim::thread other([&] {
        handed.wait();
        one.reset();
        sim::check(gone == 1, "the coroutine's stack is unwound");
        sennit::coroutine<> next([&](auto&) { gone = gone + 1; });
        next.resume();
    });
    handed.set();
    other.join();
    sim::check(gone == 2, "the next coroutine has run");
}

// Two threads take stacks, run on them and return them: a thread may get a stack that the other has
// returned.
SIM_SCENARIO_WITHIN(coroutine, threads_reuse_each_others_stacks, .preemptions = 2,
                    .stale_reads = 1) {
    sim::var<int> ran[2];
    sim::in_threads(2, [&](unsigned me) {
        for (int i = 0; i < 2; ++i) {
            sennit::coroutine<> one([&](auto& self) {
                ran[me] = ran[me] + 1;
                self.suspend();
                ran[me] = ran[me] + 1;
            });
            one.resume();
            one.resume();
            sim::check(one.done(), "the coroutine has ended");
        }
    });
    sim::check(ran[0] == 4 && ran[1] == 4, "all coroutines have run");
}

// The body waits for a fiber. It continues on the worker on which its resumer's context continues,
// and suspends from there.
SIM_SCENARIO_WITHIN(coroutine, blocked_body_moves_with_resumer, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = "wait.cpp worker.cpp thief.cpp switching.hpp coroutine_stack.cpp "
                                  "event.cpp event.hpp run_queue.hpp") {
    engine two(2);
    sim::var<int> gone{0};
    sim::var<int> data{0};
    two.run([&] {
        sennit::event set;
        sennit::fiber setter([&] {
            data = 42;
            set.set();
        });
        sennit::coroutine<void, int> one([&](auto& self) {
            guest here(gone);
            here.turns = 1;
            set.wait();
            self.suspend(data + here.turns);
            return 0;
        });
        sim::check(one.resume() == 43, "the write of the fiber is visible");
        sennit::this_fiber::yield();
        sim::check(one.resume() == 0 && one.done(), "the coroutine ends on its resumer's worker");
        setter.join();
    });
    sim::check(gone == 1, "the objects on the coroutine's stack are destroyed");
}

// The body of a coroutine forks a child and joins it: forks inside a body belong to the resumer.
SIM_SCENARIO_WITHIN(coroutine, body_forks_for_resumer, .preemptions = 2, .stale_reads = 0,
                    .preempt_in =
                        "fork_stack.cpp steal_fork.cpp advance_split.hpp worker_tls.hpp worker.cpp "
                        "thief.cpp switching.hpp coroutine_stack.cpp one_shot.cpp") {
    engine two(2);
    sim::var<int> a{0}, b{0};
    two.run([&] {
        sennit::coroutine<> one([&](auto& self) {
            sennit::fork_join([&] { a = a + 1; }, [&] { b = b + 1; });
            self.suspend();
            sim::check(a == 1 && b == 1, "each child has run once");
        });
        one.resume();
        one.resume();
    });
}

// A worker keeps the stacks that it has used, and gives them to all threads when it ends.
SIM_SCENARIO_WITHIN(coroutine, stacks_outlive_worker, .preemptions = 2, .stale_reads = 0) {
    const std::size_t before = sim::coroutine_stacks_made();
    for (int i = 0; i < 7; ++i) { // more than there are stacks
        engine one(1);
        one.run([] {
            sennit::coroutine<> inner([](auto& self) { self.suspend(); });
            inner.resume();
            inner.resume();
        });
    }
    sim::check(sim::coroutine_stacks_made() == before, "each stack is reused");
}
