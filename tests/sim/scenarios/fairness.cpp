// SPDX-License-Identifier: Apache-2.0
// Every ready task runs, and every new task begins, within a bounded number of tasks:
// src/core/README.md, "What begins and when". Each scenario has tasks that become ready again and
// again, until the task that they might starve has begun, or for so many rounds that it must have
// begun.
#include "engine.hpp"

#include "sennit/channel.hpp"
#include "sennit/fiber.hpp"

#include <array>

namespace {

// In the explorer's build a global poll comes every three tasks.
constexpr int many_rounds = 40;

// Two fibers that pass a value to each other until `over`.
class talkers {
public:
    explicit talkers(const bool& over)
        : first_([this, &over] {
              for (int i = 0; i < many_rounds && !over; ++i) {
                  there_.push(i);
                  (void)back_.pop();
              }
              sim::check(over, "the awaited event happens while the fibers talk");
              there_.close();
          }),
          second_([this] {
              while (there_.pop()) back_.push(0);
          }) {}
    void join() {
        first_.join();
        second_.join();
    }

private:
    sennit::channel<int> there_{0}, back_{0};
    sennit::fiber first_, second_;
};

// A task that posts itself to the injector until `over`.
struct comes_from_outside : sennit::sched::runnable {
    comes_from_outside(engine& on, const bool& until)
        : runnable([](runnable* self) noexcept {
              auto& me = *static_cast<comes_from_outside*>(self);
              if (me.over) return me.done.finish();
              sim::check(++me.rounds < many_rounds,
                         "the awaited event happens while the task posts itself again and again");
              me.one->core().post(me);
          }),
          one(on), over(until) {}
    engine& one;
    const bool& over;
    int rounds = 0;
    sennit::sched::one_shot done;
};

// A worker starts with a steal request, as if a thief had asked. This function answers the request.
void answer_old_requests() {
    sennit::fork_join([] {}, [] {});
}

} // namespace

// The new fiber is the oldest new task of the only worker, which always has ready tasks.
SIM_SCENARIO_WITHIN(fairness, new_fiber_begins_behind_talking_fibers, .preemptions = 1,
                    .stale_reads = 0) {
    engine one(1);
    one.run([] {
        answer_old_requests();
        bool begun = false;
        sennit::fiber fresh([&] { begun = true; });
        talkers pair(begun);
        pair.join();
        fresh.join();
    });
}

// A thief asked, and the new fiber was shared. No worker fetches it but the worker that shared it.
// With `outside` the injector always holds other tasks, too.
namespace {
void begins_a_fiber_that_was_given_away(bool outside) {
    engine one(1);
    one.run([&] {
        answer_old_requests();
        bool begun = false;
        sennit::fiber fresh([&] { begun = true; });
        sennit::fiber second([] {});
        sennit::sched::run_queue::batch half; // does the same as worker::share_half
        sim::check(sennit::sched::this_worker()->queue().take_half(half) == 1,
                   "the older task is shared");
        one->core().injector().push_batch(half);
        comes_from_outside work(one, begun);
        if (outside)
            one->core().post(work);
        else
            work.done.finish();
        talkers pair(begun);
        pair.join();
        work.done.wait();
        second.join();
        fresh.join();
    });
}
} // namespace
SIM_SCENARIO_WITHIN(fairness, shared_fiber_begins_behind_talking_fibers, .preemptions = 1,
                    .stale_reads = 0) {
    begins_a_fiber_that_was_given_away(false);
}
SIM_SCENARIO_WITHIN(fairness, shared_fiber_begins_behind_injected_tasks, .preemptions = 1,
                    .stale_reads = 0) {
    begins_a_fiber_that_was_given_away(true);
}

// A new fiber behind fibers that talk, while the injector always holds tasks, too.
SIM_SCENARIO_WITHIN(fairness, new_fiber_begins_behind_talk_and_injected_tasks, .preemptions = 1,
                    .stale_reads = 0) {
    engine one(1);
    one.run([&] {
        answer_old_requests();
        bool begun = false;
        sennit::fiber fresh([&] { begun = true; });
        comes_from_outside work(one, begun);
        one->core().post(work);
        talkers pair(begun);
        pair.join();
        work.done.wait();
        fresh.join();
    });
}

// A woken fiber continues although each new fiber starts another fiber and ends.
SIM_SCENARIO_WITHIN(fairness, woken_fiber_continues_behind_fibers_that_start_fibers,
                    .preemptions = 1, .stale_reads = 0) {
    engine one(1);
    one.run([&] {
        answer_old_requests();
        struct chain {
            sennit::channel<int> go{0};
            bool woken = false;
            int begun = 0;
            sennit::sched::one_shot over;
            void begin_next() {
                sennit::fiber([this] {
                    if (woken) return over.finish();
                    sim::check(++begun < many_rounds,
                               "the woken fiber continues while new ones begin");
                    begin_next();
                }).detach();
            }
        } all;
        sennit::fiber waits([&] {
            (void)all.go.pop();
            all.woken = true;
        });
        sennit::sched::yield(); // the fiber waits
        sennit::fiber first([&] {
            all.go.push(0);
            all.begin_next();
        });
        all.over.wait();
        first.join();
        waits.join();
    });
}

// The talking fibers are woken again and again, and go before the fiber that yields.
SIM_SCENARIO_WITHIN(fairness, yielding_fiber_continues_behind_talking_fibers, .preemptions = 1,
                    .stale_reads = 0) {
    engine one(1);
    one.run([] {
        answer_old_requests();
        bool continued = false;
        sennit::fiber yields([&] {
            sennit::this_fiber::yield();
            sennit::this_fiber::yield();
            continued = true;
        });
        talkers pair(continued);
        pair.join();
        yields.join();
    });
}

// Two fibers yield for ever. A fiber that one of them wakes continues before the other one does.
SIM_SCENARIO_WITHIN(fairness, woken_fiber_continues_before_yielding_fibers, .preemptions = 1,
                    .stale_reads = 0) {
    engine one(1);
    one.run([] {
        answer_old_requests();
        constexpr int rounds = 12;
        sennit::channel<int> ask(1);
        int answered = 0, at_once = 0, others = 0;
        sennit::fiber answers([&] {
            while (ask.pop()) {
                ++answered;
                at_once += others == 0;
            }
        });
        sennit::fiber asks([&] {
            for (int i = 0; i < rounds; ++i) {
                others = 0;
                ask.push(i);
                sennit::this_fiber::yield();
            }
            ask.close();
        });
        sennit::fiber computes([&] {
            while (answered < rounds) {
                ++others;
                sennit::this_fiber::yield();
            }
        });
        asks.join();
        computes.join();
        answers.join();
        // Each third pick is a global poll, which may continue a yielding fiber first.
        sim::check(at_once >= rounds / 3, "a woken fiber continues before one that yields");
    });
}

// A new fiber begins at the next yield, although the fiber that yields was ready before.
SIM_SCENARIO_WITHIN(fairness, new_fiber_begins_before_few_yielding_fibers, .preemptions = 1,
                    .stale_reads = 0) {
    engine one(1);
    one.run([] {
        answer_old_requests();
        constexpr int rounds = 12;
        bool over = false;
        int others = 0, at_once = 0;
        sennit::fiber computes([&] {
            while (!over) {
                ++others;
                sennit::this_fiber::yield();
            }
        });
        sennit::fiber starts([&] {
            sennit::fiber fresh[rounds];
            for (sennit::fiber& each : fresh) {
                others = 0;
                each = sennit::fiber([&] { at_once += others == 0; });
                sennit::this_fiber::yield();
            }
            for (sennit::fiber& each : fresh) each.join();
            over = true;
        });
        starts.join();
        computes.join();
        sim::check(at_once >= rounds / 3, "a new fiber begins before one that yields");
    });
}

// A fiber creates and joins other fibers in a loop. Each child runs on its joiner's stack, which
// does not count as a task of the worker.
SIM_SCENARIO_WITHIN(fairness, new_fiber_begins_behind_joining_fiber, .preemptions = 1,
                    .stale_reads = 0) {
    engine one(1);
    one.run([&] {
        answer_old_requests();
        bool begun = false;
        sennit::fiber fresh([&] { begun = true; });
        for (int i = 0; i < many_rounds && !begun; ++i) sennit::fiber([] {}).join();
        sim::check(begun, "the new fiber begins while the first fiber joins its children");
        fresh.join();
    });
}

// ---- how many stacks

namespace {

// Each node starts three children, each of which passes it a value. A leaf only passes a value on.
void grow(sennit::channel<int>& up, int depth) {
    int sum = 1;
    if (depth != 0) {
        sennit::channel<int> values(0);
        for (int i = 0; i < 3; ++i)
            sennit::fiber([&values, depth] { grow(values, depth - 1); }).detach();
        for (int i = 0; i < 3; ++i) sum += *values.pop();
    }
    up.push(sum);
}

int blocking_tree(int depth) {
    sennit::channel<int> up(0);
    sennit::fiber root([&] { grow(up, depth); });
    const int sum = *up.pop();
    root.join();
    return sum;
}

} // namespace

// 121 fibers that block in a tree of five levels need few more stacks than one path from the root
// to a leaf.
SIM_SCENARIO_WITHIN(fairness, blocking_tree_needs_few_stacks, .preemptions = 0, .stale_reads = 0,
                    .steps = 200'000) {
    engine one(1);
    std::size_t most = 0;
    one.run([&] {
        answer_old_requests();
        sim::check(blocking_tree(4) == 121, "each fiber has counted once");
        most = one->metrics().stacks_live + one->metrics().stacks_cached;
    });
    sim::check(most <= 40, "live stacks stay near the depth of the tree");
}

// A woken parent runs before its elder sibling begins, although the parent of both becomes ready
// earlier.
SIM_SCENARIO(fairness, new_task_waits_for_younger_woken_task) {
    sennit::sched::run_queue queue;
    struct piece : sennit::sched::runnable {
        piece() : runnable(nullptr) {}
    };
    piece grandparent, sibling, parent;
    grandparent.order = queue.present();
    queue.push_spawned(sibling);
    parent.order = queue.present();
    queue.push_woken(grandparent);
    queue.push_woken(parent);
    sim::check(queue.pop() == &grandparent, "the sibling was spawned before the parent began");
    sim::check(queue.pop() == &parent, "the parent is older than the sibling's turn");
    sim::check(queue.pop() == &sibling, "only the sibling is left");
    queue.push_spawned(sibling);
    queue.push_woken(grandparent);
    sim::check(queue.pop() == &sibling, "the sibling is the grandparent's child");
}

// New tasks that a thief has stolen stay behind all of the thief's own tasks. The next thief gets
// the oldest.
SIM_SCENARIO(fairness, stolen_new_tasks_stay_new) {
    sennit::sched::run_queue mine, theirs;
    struct piece : sennit::sched::runnable {
        piece() : runnable(nullptr) {}
    };
    std::array<piece, 2> stolen;
    piece woken;
    for (piece& one : stolen) theirs.push_spawned(one);
    sennit::sched::run_queue::batch stolen_batch;
    sim::thread thief([&] {
        theirs.steal_half(stolen_batch);
        theirs.steal_half(stolen_batch);
    });
    thief.join();
    stolen_batch.count = 2;
    mine.append_batch(stolen_batch);
    mine.push_woken(woken);
    sim::check(mine.pop() == &woken, "a ready task of the thief runs first");
    sim::check(mine.pop() == &stolen[1] && mine.pop() == &stolen[0],
               "then the newest stolen task runs");
}
