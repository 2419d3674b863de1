// SPDX-License-Identifier: Apache-2.0
// std::thread in the place of a fiber, and what the standard library blocks on. It has no pool; threads are what the
// system gives, with stacks of the system's default size.
#include "fibers/main.hpp"
#include "fibers/threads.hpp"

#include <system_error>

struct with_threads : lab::threads_base {
    explicit with_threads(unsigned) {}

    using fiber = std::thread;
    template <class F>
    static fiber start(F f) {
        try {
            return fiber(std::move(f));
        } catch (const std::system_error& error) {
            refused(error.what());
        }
    }
    template <class D>
    static void sleep_for(D duration) {
        std::this_thread::sleep_for(duration);
    }
    using mutex = std::mutex;
    using condition_variable = std::condition_variable;
};

int main(int argc, char** argv) {
    return lab::program<lab::fibers<with_threads>>(argc, argv);
}
