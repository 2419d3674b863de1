// SPDX-License-Identifier: Apache-2.0
// The program that the tests of the tools look at. It has two blocked fibers, a third fiber that is
// blocked inside a coroutine, a suspended coroutine, a blocked migratable fiber and, except with
// `wait`, a migratable fiber that has not begun. A suspended task awaits another one. A further
// fiber stops the program in this state.
//     blocked        calls stop_here, where a debugger may look
//     blocked abort  calls stop_here, then leaves a core file
//     blocked wait   calls stop_here, prints `ready`, and waits for the end of its input
#include <sennit/sennit.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>

namespace {

// The function is not inline: the test looks for its name in backtraces.
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

sennit::task<int> receives(sennit::channel<int>& from) {
    co_return (co_await from.async_pop()).value_or(0);
}
sennit::task<int> awaits_what_receives(sennit::channel<int>& from) {
    const int got = co_await receives(from);
    co_return got + 1;
}

} // namespace

extern "C" [[gnu::noinline]] void stop_here() {
    asm volatile("" ::: "memory");
}

int main(int argc, char** argv) {
    const std::string_view then = argc > 1 ? argv[1] : "";
    // With one worker, the other fibers have blocked when this fiber runs again.
    sennit::runtime runtime({.workers = 1});
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
        sennit::coroutine<> ended([](auto&) {}); // the stack of an ended coroutine is idle
        ended.resume();
        bool moved_in = false;
        sennit::fiber migratable({.name = "movable", .migratable = true}, [&] {
            moved_in = true;
            waits_for_the_gate(gate);
        });
        sennit::channel<int> numbers(1);
        sennit::future<int> task =
            sennit::spawn({.name = "session"}, awaits_what_receives, std::ref(numbers));
        while (!begun || !locks || !inside || !moved_in) sennit::this_fiber::yield();
        (void)first.get_id(); // gives the fiber a number
        // With `wait` there is no such fiber: getchar() blocks for long, so the watchdog would
        // activate a spare worker, which would begin it.
        sennit::fiber waits_to_begin;
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
        numbers.push(1);
        task.get();
    });
}
