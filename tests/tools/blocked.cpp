// SPDX-License-Identifier: Apache-2.0
// For the tools' tests: two fibers that are blocked, a third that is so inside a coroutine, one
// more coroutine that is suspended, a migratable fiber that is blocked and, but for `wait`, one
// that has not begun, and a fiber that stops the program while they are.
//     blocked        calls stop_here, where a debugger may look
//     blocked abort  the same, and leaves a core file
//     blocked wait   says `ready`, and waits for the end of its input
#include <sennit/sennit.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

// Not static and not inline: the test looks for its name in backtraces.
[[gnu::noinline]] void waits_for_the_gate(sennit::event& gate) {
    gate.wait();
    asm volatile("" ::: "memory"); // no tail call
}

[[gnu::noinline]] void yields_from_the_depth(sennit::suspender<void, int>& self, int depth) {
    if (depth > 0)
        yields_from_the_depth(self, depth - 1);
    else
        self.suspend(7);
    asm volatile("" ::: "memory"); // no tail call
}
[[gnu::noinline]] void resumes_what_blocks(sennit::coroutine<>& inner) {
    inner.resume();
    asm volatile("" ::: "memory"); // no tail call
}

} // namespace

extern "C" [[gnu::noinline]] void stop_here() {
    asm volatile("" ::: "memory");
}

int main(int argc, char** argv) {
    const std::string_view then = argc > 1 ? argv[1] : "";
    sennit::runtime runtime(
        {.workers = 1}); // then the others have blocked when this one runs again
    runtime.run([then] {
        sennit::event gate;
        sennit::mutex mutex;
        bool begun = false, locks = false;
        sennit::fiber first({.name = "first"}, [&] {
            begun = true;
            waits_for_the_gate(gate);
        });
        mutex.lock();
        sennit::fiber second({.name = "second"}, [&] {
            locks = true;
            mutex.lock();
            mutex.unlock();
        });
        sennit::coroutine<void, int> parser({.name = "parser", .stack_size = 64 << 10},
                                            [](auto& self) {
                                                yields_from_the_depth(self, 3);
                                                return 0;
                                            });
        (void)parser.resume();
        bool inside = false;
        sennit::coroutine<> waits({.name = "waits inside"}, [&](auto&) {
            inside = true;
            waits_for_the_gate(gate);
        });
        sennit::fiber third({.name = "third"}, [&] { resumes_what_blocks(waits); });
        sennit::coroutine<> ended([](auto&) {}); // its stack is idle
        ended.resume();
        bool moved_in = false;
        sennit::fiber migratable({.name = "movable", .migratable = true}, [&] {
            moved_in = true;
            waits_for_the_gate(gate);
        });
        while (!begun || !locks || !inside || !moved_in) sennit::this_fiber::yield();
        (void)first.get_id();         // numbers
        sennit::fiber waits_to_begin; // not in a long call, which the watchdog helps out
        if (then != "wait")
            waits_to_begin = sennit::fiber({.name = "to begin", .migratable = true}, [] {});
        stop_here();
        if (then == "abort") std::abort();
        if (then == "wait") {
            std::puts("ready");
            std::fflush(stdout);
            (void)std::getchar();
        }
        mutex.unlock();
        gate.set();
    });
}
