// SPDX-License-Identifier: Apache-2.0
// For check.py: two fibers that are blocked, and a third that stops the program while they are.
#include <sennit/sennit.hpp>

#include <cstdlib>

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

int main(int argc, char**) {
    sennit::runtime runtime({.workers = 1}); // then the others have blocked when this one runs again
    runtime.run([argc] {
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
        if (argc > 1) std::abort();
        mutex.unlock();
        gate.set();
    });
}
