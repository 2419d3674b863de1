// SPDX-License-Identifier: Apache-2.0
// folly::fibers: a FiberManager for each thread, with stacks of 16 KiB, the library's default.
//
// A fiber stays on the manager that it was given to. With several threads, the workload's fiber and
// the fibers that it starts give each new fiber to the thread with the fewest fibers. Fibers that
// start further down stay on their thread, so a tree is dealt out near its root. A fiber that stays
// runs immediately (addTaskEager). A tree is then walked depth first, and a fiber has often ended
// before it is joined.
//
// Threads search for work all the time, and now and then yield the processor to other programs. A
// thread that slept on its EventBase would need a wake-up by the kernel for each fiber that another
// thread makes ready. Only the workloads in which fibers sleep have EventBases, whose timers have
// whole milliseconds. The timers of the other loop have steps of ten milliseconds.
#include "fibers/main.hpp"

#include <folly/IntrusiveList.h>
#include <folly/SpinLock.h>
#include <folly/fibers/BatchSemaphore.h>
#include <folly/fibers/Baton.h>
#include <folly/fibers/EventBaseLoopController.h>
#include <folly/fibers/FiberManager.h>
#include <folly/fibers/Semaphore.h>
#include <folly/fibers/SimpleLoopController.h>
#include <folly/fibers/TimedMutex.h>
#include <folly/futures/SharedPromise.h>
#include <folly/io/async/EventBase.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

namespace {

// The distance of a fiber from the workload's fiber. A new fiber inherits it.
struct depth {
    int value = 0;
    // The workload's fiber starts those of depth 1, and these start those of depth 2.
    static constexpr int dealt_out = 2;
};

enum class driver { polling, event_base };

// The state of a thread: its fiber manager and the loop that drives it.
class home {
    using event_base_controller = folly::fibers::EventBaseLoopController;
    using polling_controller = folly::fibers::SimpleLoopController;

    std::optional<folly::EventBase> events_;

public:
    folly::fibers::FiberManager manager;
    std::atomic<int> dealt = 0; // fibers that were given to this thread and have not ended

    explicit home(driver by) : manager(folly::fibers::LocalType<depth>(), controller(by)) {
        if (by == driver::polling) return;
        using std::chrono::milliseconds;
        events_.emplace(
            folly::EventBase::Options().setSkipTimeMeasurement(true).setTimerTickInterval(
                milliseconds(1)));
        static_cast<event_base_controller&>(manager.loopController()).attachEventBase(*events_);
    }
    void drive() {
        if (events_) return events_->loopForever();
        std::size_t looked = 0;
        polling().loop([&looked] {
            if (++looked % 32 == 0) std::this_thread::yield();
        });
    }
    // Makes drive() return soon. The thread itself must call it.
    void stop() {
        if (events_)
            events_->terminateLoopSoon();
        else
            polling().stop();
    }

private:
    static std::unique_ptr<folly::fibers::LoopController> controller(driver by) {
        if (by == driver::polling) return std::make_unique<polling_controller>();
        return std::make_unique<event_base_controller>();
    }
    polling_controller& polling() {
        return static_cast<polling_controller&>(manager.loopController());
    }
};

class homes {
public:
    homes(unsigned threads, driver by) : all_(threads) {
        for (auto& one : all_) one = std::make_unique<home>(by);
        for (unsigned i = 1; i < threads; ++i)
            others_.emplace_back([this, i] {
                own_ = all_[i].get();
                own_->drive();
            });
        own_ = all_[0].get();
    }
    ~homes() {
        for (std::size_t i = 1; i < all_.size(); ++i)
            all_[i]->manager.addTaskRemote([one = all_[i].get()] { one->stop(); });
        for (auto& other : others_) other.join();
    }
    bool several() const { return all_.size() > 1; }
    static home& own() { return *own_; }

    // The thread for one more fiber. The calling fiber counts on its own thread, but is about to
    // leave it.
    home& best() const {
        home* found = own_;
        int fewest = own_->dealt.load(std::memory_order_relaxed) - 1;
        for (auto& one : all_)
            if (const int there = one->dealt.load(std::memory_order_relaxed); there < fewest)
                found = one.get(), fewest = there;
        return *found;
    }

private:
    std::vector<std::unique_ptr<home>> all_;
    std::vector<std::thread> others_;
    static inline thread_local home* own_ = nullptr;
};

struct fibers_of_folly {
    using baton = folly::fibers::Baton;
    static inline std::optional<homes> where;
    static constexpr bool nothing_interrupts = true; // no transfer

    fibers_of_folly(unsigned threads, driver by) { where.emplace(threads, by); }
    ~fibers_of_folly() { where.reset(); }

    template <class F>
    auto run(F f) {
        decltype(f()) result{};
        home& here = homes::own();
        here.dealt.fetch_add(1, std::memory_order_relaxed);
        here.manager.addTask([&] {
            result = f();
            here.dealt.fetch_sub(1, std::memory_order_relaxed);
            here.stop();
        });
        here.drive();
        return result;
    }

    struct fiber {
        std::unique_ptr<baton> over;
        void join() const {
            // An unconditional wait() would yield even to a fiber that has ended.
            if (!over->try_wait()) over->wait();
        }
    };
    template <class F>
    static fiber start(F f) {
        fiber made{std::make_unique<baton>()};
        baton* const over = made.over.get();
        home& own = homes::own();
        if (!where->several() || folly::fibers::local<depth>().value == depth::dealt_out) {
            own.manager.addTaskEager([f = std::move(f), over] {
                f();
                over->post();
            });
            return made;
        }
        home& to = where->best();
        to.dealt.fetch_add(1, std::memory_order_relaxed);
        auto body = [f = std::move(f), over, &to] {
            ++folly::fibers::local<depth>().value;
            f();
            to.dealt.fetch_sub(1, std::memory_order_relaxed);
            over->post();
        };
        if (&to == &own)
            own.manager.addTask(std::move(body));
        else
            to.manager.addTaskRemote(std::move(body));
        return made;
    }
    static void yield() { folly::fibers::yield(); }

    // The library rounds the rest of the time down to whole milliseconds, after a part of the time
    // has already passed.
    template <class D>
    static void sleep_for(D duration) {
        using std::chrono::milliseconds;
        baton().try_wait_for(std::chrono::ceil<milliseconds>(duration) + milliseconds(1));
    }

    using mutex = folly::fibers::TimedMutex;

    // The library has no condition variable. This one is a list of waiters, each with a baton. The
    // caller must hold the mutex to notify.
    class condition_variable {
    public:
        template <class Ready>
        void wait(std::unique_lock<mutex>& lock, Ready ready) {
            while (!ready()) {
                waiter me;
                waiting_.push_back(me);
                lock.unlock();
                me.woken.wait();
                lock.lock();
            }
        }
        void notify_one() {
            if (waiting_.empty()) return;
            waiter& first = waiting_.front();
            waiting_.pop_front();
            first.woken.post();
        }

    private:
        struct waiter {
            baton woken;
            folly::IntrusiveListHook hook;
        };
        folly::IntrusiveList<waiter, &waiter::hook> waiting_;
    };

    class semaphore {
    public:
        void acquire() { tokens_.wait(); }
        void release() { tokens_.signal(); }

    private:
        folly::fibers::Semaphore tokens_{0};
    };

    // The semaphore has more tokens than waiters. A waiter with a limit uses a promise, because
    // only futures have such a wait.
    class event {
    public:
        void wait() { tokens_.wait(1); }
        template <class D>
        bool wait_for(D duration) {
            return promise_.getSemiFuture().wait(duration);
        }
        void set() {
            tokens_.signal(std::int64_t{1} << 40);
            promise_.setValue();
        }

    private:
        folly::fibers::BatchSemaphore tokens_{0};
        folly::SharedPromise<folly::Unit> promise_;
    };
    template <class D>
    static bool wait_for(event& gate, D duration) {
        return gate.wait_for(duration);
    }

    // The library has no channels for fibers, so a blocked fiber waits for a semaphore.
    template <class T>
    class rendezvous {
    public:
        void push(T value) {
            free_.wait();
            value_ = value;
            full_.signal();
            taken_.wait();
            free_.signal();
        }
        T pop() {
            full_.wait();
            const T value = value_;
            taken_.signal();
            return value;
        }

    private:
        folly::fibers::Semaphore free_{1}, full_{0}, taken_{0};
        T value_{};
    };
    template <class T>
    class buffered {
    public:
        explicit buffered(std::size_t capacity)
            : room_(capacity), capacity_(capacity), values_(std::make_unique<T[]>(capacity)) {}
        void push(T value) {
            room_.wait();
            {
                const std::lock_guard lock(lock_);
                values_[next(in_)] = value;
            }
            some_.signal();
        }
        T pop() {
            some_.wait();
            const T value = [this] {
                const std::lock_guard lock(lock_);
                return values_[next(out_)];
            }();
            room_.signal();
            return value;
        }

    private:
        std::size_t next(std::size_t& position) {
            const std::size_t here = position;
            position = here + 1 == capacity_ ? 0 : here + 1;
            return here;
        }

        folly::fibers::Semaphore room_, some_{0};
        folly::SpinLock lock_;
        const std::size_t capacity_;
        std::size_t in_ = 0, out_ = 0; // guarded by the lock, as are the values between them
        std::unique_ptr<T[]> values_;
    };
};

template <driver by>
struct driven : fibers_of_folly {
    explicit driven(unsigned threads) : fibers_of_folly(threads, by) {}
};

struct by_name {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name == "sleepers" || name == "timer-lateness" || name == "timers-cancelled")
            return lab::fibers<driven<driver::event_base>>::run(name, size, threads);
        return lab::fibers<driven<driver::polling>>::run(name, size, threads);
    }
};

} // namespace

int main(int argc, char** argv) {
    return lab::program<by_name>(argc, argv);
}
