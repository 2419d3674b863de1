// SPDX-License-Identifier: Apache-2.0
// The workloads of control: the loops of the chapter on concurrency in C-for-all (Delisle 2018,
// chapter 5). Each loop repeats one operation, so seconds / tasks is the cost of that operation. A
// runtime supplies a class with a constructor from the number of threads, `run(f)` as for fibers,
// and as many of these members as it has:
//
//   suspended                an object with resume(): a coroutine that suspends over and over
//   create_one()             creates and destroys one object: a coroutine that never runs, or a
//                            thread that runs an empty function and is joined
//   yield(), fiber, start(f) as for fibers
//   mutex                    a mutex with lock() and unlock()
//   monitors<k>              k monitors, with k 1, 2 or 4, and the operations on all k together:
//     call()                   calls an empty member
//     hold(f)                  calls f inside the monitors
//     wait(), signal()         wait and signal on one condition; signal() enters by itself
//     accept()                 inside hold, lets one call() of another fiber go first
#pragma once

#include "../fibers/count.hpp"
#include "../program.hpp"

#include <atomic>

namespace lab {

// One operation, n times.
struct over_and_over : counted {
    using counted::counted;
    template <class F>
    std::int64_t times(F operation) const {
        std::int64_t done = 0;
        for (; done < n; ++done) operation();
        return done;
    }
};

// One fiber yields while no other fiber is ready.
template <class R>
struct plain_yield : over_and_over {
    using over_and_over::over_and_over;
    std::int64_t run() const {
        return times([&] { R::yield(); });
    }
};

// A coroutine is resumed and suspends again.
template <class R>
struct resume : over_and_over {
    using over_and_over::over_and_over;
    std::int64_t run() const {
        typename R::suspended one;
        one.resume(); // the first resume takes a stack
        std::int64_t done = 0;
        // A plain loop, since clang would call a function around each resume.
        for (; done < n; ++done) one.resume();
        return done;
    }
};

template <class R>
struct create : over_and_over {
    using over_and_over::over_and_over;
    std::int64_t run() const {
        return times([&] { R::create_one(); });
    }
};

template <class Mutex>
[[gnu::noinline]] void lock_and_unlock(Mutex& mutex) {
    mutex.lock();
    mutex.unlock();
}

// No other fiber uses the mutex.
template <class R>
struct free_mutex : over_and_over {
    using over_and_over::over_and_over;
    std::int64_t run() const {
        typename R::mutex mutex;
        return times([&] { lock_and_unlock(mutex); });
    }
};

template <class R, std::size_t k>
struct monitor_call : over_and_over {
    using over_and_over::over_and_over;
    std::int64_t run() const {
        typename R::template monitors<k> all;
        return times([&] { all.call(); });
    }
};

// One fiber stays inside the monitors and does one operation n times. Another fiber does its own
// operation n times from outside. Each pair of operations is a hand-over there and back. Returns
// the number of operations of the fiber inside.
template <class R, std::size_t k>
struct two_sided : counted {
    using counted::counted;
    template <class Inside, class Outside>
    std::int64_t both(Inside do_inside, Outside do_outside) const {
        typename R::template monitors<k> all;
        std::int64_t done = 0;
        std::atomic<bool> inside = false;
        typename R::fiber other = R::start([&, count = n] {
            all.hold([&] {
                inside = true;
                for (; done < count; ++done) do_inside(all);
            });
        });
        while (!inside) R::yield();
        for (std::int64_t i = 0; i < n; ++i) do_outside(all);
        other.join();
        return done;
    }
};

// One fiber waits inside, and another fiber enters and signals.
template <class R, std::size_t k>
struct signal : two_sided<R, k> {
    using two_sided<R, k>::two_sided;
    std::int64_t run() const {
        return this->both([](auto& all) { all.wait(); }, [](auto& all) { all.signal(); });
    }
};

// One fiber accepts inside, and another fiber calls.
template <class R, std::size_t k>
struct accept : two_sided<R, k> {
    using two_sided<R, k>::two_sided;
    std::int64_t run() const {
        return this->both([](auto& all) { all.accept(); }, [](auto& all) { all.call(); });
    }
};

template <class R>
struct control {
    template <std::size_t k>
    static std::optional<int> run_with(const std::string& name, const std::string& size,
                                       unsigned threads) {
        if constexpr (requires { typename R::template monitors<k>; }) {
            using all = typename R::template monitors<k>;
            const std::string ending = "-" + std::to_string(k);
            if (name == "monitor" + ending) return measure<R>(monitor_call<R, k>(size), threads);
            if constexpr (requires(all& a) { a.signal(); })
                if (name == "signal" + ending) return measure<R>(signal<R, k>(size), threads);
            if constexpr (requires(all& a) { a.accept(); })
                if (name == "accept" + ending) return measure<R>(accept<R, k>(size), threads);
        }
        return std::nullopt;
    }
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if constexpr (requires { typename R::suspended; })
            if (name == "resume") return measure<R>(resume<R>(size), threads);
        if constexpr (requires { R::create_one(); })
            if (name == "create") return measure<R>(create<R>(size), threads);
        if constexpr (requires { R::yield(); })
            if (name == "yield") return measure<R>(plain_yield<R>(size), threads);
        if constexpr (requires { typename R::mutex; })
            if (name == "mutex") return measure<R>(free_mutex<R>(size), threads);
        for (const auto with : {&run_with<1>, &run_with<2>, &run_with<4>})
            if (const auto status = with(name, size, threads)) return status;
        return std::nullopt;
    }
};

} // namespace lab
