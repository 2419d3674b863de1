// SPDX-License-Identifier: Apache-2.0
// HPX: its threads, which are fibers, as tasks that return futures, with its default scheduler on
// threads that are not bound to processors. Threads without work spin. After 200,000 rounds they
// sleep for 1 ms, then for 2 ms, and so on up to a second, unless a task is scheduled meanwhile.
//
// Workloads of forks: a task for each child but the last, with the hint to run as a child. If no
// thread has begun such a task when its parent waits for it, it runs there, on the parent's stack
// if that has room. The queues take the oldest task first, so tasks without the hint walk a tree
// breadth first. With `launch::fork`, with `task_group` and as coroutines, the tasks need several
// times as much memory and time. A task that ran in its parent stays in its queue until a thread
// takes it out, so the largest trees do not fit into memory even with the hint.
//
// Workloads of fibers: tasks without that hint, each on its own stack. The stacks have the default
// size, 64 KiB. They have no guard pages, which would exceed the kernel's limit on mappings where
// the library takes stacks from the kernel.
#include "main.hpp"

#include "fibers/main.hpp"

#include <hpx/condition_variable.hpp>
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/latch.hpp>
#include <hpx/modules/lcos_local.hpp>
#include <hpx/modules/runtime_local.hpp>
#include <hpx/modules/synchronization.hpp>
#include <hpx/mutex.hpp>
#include <hpx/semaphore.hpp>
#include <hpx/thread.hpp>

#include <mutex>

namespace {

// The library runs as long as an object of this class lives.
struct hpx_threads {
    explicit hpx_threads(unsigned threads) {
        hpx::local::init_params wanted;
        wanted.cfg = {"hpx.os_threads!=" + std::to_string(threads), "hpx.bind!=none",
                      "hpx.stacks.use_guard_pages!=0"};
        wanted.rp_mode = hpx::resource::partitioner_mode::allow_oversubscription;
        if (!hpx::local::start(nullptr, 0, nullptr, wanted))
            throw std::runtime_error("HPX does not start");
    }
    ~hpx_threads() {
        hpx::post([] { hpx::local::finalize(); });
        hpx::local::stop();
    }
    hpx_threads(const hpx_threads&) = delete;

    template <class F>
    auto run(F f) {
        return hpx::run_as_hpx_thread(std::move(f));
    }
};

struct with_hpx : hpx_threads {
    using hpx_threads::hpx_threads;

    template <class F>
    static auto fork(F f) {
        hpx::threads::thread_schedule_hint hint;
        hint.runs_as_child_mode(hpx::threads::thread_execution_hint::run_as_child);
        hpx::launch::async_policy policy;
        policy.set_hint(hint);
        return hpx::async(policy, std::move(f));
    }
    template <class F, class G>
    static auto both(F f, G g) {
        auto forked = fork(std::move(f));
        const auto b = g();
        return std::pair(forked.get(), b);
    }
    template <class F, class G, class H, class I>
    static void all(F f, G g, H h, I i) {
        hpx::future<void> a = fork(f), b = fork(g), c = fork(h);
        i();
        a.get(), b.get(), c.get();
    }
    template <std::size_t Most, class F>
    static std::int64_t sum(std::size_t count, F f) {
        if (count == 0) return 0;
        using futures = std::conditional_t<Most == 0, std::vector<hpx::future<std::int64_t>>,
                                           std::array<hpx::future<std::int64_t>, Most>>;
        futures forked;
        if constexpr (Most == 0) forked.resize(count - 1);
        for (std::size_t i = 0; i + 1 < count; ++i) forked[i] = fork([&f, i] { return f(i); });
        std::int64_t result = f(count - 1);
        for (std::size_t i = 0; i + 1 < count; ++i) result += forked[i].get();
        return result;
    }
};

struct fibers_of_hpx : hpx_threads {
    using hpx_threads::hpx_threads;

    struct fiber {
        hpx::future<void> ended;
        void join() { ended.get(); }
    };
    template <class F>
    static fiber start(F f) {
        return {hpx::async(std::move(f))};
    }
    static constexpr bool nothing_interrupts = true; // no transfer
    static void yield() { hpx::this_thread::yield(); }
    template <class D>
    static void sleep_for(D duration) {
        hpx::this_thread::sleep_for(duration);
    }

    using mutex = hpx::mutex;
    using condition_variable = hpx::condition_variable;
    struct semaphore : hpx::counting_semaphore<> {
        semaphore() : counting_semaphore(0) {}
    };
    // No wait_for: a wait with a limit lasts until the limit, even if the event is set before.
    struct event : hpx::latch {
        event() : latch(1) {}
        void set() { count_down(1); }
    };

    // The library's bounded channel has only try operations. A fiber that cannot continue waits
    // here.
    template <class T>
    class buffered {
    public:
        explicit buffered(std::size_t capacity) : values_(capacity) {}
        void push(T value) {
            std::unique_lock lock(mutex_);
            room_.wait(lock, [&] { return values_.set(std::move(value)); });
            some_.notify_one();
        }
        T pop() {
            T value;
            std::unique_lock lock(mutex_);
            some_.wait(lock, [&] { return values_.get(&value); });
            room_.notify_one();
            return value;
        }

    private:
        hpx::mutex mutex_;
        hpx::condition_variable room_, some_;
        hpx::lcos::local::channel_mpmc<T> values_;
    };

    template <class T>
    class rendezvous {
    public:
        void push(T value) {
            turn_.acquire();
            value_ = std::move(value);
            full_.release();
            taken_.acquire();
            turn_.release();
        }
        T pop() {
            full_.acquire();
            T value = std::move(value_);
            taken_.release();
            return value;
        }

    private:
        T value_;
        hpx::counting_semaphore<> turn_{1}, full_{0}, taken_{0};
    };
};

// The wait for either of two channels is `when_any` of two futures, which only the library's
// unbounded channel has. A sender waits until its value has been taken. The future of the channel
// that was not chosen is kept for the next call.
struct selecting_in_hpx : hpx_threads {
    using hpx_threads::hpx_threads;
    using fiber = fibers_of_hpx::fiber;
    template <class F>
    static fiber start(F f) {
        return fibers_of_hpx::start(std::move(f));
    }

    template <class T>
    struct rendezvous {
        hpx::lcos::local::channel<T> values;
        hpx::counting_semaphore<> taken{0};
        hpx::future<T> next;

        void push(T value) {
            values.set(std::move(value));
            taken.acquire();
        }
    };
    template <class T, class F>
    static void select(rendezvous<T>& a, rendezvous<T>& b, F f) {
        for (rendezvous<T>* one : {&a, &b})
            if (!one->next.valid()) one->next = one->values.get();
        auto ready = hpx::when_any(a.next, b.next).get();
        a.next = std::move(hpx::get<0>(ready.futures));
        b.next = std::move(hpx::get<1>(ready.futures));
        rendezvous<T>& from = ready.index == 0 ? a : b;
        f(from.next.get());
        from.taken.release();
    }
};

struct select_two {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name != "select-two") return std::nullopt;
        return lab::measure<selecting_in_hpx>(lab::select_two<selecting_in_hpx>(size), threads);
    }
};

} // namespace

int main(int argc, char** argv) {
    return lab::program<lab::forks<with_hpx>, select_two, lab::fibers<fibers_of_hpx>>(argc, argv);
}
