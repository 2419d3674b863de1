// SPDX-License-Identifier: Apache-2.0
// Boost.Fiber: a fiber for each child but the last, scheduler work_stealing (with one thread, where that one cannot
// run, the default). Stacks of 16 KiB, the smallest power of two with which every workload finishes; without guard
// pages, which would run into the kernel's limit on mappings.
#include "main.hpp"

#include <boost/fiber/all.hpp>

#include <memory>
#include <thread>

namespace fibers = boost::fibers;

struct with_boost_fiber {
    static fibers::fixedsize_stack stacks() { return fibers::fixedsize_stack(16 * 1024); }

    unsigned threads;
    std::vector<std::thread> others;
    fibers::mutex mutex;
    fibers::condition_variable_any ended;
    bool end = false;

    explicit with_boost_fiber(unsigned count) : threads(count) {
        for (unsigned i = 1; i < threads; ++i)
            others.emplace_back([this] {
                fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(threads);
                std::unique_lock lock(mutex);
                ended.wait(lock, [this] { return end; });
            });
        if (threads > 1) fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(threads);
    }
    ~with_boost_fiber() {
        {
            std::unique_lock lock(mutex);
            end = true;
        }
        ended.notify_all();
        for (auto& other : others) other.join();
    }
    template <class F>
    auto run(F f) {
        return f();
    }
    template <class F>
    static fibers::fiber fork(F f) {
        return fibers::fiber(fibers::launch::dispatch, std::allocator_arg, stacks(), std::move(f));
    }
    template <class F, class G>
    static auto both(F f, G g) {
        decltype(f()) a;
        fibers::fiber child = fork([&] { a = f(); });
        auto b = g();
        child.join();
        return std::pair(a, b);
    }
    template <class F, class G, class H, class I>
    static void all(F f, G g, H h, I i) {
        fibers::fiber a = fork(f), b = fork(g), c = fork(h);
        i();
        a.join(), b.join(), c.join();
    }
    template <std::size_t Most, class F>
    static std::int64_t sum(std::size_t count, F f) {
        if (count == 0) return 0;
        std::vector<std::int64_t> results(count);
        std::vector<fibers::fiber> children;
        for (std::size_t i = 0; i + 1 < count; ++i) children.push_back(fork([&, i] { results[i] = f(i); }));
        results[count - 1] = f(count - 1);
        for (auto& child : children) child.join();
        std::int64_t result = 0;
        for (std::int64_t one : results) result += one;
        return result;
    }
};

int main(int argc, char** argv) {
    return lab::main_for<with_boost_fiber>(argc, argv);
}
