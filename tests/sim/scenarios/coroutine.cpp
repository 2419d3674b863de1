// SPDX-License-Identifier: Apache-2.0
// Coroutines and their side stacks between threads: sennit/coroutine.hpp,
// src/fibers/runtime/coroutine_stack.cpp.
#include "engine.hpp"
#include "ground/ground.hpp"

#include "sennit/coroutine.hpp"
#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/this_fiber.hpp"

#include <optional>

namespace {

// Side stacks live as long as the process: so that none is made within an execution, some are there
// before the first.
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

// Plain data on the coroutine's stack, whose races are found; says when it is destroyed.
struct guest {
    explicit guest(sim::var<int>& gone) : gone_(gone) {}
    ~guest() { gone_ = gone_ + 1; }
    guest(const guest&) = delete;
    sim::var<int> turns{0};

private:
    sim::var<int>& gone_;
};

} // namespace

// One thread begins it, another goes on with it, and it ends there.
SIM_SCENARIO_WITHIN(coroutine, is_handed_to_another_thread, .preemptions = 2, .stale_reads = 2) {
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
    sim::check(gone == 1, "what was on its stack is destroyed");
}

// Suspended, it is destroyed by another thread, which takes a new one's stack at once.
SIM_SCENARIO_WITHIN(coroutine, is_destroyed_by_another_thread, .preemptions = 2, .stale_reads = 2) {
    sim::var<int> gone{0};
    sennit::event handed;
    std::optional<sennit::coroutine<>> one;
    one.emplace([&](auto& self) {
        guest here(gone);
        self.suspend();
        sim::check(false, "it goes on after its end");
    });
    one->resume();
    sim::thread other([&] {
        handed.wait();
        one.reset();
        sim::check(gone == 1, "its stack is unwound");
        sennit::coroutine<> next([&](auto&) { gone = gone + 1; });
        next.resume();
    });
    handed.set();
    other.join();
    sim::check(gone == 2, "the next one has run");
}

// Two threads take stacks, run on them and give them back: one may get what the other has given.
SIM_SCENARIO_WITHIN(coroutine, stacks_are_used_again_by_others, .preemptions = 2,
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
            sim::check(one.done(), "it has ended");
        }
    });
    sim::check(ran[0] == 4 && ran[1] == 4, "all have run");
}

// Its body waits for a fiber; it goes on on whatever worker its resumer's context does, and
// suspends from there.
SIM_SCENARIO_WITHIN(
    coroutine, a_body_that_blocks_moves_with_its_resumer, .preemptions = 2, .stale_reads = 0,
    .preempt_in =
        "wait.cpp worker.cpp switching.hpp coroutine_stack.cpp event.cpp event.hpp run_queue.hpp") {
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
        sim::check(one.resume() == 43, "what the fiber did is seen");
        sennit::this_fiber::yield();
        sim::check(one.resume() == 0 && one.done(), "it ends on its resumer's worker");
        setter.join();
    });
    sim::check(gone == 1, "what was on its stack is destroyed");
}

// A fiber that runs inside a coroutine's turn is forked away and joined there: forks inside a body
// are its resumer's.
SIM_SCENARIO_WITHIN(
    coroutine, a_body_forks, .preemptions = 2, .stale_reads = 0,
    .preempt_in =
        "fork_stack.cpp worker_tls.hpp worker.cpp switching.hpp coroutine_stack.cpp one_shot.cpp") {
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

// A worker keeps the stacks that it has used, and gives them to everybody when it ends.
SIM_SCENARIO_WITHIN(coroutine, stacks_outlive_their_worker, .preemptions = 2, .stale_reads = 0) {
    const std::size_t before = sim::coroutine_stacks_made();
    for (int i = 0; i < 7; ++i) { // more than there are
        engine one(1);
        one.run([] {
            sennit::coroutine<> inner([](auto& self) { self.suspend(); });
            inner.resume();
            inner.resume();
        });
    }
    sim::check(sim::coroutine_stacks_made() == before, "each is used again");
}
