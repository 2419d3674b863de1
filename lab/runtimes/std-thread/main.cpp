// SPDX-License-Identifier: Apache-2.0
// std::thread in the place of a fiber, and the primitives of the standard library. There is no
// pool. The threads are those of the system, with stacks of the system's default size.
#include "control/main.hpp"
#include "fibers/beside.hpp"
#include "fibers/each.hpp"
#include "fibers/main.hpp"
#include "fibers/mpmc.hpp"
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
    static void create_one() {
        start([] {}).join();
    }
    using mutex = std::mutex;
    using condition_variable = std::condition_variable;

    // A mutex with a condition variable. The standard library cannot wait for more than one at the
    // same time. A signaller waits for its waiter, which would otherwise see fewer signals than
    // there were.
    template <std::size_t k>
        requires(k == 1)
    class monitors {
    public:
        void call() { std::lock_guard guard(mutex_); }
        template <class F>
        void hold(F f) {
            std::unique_lock lock(mutex_);
            held_ = &lock;
            f();
        }
        void wait() {
            waiting_ = true;
            changed_.notify_one();
            changed_.wait(*held_, [this] { return !waiting_; });
        }
        void signal() {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return waiting_; });
            waiting_ = false;
            changed_.notify_one();
        }

    private:
        std::mutex mutex_;
        std::condition_variable changed_;
        std::unique_lock<std::mutex>* held_ = nullptr;
        bool waiting_ = false;
    };
};

// Of the family `scaling`, the workload whose fibers do not wait.
struct own_mutexes {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name != "mutex-each") return std::nullopt;
        return lab::measure<with_threads>(lab::mutex_each<with_threads>(size, threads), threads);
    }
};

int main(int argc, char** argv) {
    return lab::program<lab::fibers<with_threads>, lab::many_producers<with_threads>,
                        lab::beside_long_ones<with_threads>, own_mutexes,
                        lab::control<with_threads>>(argc, argv);
}
