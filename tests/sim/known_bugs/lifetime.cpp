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

SIM_KNOWN_BUG(
    glibc_12674_post_touches_destroyed_semaphore, "used after its end",
    "glibc, 2011 to 2015 (bug 12674). sem_post added one to the value and then read, in the same\n"
    "semaphore, the number of waiting threads. But the thread that takes the value may destroy "
    "the\n"
    "semaphore immediately, as POSIX allows: the read then went to freed memory. Many home-made\n"
    "latches and promises contain this mistake.\n"
    "Cure: one access is the last one; the number of waiters moved into the word of the value.") {
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

SIM_KNOWN_BUG(stdexec_1395_state_is_used_after_last_reference, "used after its end",
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
    aba_on_packed_head, "taken twice",
    "IBM System/370 Principles of Operation, 1983, appendix on compare-and-swap; since then in "
    "every\n"
    "lock-free free list. Thread 1 reads head A and its next B. Thread 2 pops A, pops B, and "
    "pushes A\n"
    "back. The compare-and-swap of thread 1 finds A, as expected, and makes B the head, although B "
    "is\n"
    "in use.\n"
    "Cure: a counter beside the head, hazard pointers, or indices that are never reused.") {
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

SIM_KNOWN_BUG(
    double_checked_locking, "data race",
    "Schmidt and Harrison, 1996; refuted by Bacon et al., 2000 (\"The double-checked locking "
    "pattern\n"
    "is broken\") and by Meyers and Alexandrescu, 2004. The pointer to a singleton is first read\n"
    "without the lock. A thread that sees the pointer need not see the object behind it.\n"
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
