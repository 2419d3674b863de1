// SPDX-License-Identifier: Apache-2.0
// Boost.Fiber with the scheduler work_stealing. With one thread work_stealing cannot run, and the
// default, round_robin, takes its place. LAB_BOOST_SCHEDULING chooses another scheduler:
// shared_work, or round_robin, with which fibers stay on the thread that makes them. That is the
// first thread, so the other threads have no work. New fibers start immediately (`dispatch`), as in
// the library's own benchmark. The stacks have the smallest power of two with which every workload
// finishes; one page, for which that benchmark asks, overflows. The stacks have no guard pages,
// which would exceed the kernel's limit on mappings.
//
// Workloads of forks: a fiber for each child but the last, and stacks of 16 KiB. Threads without
// work spin. Workloads of fibers: stacks of 8 KiB, and of 16 KiB for several producers and beside
// long fibers. Threads without work sleep; spinning threads slow each message down many times.
#include "main.hpp"

#include "actors/fiber_servants.hpp"
#include "fibers/beside.hpp"
#include "fibers/main.hpp"
#include "fibers/mpmc.hpp"
#include "fibers/scaling.hpp"

#include <boost/fiber/all.hpp>

#include <bit>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

namespace fibers = boost::fibers;

enum class algorithm { round_robin, shared_work, work_stealing };

inline algorithm algorithm_for(unsigned threads) {
    const char* set = std::getenv("LAB_BOOST_SCHEDULING");
    const std::string_view wanted = set ? set : "work_stealing";
    if (wanted == "shared_work") return algorithm::shared_work;
    if (wanted == "round_robin") return algorithm::round_robin;
    if (wanted != "work_stealing")
        throw std::invalid_argument(
            "LAB_BOOST_SCHEDULING must be round_robin, shared_work or work_stealing");
    return threads > 1 ? algorithm::work_stealing : algorithm::round_robin;
}

// Makes the calling thread one of `threads` threads of the scheduler. With `sleep`, the thread
// sleeps while it has no work.
inline void use(algorithm which, unsigned threads, bool sleep) {
    if (which == algorithm::shared_work)
        fibers::use_scheduling_algorithm<fibers::algo::shared_work>(sleep);
    if (which == algorithm::work_stealing)
        fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(threads, sleep);
}

template <std::size_t stack_size>
struct boost_threads {
    unsigned threads;
    algorithm scheduling = algorithm_for(threads);
    std::vector<std::thread> others;
    fibers::mutex mutex;
    fibers::condition_variable_any ended;
    bool end = false;

    boost_threads(unsigned count, bool sleep) : threads(count) {
        for (unsigned i = 1; i < threads; ++i)
            others.emplace_back([this, sleep] {
                use(scheduling, threads, sleep);
                std::unique_lock lock(mutex);
                ended.wait(lock, [this] { return end; });
            });
        use(scheduling, threads, sleep);
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
        return fibers::fiber(fibers::launch::dispatch, std::allocator_arg,
                             fibers::fixedsize_stack(stack_size), std::move(f));
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
        for (std::size_t i = 0; i + 1 < count; ++i)
            children.push_back(fork([&, i] { results[i] = f(i); }));
        results[count - 1] = f(count - 1);
        for (auto& child : children) child.join();
        std::int64_t result = 0;
        for (std::int64_t one : results) result += one;
        return result;
    }
};

template <std::size_t stack_size>
struct boost_fibers : boost_threads<stack_size> {
    // LAB_BOOST_IDLE=spin: threads without work search for some without a pause. A thread that
    // sleeps is woken for a fiber of its own only, so it steals nothing.
    explicit boost_fibers(unsigned count)
        : boost_threads<stack_size>(count, std::getenv("LAB_BOOST_IDLE") == nullptr) {}

    using fiber = fibers::fiber;
    template <class F>
    static fiber start(F f) {
        return boost_fibers::fork(std::move(f));
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
    struct buffered : fibers::buffered_channel<T> { // holds a power of two less one
        explicit buffered(std::size_t capacity)
            : fibers::buffered_channel<T>(std::bit_ceil(capacity)) {}
        T pop() { return this->value_pop(); }
    };
};

using fibers_of_boost = boost_fibers<8 * 1024>;
using fibers_with_larger_stacks = boost_fibers<16 * 1024>;

int main(int argc, char** argv) {
    return lab::program<
        lab::forks<with_boost_fiber>, lab::fibers<fibers_of_boost>, lab::scaling<fibers_of_boost>,
        lab::many_producers<fibers_with_larger_stacks>,
        lab::beside_long_ones<fibers_with_larger_stacks>, lab::fiber_servants<fibers_of_boost>>(
        argc, argv);
}
