// SPDX-License-Identifier: Apache-2.0
// For the tools' tests: two fibers that are blocked, and a third that stops the program while they are.
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

} // namespace

extern "C" [[gnu::noinline]] void stop_here() {
    asm volatile("" ::: "memory");
}

int main(int argc, char** argv) {
    const std::string_view then = argc > 1 ? argv[1] : "";
    sennit::runtime runtime({.workers = 1}); // then the others have blocked when this one runs again
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
        while (!begun || !locks) sennit::this_fiber::yield();
        (void)first.get_id(); // numbers
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
