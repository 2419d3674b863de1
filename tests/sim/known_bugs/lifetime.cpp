// SPDX-License-Identifier: Apache-2.0
// Memory that is freed or reused while another thread still holds its address.
#include "explorer/sim.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/cpu_relax.hpp"
#include "sys/futex.hpp"

#include <array>
#include <memory>

namespace sim = sennit::sim;
using sennit::base::atomic;

SIM_KNOWN_BUG(glibc_12674_post_touches_a_dead_semaphore, "used after its end",
              "glibc, 2011 to 2015 (bug 12674). sem_post added one to the value and then read, in "
              "the same semaphore,\n"
              "how many threads wait. But whoever takes the value may destroy the semaphore at "
              "once, as POSIX allows:\n"
              "the read then went to freed memory. The same mistake is in many home-made latches "
              "and promises.\n"
              "Cure: one access is the last one; the number of waiters came into the same word as "
              "the value.") {
    struct semaphore {
        atomic<std::uint32_t> value{0}, waiters{0};
    };
    auto owned = std::make_unique<semaphore>();
    sim::thread poster([s = owned.get()] {
        s->value.fetch_add(1);
        if (s->waiters.load() != 0) sennit::sys::futex_wake(s->value, 1);
    });
    while (owned->value.load() == 0) sennit::sys::cpu_relax();
    owned.reset();
    poster.join();
}

SIM_KNOWN_BUG(stdexec_1395_the_last_reference_was_not_the_last, "used after its end",
              "stdexec, 2024 (#1395, #1426, #1460). The shared state of `split` is counted. One "
              "thread drops its\n"
              "reference and, when that was the last but one, goes on to use the state to ask for "
              "stop; meanwhile the\n"
              "other thread drops the last one and frees it. Found by ThreadSanitizer with random "
              "sleeps in the\n"
              "mutex, then by Relacy without any luck.\n"
              "Cure: hold a reference while the state is used.") {
    struct shared_state {
        atomic<int> references{2}, stop{0};
    };
    auto* state = new shared_state;
    const auto drop = [state](bool asks_for_stop) {
        const int left = state->references.fetch_sub(1) - 1;
        if (left == 0)
            delete state;
        else if (asks_for_stop)
            state->stop.store(1); // no reference keeps the state alive here
    };
    sim::in_threads(2, [&](unsigned me) { drop(me == 0); });
}

SIM_KNOWN_BUG(
    aba_on_a_packed_head, "taken twice",
    "IBM System/370 Principles of Operation, 1983, appendix on compare-and-swap; since then in "
    "every\n"
    "lock-free free list. A thread reads head A and its next B. Others pop A, pop B, push A back. "
    "The\n"
    "first one's compare-and-swap finds A, as expected, and makes B the head, which somebody uses "
    "already.\n"
    "Cure: a counter beside the head, hazard pointers, or indices that are never used again.") {
    std::array<atomic<int>, 3> next; // 0: none
    atomic<int> head{1};
    next[1].store(2);
    atomic<int> holds_two{0};
    const auto pop = [&] {
        int top = head.load();
        while (top != 0 && !head.cas(top, next[static_cast<unsigned>(top)].load())) {
        }
        return top;
    };
    const auto push = [&](int node) {
        int top = head.load();
        do {
            next[static_cast<unsigned>(node)].store(top);
        } while (!head.cas(top, node));
    };
    sim::thread slow([&] {
        if (pop() != 1) return;
        if (pop() == 2) sim::check(holds_two.load() == 0, "no node is taken twice");
    });
    sim::thread quick([&] {
        if (pop() != 1) return;
        if (pop() != 2) return;
        holds_two.store(1); // keeps node 2 forever
        push(1);
    });
    slow.join();
    quick.join();
}

SIM_KNOWN_BUG(double_checked_locking, "data race",
              "Schmidt and Harrison, 1996; taken apart by Bacon and others, 2000 (\"The "
              "double-checked locking pattern is\n"
              "broken\") and by Meyers and Alexandrescu, 2004. The pointer to a singleton is "
              "looked at without the lock\n"
              "first. Whoever sees it there need not see what it points to.\n"
              "Cure: release store, acquire load; or a static local variable.") {
    sim::var<int> object{0};
    atomic<int> made{0};
    atomic<int> lock{0};
    sim::in_threads(2, [&](unsigned) {
        if (made.load_rlx() == 0) {
            while (lock.exchange_acq(1) != 0) sennit::sys::cpu_relax();
            if (made.load_rlx() == 0) {
                object = 42;
                made.store_rlx(1);
            }
            lock.store_rel(0);
        }
        sim::check(object == 42, "the object is there");
    });
}
