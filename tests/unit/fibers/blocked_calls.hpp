// SPDX-License-Identifier: Apache-2.0
// All calls of the library that block and are cancellation points, each in a state that only a
// cancellation can end.
#pragma once

#include "on_workers.hpp"

#include <sennit/barrier.hpp>
#include <sennit/channel.hpp>
#include <sennit/condition_variable.hpp>
#include <sennit/event.hpp>
#include <sennit/latch.hpp>
#include <sennit/nursery.hpp>
#include <sennit/semaphore.hpp>
#include <sennit/shared_mutex.hpp>

#include <chrono>
#include <shared_mutex>
#include <stop_token>

struct blocked_call {
    const char* name;
    void (*call)(std::atomic<bool>& about_to_block);
};

namespace blocked {

using flag = std::atomic<bool>;
inline constexpr std::chrono::hours long_time{1};

// Calls `wait` with a locked lock. A wait that throws must have locked the lock again.
template <class Lock, class Wait>
void locked(flag& about, Wait&& wait) {
    sennit::condition_variable_any changed;
    typename Lock::mutex_type mutex;
    Lock lock(mutex);
    try {
        about = true;
        wait(changed, lock);
    } catch (const sennit::cancelled&) {
        EXPECT_TRUE(lock.owns_lock());
        EXPECT_FALSE(mutex.try_lock());
        throw;
    }
}

inline void in_condition_variable(flag& about) {
    sennit::condition_variable changed;
    sennit::mutex mutex;
    std::unique_lock lock(mutex);
    try {
        about = true;
        changed.wait(lock, [] { return false; });
    } catch (const sennit::cancelled&) {
        EXPECT_TRUE(lock.owns_lock());
        expect_error(std::errc::resource_deadlock_would_occur, [&] { mutex.lock(); });
        throw;
    }
}

inline void in_nested_nursery(flag& about) {
    flag child_cancelled = false;
    sennit::nursery inner;
    inner.start([&] {
        sennit::binary_semaphore never(0);
        about = true;
        try {
            never.acquire();
        } catch (const sennit::cancelled&) {
            child_cancelled = true;
            throw;
        }
    });
    try {
        inner.join();
    } catch (const sennit::cancelled&) {
        // A child that has not started does not start.
        EXPECT_EQ(child_cancelled.load(), about.load());
        throw;
    }
}

using unique = std::unique_lock<sennit::mutex>;
using shared = std::shared_lock<sennit::shared_mutex>;
constexpr auto not_yet = [] { return false; };

} // namespace blocked

inline const blocked_call blocked_calls[] = {
    {"sleep_for",
     [](blocked::flag& about) { about = true, sennit::this_fiber::sleep_for(blocked::long_time); }},
    {"channel_pop",
     [](blocked::flag& about) { about = true, (void)sennit::channel<int>(3).pop(); }},
    {"channel_push",
     [](blocked::flag& about) { about = true, (void)sennit::channel<int>().push(1); }},
    {"semaphore",
     [](blocked::flag& about) { about = true, sennit::counting_semaphore<>(0).acquire(); }},
    {"semaphore_for",
     [](blocked::flag& about) {
         about = true, (void)sennit::binary_semaphore(0).try_acquire_for(blocked::long_time);
     }},
    {"event", [](blocked::flag& about) { about = true, sennit::event().wait(); }},
    {"event_for",
     [](blocked::flag& about) {
         about = true, (void)sennit::event().wait_for(blocked::long_time);
     }},
    {"latch", [](blocked::flag& about) { about = true, sennit::latch(1).wait(); }},
    {"latch_arrive",
     [](blocked::flag& about) { about = true, sennit::latch(2).arrive_and_wait(); }},
    {"barrier", [](blocked::flag& about) { about = true, sennit::barrier<>(2).arrive_and_wait(); }},
    {"condition_variable", &blocked::in_condition_variable},
    {"condition_variable_any",
     [](blocked::flag& about) {
         blocked::locked<blocked::unique>(about,
                                          [](auto& changed, auto& lock) { changed.wait(lock); });
     }},
    {"condition_variable_for",
     [](blocked::flag& about) {
         blocked::locked<blocked::unique>(about, [](auto& changed, auto& lock) {
             (void)changed.wait_for(lock, blocked::long_time);
         });
     }},
    {"condition_variable_shared",
     [](blocked::flag& about) {
         blocked::locked<blocked::shared>(
             about, [](auto& changed, auto& lock) { (void)changed.wait(lock, blocked::not_yet); });
     }},
    {"condition_variable_stop",
     [](blocked::flag& about) {
         const std::stop_source source;
         blocked::locked<blocked::unique>(about, [&](auto& changed, auto& lock) {
             (void)changed.wait(lock, source.get_token(), blocked::not_yet);
         });
     }},
    {"nested_nursery", &blocked::in_nested_nursery},
};
