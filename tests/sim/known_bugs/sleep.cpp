// SPDX-License-Identifier: Apache-2.0
// Lost wake-ups and resumed sleepers.
#include "explorer/sim.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/cpu_relax.hpp"
#include "sys/futex.hpp"

namespace sim = sennit::sim;
using sennit::base::atomic;

SIM_KNOWN_BUG(tokio_1788_lost_wake_up, "deadlock",
              "tokio, 2019 (#1768, #1788). A scheduler that has just queued a task asks whether a "
              "worker is searching.\n"
              "It asked with a sequentially consistent load, after a mere release store to the "
              "queue. The searching\n"
              "worker stops searching, then looks into the queue once more, with an acquire load. "
              "Neither access orders\n"
              "the store before the load: the worker may miss the task while the scheduler still "
              "sees it searching.\n"
              "The runtime hung. The load became a read-modify-write, fetch_add(0).") {
    atomic<int> queue{0};
    atomic<std::uint32_t> searching{1}, woken{0};
    sim::thread scheduler([&] {
        queue.store_rel(1);
        if (searching.load() != 0) return; // a searching worker will see the task
        woken.store(1);
        sennit::sys::futex_wake(woken, 1);
    });
    sim::thread worker([&] {
        searching.fetch_sub(1);
        if (queue.load_acq() != 0) return;
        while (woken.load() == 0) sennit::sys::futex_wait(woken, 0);
    });
    scheduler.join();
    worker.join();
}

SIM_KNOWN_BUG(
    wake_before_park, "deadlock",
    "Open3D's PoissonRecon thread pool (2026, pull request 6), and a great many before it. "
    "Threads\n"
    "wait on a condition without a predicate: a notification that comes before the wait has begun "
    "is\n"
    "lost, and the thread that it was meant for sleeps forever. The window is widest right after "
    "the\n"
    "threads have started, when the first job may be published before they wait.\n"
    "Cure: the event is a state that the waiter checks, not a moment that it must not miss.") {
    atomic<std::uint32_t> bell{0}; // rung, but the ring is not remembered
    sim::thread sleeper([&] { sennit::sys::futex_wait(bell, 0); });
    sennit::sys::futex_wake(bell, 1);
    sleeper.join();
}

SIM_KNOWN_BUG(
    no_second_check_before_sleep, "deadlock",
    "The oldest bug of thread pools. A worker finds its queue empty and then announces that it\n"
    "sleeps; work that arrives between the two steps finds no announced sleeper and wakes no "
    "worker.\n"
    "Every pool has had this bug once: Go's scheduler documents at length why it checks all "
    "queues\n"
    "again after it has dropped its processor (proc.go), and rayon's sleep module replaced its\n"
    "protocol twice.\n"
    "Cure: announce first, then check once more, then sleep.") {
    atomic<std::uint32_t> work{0}, asleep{0}, token{0};
    sim::thread poster([&] {
        work.store(1);
        if (asleep.load() == 0) return;
        token.store(1);
        sennit::sys::futex_wake(token, 1);
    });
    sim::thread worker([&] {
        if (work.load() != 0) return;
        asleep.store(1); // without a second look
        while (token.load() == 0) sennit::sys::futex_wait(token, 0);
    });
    poster.join();
    worker.join();
}

SIM_KNOWN_BUG(
    photon_1294_stolen_but_still_asleep, "resumed twice",
    "PhotonLibOS, 2026 (#1294, #1494). A thread that was interrupted in its sleep is in two "
    "places:\n"
    "in its processor's heap of sleepers and in the queue of threads to run. A work stealer took "
    "the\n"
    "thread from the queue and left it in the heap. When its time came, its old processor woke it\n"
    "again, while it already ran on another processor: it was scheduled twice, and the heap was\n"
    "corrupted.\n"
    "Cure: threads that are still in a heap are not stolen.") {
    atomic<int> in_heap{1}, in_queue{1}, resumed{0};
    sim::thread stealer([&] {
        if (in_queue.exchange(0) == 1) resumed.fetch_add(1); // and in_heap stays
    });
    sim::thread timer([&] {
        if (in_heap.exchange(0) != 1) return;
        in_queue.store(0);
        resumed.fetch_add(1);
    });
    stealer.join();
    timer.join();
    sim::check(resumed.load() == 1, "no thread is resumed twice");
}

SIM_KNOWN_BUG(fiber_is_published_before_saved, "data race",
              "The classic of every fiber library: a fiber that is about to wait puts itself into "
              "the list of\n"
              "waiters and then switches away. Between the two steps another processor takes it "
              "from the list\n"
              "and resumes it, on a stack that is still in use and from registers that were not "
              "saved yet. Go\n"
              "has gopark's unlock function for this, Boost.Fiber passes its lock through the "
              "switch, Sennit\n"
              "calls `after` from the next context.\n"
              "Cure: the code that runs after the switch publishes the fiber.") {
    sim::var<int> saved_registers{0};
    atomic<int> waiting{0};
    sim::thread fiber([&] {
        waiting.store(1);     // published …
        saved_registers = 42; // … and only then saved
    });
    sim::thread waker([&] {
        if (waiting.exchange(0) == 1)
            sim::check(saved_registers == 42, "a resumed fiber was saved");
    });
    fiber.join();
    waker.join();
}
