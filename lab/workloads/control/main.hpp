// SPDX-License-Identifier: Apache-2.0
// The workloads of control: the loops of the chapter on concurrency in C-for-all (Delisle 2018,
// chapter 5), each one operation over and over, so that seconds / tasks is the cost of one. A
// runtime supplies a class with a constructor from the number of threads, `run(f)` as for fibers,
// and as many of these as it has:
//
//   suspended                        an object with resume(): a coroutine that suspends over and
//   over create_one()                     makes and destroys whatever it has: a coroutine that
//   never runs, or a thread that
//                                    runs an empty function, joined
//   yield(), fiber, start(f)         as for fibers
//   mutex
//   monitors<k>                      k monitors, 1, 2 or 4, and what is done with all at once:
//   call(): an empty member;
//                                    hold(f): calls f inside; and wait(), signal(): on one
//                                    condition, inside by itself; and accept(): inside by hold,
//                                    lets one call() of another go first
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

// One fiber that yields while nobody else is ready.
template <class R>
struct plain_yield : over_and_over {
    using over_and_over::over_and_over;
    std::int64_t run() const {
        return times([&] { R::yield(); });
    }
};

// A turn of a coroutine and back.
template <class R>
struct resume : over_and_over {
    using over_and_over::over_and_over;
    std::int64_t run() const {
        typename R::suspended one;
        one.resume(); // takes its stack
        std::int64_t done = 0;
        for (; done < n; ++done)
            one.resume(); // a loop, since clang would call a function around it
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

// Nobody else wants it.
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

// One fiber inside that does one thing n times, and who then does another n times from outside;
// each is a hand-over there and back. Returns how often the first did its own.
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

// A waiter, and who signals.
template <class R, std::size_t k>
struct signal : two_sided<R, k> {
    using two_sided<R, k>::two_sided;
    std::int64_t run() const {
        return this->both([](auto& all) { all.wait(); }, [](auto& all) { all.signal(); });
    }
};

// An acceptor, and who calls.
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
