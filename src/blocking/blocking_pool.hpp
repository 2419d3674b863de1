// SPDX-License-Identifier: Apache-2.0
// Threads for calls that block a thread: one a call under way, made when needed, kept for a while,
// joined at the end.
//
// A runtime has one. The caller's context suspends; one of these threads makes the call with the
// caller's identity, then wakes it. Thread-safe.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/one_shot.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sys/kernel_threads.hpp"
#include "sys/mutex.hpp"
#include "sys/thread.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sennit::sched {

class blocking_pool {
public:
    blocking_pool() = default;
    ~blocking_pool(); // sleeps until calls that are under way have returned
    blocking_pool(const blocking_pool&) = delete;

    // Makes `function(argument)` on another thread and waits for it, as the running activity.
    // False, without having called it, when no thread is to be had.
    bool run(void (*function)(void*) noexcept, void* argument);

    // For the watch for a standstill: adds the threads to `to`; without a call under way they sleep
    // until there is one, or end. Throws std::bad_alloc.
    struct call_counts {
        std::uint64_t begun; // calls so far
        std::uint64_t ended; // of these
    };
    call_counts count(std::vector<sys::os_thread_id>& to);

    // Whether a caller waits for one.
    bool busy() const noexcept { return callers_.load() != 0; }

    // In a child of fork(): the threads are not here.
    void disown() noexcept;

private:
    struct request : base::list_node {
        void (*function)(void*) noexcept;
        void* argument;
        strand* who;
        one_shot done;
    };
    struct thread_entry : base::list_node {
        sys::os_thread_id os_thread = 0;
    };
    struct helper : base::list_node {
        sys::thread thread;
        thread_entry entry; // in `thread_entries_` from its thread's beginning to its end
        blocking_pool* pool = nullptr;
        request* next = nullptr;                  // what to do first
        base::atomic<std::uint32_t> wake_word{0}; // 1: come out of bed
    };

    static void thread_main(void* self) noexcept;
    request* next_for(helper& me) noexcept;
    void retire(helper& me) noexcept;
    bool start_helper(request& first);
    void reap() noexcept;

    sys::mutex mutex_; // guards all below
    base::intrusive_queue<request> waiting_;
    base::intrusive_queue<helper> idle_;
    base::intrusive_queue<thread_entry> thread_entries_;
    base::intrusive_queue<helper> ended_; // to be joined and freed
    std::size_t count_ = 0;               // helpers not in `ended_`
    base::atomic<std::uint32_t> ends_{
        0}; // how many have come to `ended_`; the destructor sleeps on it
    bool ending_ = false;
    base::atomic<std::uint64_t> calls_begun_{0};
    base::atomic<std::uint64_t> calls_ended_{0};
    base::atomic<std::uint32_t> callers_{0}; // that wait
};

} // namespace sennit::sched
