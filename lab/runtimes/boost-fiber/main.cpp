// SPDX-License-Identifier: Apache-2.0
// Boost.Fiber: scheduler work_stealing (with one thread, where that one cannot run, the default, round_robin). New
// fibers start at once (`dispatch`), as in the library's own benchmark. Stacks of the smallest power of two with which
// every workload finishes (one page, for which that benchmark asks, overflows); without guard pages, which would run
// into the kernel's limit on mappings.
//
// Workloads of forks: a fiber for each child but the last; stacks of 16 KiB; threads without work spin. Workloads of
// fibers: stacks of 8 KiB; threads without work sleep (where they spin, they slow each message down many times).
#include "main.hpp"

#include "fibers/main.hpp"

#include <boost/fiber/all.hpp>

#include <bit>
#include <memory>
#include <thread>

namespace fibers = boost::fibers;

template <std::size_t stack_size>
struct boost_threads {
    unsigned threads;
    std::vector<std::thread> others;
    fibers::mutex mutex;
    fibers::condition_variable_any ended;
    bool end = false;

    boost_threads(unsigned count, bool sleep) : threads(count) {
        for (unsigned i = 1; i < threads; ++i)
            others.emplace_back([this, sleep] {
                fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(threads, sleep);
                std::unique_lock lock(mutex);
                ended.wait(lock, [this] { return end; });
            });
        if (threads > 1) fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(threads, sleep);
    }
    ~boost_threads() {
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
        return fibers::fiber(fibers::launch::dispatch, std::allocator_arg, fibers::fixedsize_stack(stack_size),
                             std::move(f));
    }
};

struct with_boost_fiber : boost_threads<16 * 1024> {
    explicit with_boost_fiber(unsigned count) : boost_threads(count, false) {}

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

struct fibers_of_boost : boost_threads<8 * 1024> {
    explicit fibers_of_boost(unsigned count) : boost_threads(count, true) {}

    using fiber = fibers::fiber;
    template <class F>
    static fiber start(F f) {
        return fork(std::move(f));
    }
    static void yield() { boost::this_fiber::yield(); }
    template <class D>
    static void sleep_for(D duration) {
        boost::this_fiber::sleep_for(duration);
    }
    using mutex = fibers::mutex;
    using condition_variable = fibers::condition_variable;

    class event {
    public:
        void wait() {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return set_; });
        }
        void set() {
            std::unique_lock lock(mutex_);
            set_ = true;
            changed_.notify_all();
        }

    private:
        fibers::mutex mutex_;
        fibers::condition_variable changed_;
        bool set_ = false;
    };

    template <class T>
    struct rendezvous : fibers::unbuffered_channel<T> {
        T pop() { return this->value_pop(); }
    };
    template <class T>
    struct buffered : fibers::buffered_channel<T> { // of a power of two, less one
        explicit buffered(std::size_t capacity) : fibers::buffered_channel<T>(std::bit_ceil(capacity)) {}
        T pop() { return this->value_pop(); }
    };
};

int main(int argc, char** argv) {
    return lab::program<lab::forks<with_boost_fiber>, lab::fibers<fibers_of_boost>>(argc, argv);
}
