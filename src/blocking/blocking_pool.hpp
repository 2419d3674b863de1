// SPDX-License-Identifier: Apache-2.0
// Threads for calls that block a thread: one helper per call under way. A helper is made when
// needed, kept for a while, and joined at the end.
//
// Each runtime has one pool. The caller's context suspends; a helper makes the call with the
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
    ~blocking_pool(); // Waits until calls that are under way have returned.
    blocking_pool(const blocking_pool&) = delete;

    // Calls `function(argument)` on another thread and waits for it, as the running logical thread.
    // Returns false, without having called it, if no thread is available.
    bool run(void (*function)(void*) noexcept, void* argument);

    // For the deadlock detector: adds the helpers' threads to `to`. A helper without a call under
    // way sleeps until there is one, or ends. Throws std::bad_alloc.
    struct call_counts {
        std::uint64_t begun; // Calls so far.
        std::uint64_t ended; // Calls of these that have ended.
    };
    call_counts count(std::vector<sys::os_thread_id>& to);

    // True if a caller waits for a call.
    bool busy() const noexcept { return callers_.load() != 0; }

    // In a child of fork(), where the threads do not exist.
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
        thread_entry entry; // In `thread_entries_` from its thread's beginning to its end.
        blocking_pool* pool = nullptr;
        request* next = nullptr;                  // The first request to serve.
        base::atomic<std::uint32_t> wake_word{0}; // 1: stop sleeping.
    };

    static void thread_main(void* self) noexcept;
    request* next_for(helper& me) noexcept;
    void retire(helper& me) noexcept;
    bool start_helper(request& first);
    void reap() noexcept;

    sys::mutex mutex_; // Guards all below.
    base::intrusive_queue<request> waiting_;
    base::intrusive_queue<helper> idle_;
    base::intrusive_queue<thread_entry> thread_entries_;
    base::intrusive_queue<helper> ended_; // Helpers to be joined and freed.
    std::size_t count_ = 0;               // The number of helpers not in `ended_`.
    // Counts the helpers that have come to `ended_`; the destructor sleeps on it.
    base::atomic<std::uint32_t> ends_{0};
    bool ending_ = false;
    base::atomic<std::uint64_t> calls_begun_{0};
    base::atomic<std::uint64_t> calls_ended_{0};
    base::atomic<std::uint32_t> callers_{0}; // Callers that wait.
};

} // namespace sennit::sched
