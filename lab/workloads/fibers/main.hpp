// SPDX-License-Identifier: Apache-2.0
// The workloads of fibers. A runtime supplies a class with a constructor from the number of
// threads, and with as many of the members below as it has. A second constructor, from the number
// of threads and `many_blocked`, is optional, for runtimes that can do better then. The runtime
// offers the workloads whose members it has:
//
//   run(f)                      calls f where fibers can be started and waited for; returns the
//                               result of f
//   fiber, start(f)             a default constructible, movable handle with join(); a new fiber
//                               that runs f
//   yield(), sleep_for(duration)
//   mutex, condition_variable   for std::unique_lock, with the names of std
//   semaphore                   acquire(), release(); begins without a token
//   event                       wait(), set(); an event that has been set stays set
//   wait_for(event, duration)   false when the time is over
//   buffered<T>, rendezvous<T>  channels with push(T) and T pop(); a buffered channel is made with
//                               its capacity
//   select(a, b, f)             calls f with a value from the rendezvous channel that is
//                               ready first
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
            // The leader spins until the other fibers have run. A fiber on the leader's thread
            // waits behind the leader if the runtime never preempts a fiber.
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
