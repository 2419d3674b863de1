// SPDX-License-Identifier: Apache-2.0
// The workloads of fibers. A runtime supplies a class with a constructor from the number of threads
// (and, if it can do better then, from that and `many_blocked`), and with as many of these as it
// has; it offers the workloads that need no others:
//
//   run(f)                           calls f where fibers can be started and waited for; returns
//   its result fiber, start(f)                  a default constructible, movable handle with
//   join(); a new fiber that runs f yield(), sleep_for(duration) mutex, condition_variable for
//   std::unique_lock, with the names of std semaphore                        acquire(), release();
//   begins without a token event                            wait(), set(): once set, it stays so
//   wait_for(event, duration)        false when the time is over
//   buffered<T>, rendezvous<T>       channels with push(T) and T pop(); buffered is made with its
//   capacity select(a, b, f)                  calls f with a value from whichever of the two
//   rendezvous channels is ready first
#pragma once

#include "../program.hpp"
#include "blocked.hpp"
#include "channel.hpp"
#include "churn.hpp"
#include "condition.hpp"
#include "create.hpp"
#include "cycle.hpp"
#include "locality.hpp"
#include "mutex.hpp"
#include "select_two.hpp"
#include "skynet_channel.hpp"
#include "sleepers.hpp"
#include "timers.hpp"
#include "transfer.hpp"
#include "yield.hpp"

namespace lab {

template <class R>
struct fibers {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name == "fiber-create") return measure<R>(fiber_create<R>(size), threads);
        if constexpr (requires { R::yield(); })
            if (name == "fiber-yield") return measure<R>(fiber_yield<R>(size), threads);
        if constexpr (requires { typename R::template buffered<std::int64_t>; }) {
            if (name == "skynet-channel") return measure<R>(skynet_channel<R>(size), threads);
            if (name == "channel-buffered") return measure<R>(channel_buffered<R>(size), threads);
        }
        if constexpr (requires { typename R::template rendezvous<std::int64_t>; })
            if (name == "channel-rendezvous")
                return measure<R>(channel_rendezvous<R>(size), threads);
        if constexpr (requires { typename R::mutex; }) {
            if (name == "mutex-free") return measure<R>(mutex_free<R>(size), threads);
            if (name == "mutex-contended") return measure<R>(mutex_contended<R>(size), threads);
        }
        if constexpr (requires { typename R::condition_variable; })
            if (name == "condition") return measure<R>(condition<R>(size), threads);
        if constexpr (requires { typename R::semaphore; }) {
            if (name == "cycle") return measure<R>(cycle<R>(size), threads);
            if (name == "churn") return measure<R>(churn<R>(size), threads);
            if (name == "locality") return measure<R>(locality<R, false>(size), threads);
            if (name == "locality-share") return measure<R>(locality<R, true>(size), threads);
            // Its leader spins until the others have run: who is on its thread waits behind it,
            // where nothing interrupts it.
            if constexpr (!requires { R::nothing_interrupts; })
                if (name == "transfer") return measure<R>(transfer<R>(size), threads);
        }
        if constexpr (requires { typename R::event; })
            if (name == "fibers-blocked") return measure<R>(fibers_blocked<R>(size), threads);
        if constexpr (requires { R::sleep_for(std::chrono::microseconds(1)); })
            if (name == "sleepers") return measure<R>(sleepers<R>(size), threads);
        if constexpr (requires { R::sleep_for(std::chrono::microseconds(1)); })
            if (name == "timer-lateness") return measure<R>(timer_lateness<R>(size), threads);
        if constexpr (requires(typename R::event gate) {
                          R::wait_for(gate, std::chrono::hours(1));
                      })
            if (name == "timers-cancelled") return measure<R>(timers_cancelled<R>(size), threads);
        if constexpr (requires { R::selects; })
            if (name == "select-two") return measure<R>(select_two<R>(size), threads);
        return std::nullopt;
    }
};

} // namespace lab
