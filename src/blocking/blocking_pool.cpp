// SPDX-License-Identifier: Apache-2.0
#include "blocking/blocking_pool.hpp"

#include "core/runtime/runtime_core.hpp"
#include "core/worker/model_hooks.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/blocking.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/clock.hpp"
#include "sys/futex.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace sennit::sched {

namespace {
constexpr std::size_t max_helpers = 1024;
constexpr std::int64_t idle_timeout_ns = 5'000'000'000; // An idle helper ends after this time.
} // namespace

bool run_blocking(void (*function)(void*) noexcept, void* argument) {
    worker* me = this_worker();
    return me && me->runtime().blocking_calls().run(function, argument);
}

bool blocking_pool::run(void (*function)(void*) noexcept, void* argument) {
    request mine;
    mine.function = function;
    mine.argument = argument;
    mine.who = current_strand();
    // The word of the chosen helper, which may end after it has served this request.
    const base::atomic<std::uint32_t>* to_wake = nullptr;
    this_worker()->self().in_blocking_pool = true;
    calls_begun_.fetch_add(1);
    (void)callers_.fetch_add(1);
    {
        std::unique_lock guard(mutex_);
        if (helper* chosen = idle_.pop_front()) {
            chosen->next = &mine;
            chosen->wake_word.store(1);
            to_wake = &chosen->wake_word;
        } else if (count_ == max_helpers) {
            waiting_.push_back(mine);
            // The existing helpers may wait for an effect of this call.
        } else if (!start_helper(mine)) {
            calls_ended_.fetch_add(1);
            (void)callers_.fetch_sub(1);
            this_worker()->self().in_blocking_pool = false;
            return false;
        }
    }
    if (to_wake) sys::futex_wake(*to_wake, 1);
    mine.done.wait(nullptr); // The helper reports the waits, as the same logical thread.
    this_worker()->self().in_blocking_pool = false; // This context, on its present worker.
    (void)callers_.fetch_sub(1);
    if (mine.who->locals) hooks::before_local_value(); // The call may have made some.
    reap();
    return true;
}

// Requires the lock.
bool blocking_pool::start_helper(request& first) {
    try {
        auto fresh = std::make_unique<helper>();
        fresh->pool = this;
        fresh->next = &first;
        fresh->thread = sys::thread(&blocking_pool::thread_main, fresh.get());
        (void)fresh.release(); // The thread owns it; `reap` frees it.
        ++count_;
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

void blocking_pool::thread_main(void* self) noexcept {
    helper& me = *static_cast<helper*>(self);
    sys::thread::set_name("sennit-blocking");
    me.entry.os_thread = sys::this_os_thread();
    {
        std::lock_guard guard(me.pool->mutex_);
        me.pool->thread_entries_.push_back(me.entry);
    }
    while (request* todo = me.pool->next_for(me)) {
        strand* mine = exchange_strand(todo->who);
        todo->function(todo->argument);
        exchange_strand(mine);
        todo->done.finish();                // The last access to the request.
        me.pool->calls_ended_.fetch_add(1); // Counted after the wake-up.
    }
}

// Returns null after a time without requests, or at the end; the helper is then in `ended_`.
blocking_pool::request* blocking_pool::next_for(helper& me) noexcept {
    {
        std::lock_guard guard(mutex_);
        if (request* mine = std::exchange(me.next, nullptr)) return mine;
        if (request* oldest = waiting_.pop_front()) return oldest;
        if (ending_) {
            retire(me);
            return nullptr;
        }
        me.wake_word.store(0);
        idle_.push_front(me); // The warmest helper goes first.
    }
    const std::int64_t until = sys::now_ns() + idle_timeout_ns;
    bool called = true;
    base::unregister_this_thread();
    while (called && me.wake_word.load() == 0)
        called = sys::futex_wait_until(me.wake_word, 0, until);
    std::lock_guard guard(mutex_);
    if (request* mine = std::exchange(me.next, nullptr)) return mine;
    if (!ending_) idle_.remove(me); // At the end the destructor has removed it already.
    retire(me);
    return nullptr;
}

// Requires the lock, so that the pool cannot end before the wake-up.
void blocking_pool::retire(helper& me) noexcept {
    --count_;
    thread_entries_.remove(me.entry);
    ended_.push_back(me);
    (void)ends_.fetch_add(1);
    if (ending_) sys::futex_wake(ends_, 1);
}

// Joins helpers that have ended: their threads are about to exit.
void blocking_pool::reap() noexcept {
    base::intrusive_queue<helper> gone;
    {
        std::lock_guard guard(mutex_);
        gone.append(ended_);
    }
    while (helper* one = gone.pop_front()) {
        one->thread.join();
        delete one;
    }
}

blocking_pool::~blocking_pool() {
    {
        // A helper whose patience ends now waits for this lock, and finds itself on no list.
        std::lock_guard guard(mutex_);
        ending_ = true;
        while (helper* one = idle_.pop_front()) {
            one->wake_word.store(1);
            sys::futex_wake(one->wake_word, 1);
        }
    }
    for (;;) {
        const std::uint32_t seen = ends_.load();
        reap();
        {
            std::lock_guard guard(mutex_);
            if (count_ == 0 && ended_.empty()) return;
        }
        base::unregister_this_thread();
        sys::futex_wait(ends_, seen); // Without the lock, which the last helpers need.
    }
}

blocking_pool::call_counts blocking_pool::count(std::vector<sys::os_thread_id>& to) {
    std::lock_guard guard(mutex_);
    // Read before `begun`: a call that is under way is seen.
    const std::uint64_t ended = calls_ended_.load();
    for (thread_entry* one = thread_entries_.front(); one; one = thread_entries_.after(*one))
        to.push_back(one->os_thread);
    return {calls_begun_.load(), ended};
}

void blocking_pool::disown() noexcept {
    count_ = 0;
    base::intrusive_queue<helper> lost;
    lost.append(idle_);
    lost.append(ended_);
    thread_entries_ = {};
    while (helper* one = lost.pop_front()) {
        one->thread.disown();
        delete one;
    }
}

} // namespace sennit::sched
