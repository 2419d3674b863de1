// SPDX-License-Identifier: Apache-2.0
// All that runs, waits and is ready in one runtime, as it was at one moment.
//
// How. Every worker of the runtime is halted where it is (sys/thread_suspender.hpp); then nothing
// moves: contexts are left, resumed and freed by workers only, and so are the frames and the blocks
// of what is not running. Who is what is found without any list of fibers: a context whose stack a
// halted thread stands on is running; one that lies in a queue is ready; one that has somebody on
// it besides the worker loop is blocked. A context may be caught in the middle of a switch: the
// thread's own stack pointer says which of the two stacks it is on, and the one that it is not on
// is saved.
//
// Why it does not crash. Between halting and letting go the caller takes no lock that a halted
// thread may hold and no memory: the results are reserved before; the pool of contexts and the
// dynamic loader, which unwinding asks, are locked by the caller before; a queue whose owner stands
// inside, or whose lock is taken, makes it let go and begin anew. What is followed: contexts (they
// live as long as the runtime), activities of contexts and their outer ones (in frames and blocks
// that only their own strand ends), the options of a wait (in a frame of the blocked strand), the
// object of a wait that names its holder (it outlives its waiters), fibers in queues. Not followed:
// what a thread that is not halted may change or free: the waits of an activity that is lent to a
// blocking call, and holders, which are only compared. A worker whose thread does not come to the
// handler (its signals are blocked, or it is stuck in the kernel) makes the snapshot empty but for
// the workers.
//
// What is on its way from one place to another at that moment, in a worker's hands, may be missing
// (a fiber that has not begun) or be told as blocked (a context that is being woken).
//
// Threads: any, also fibers of the runtime itself. One snapshot at a time in the process. While it
// is taken, some 10 us and about 1 us for each blocked fiber, the runtime stands still; system
// calls that cannot be restarted are interrupted.
#pragma once

#include "sennit/detail/core/strand.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace sennit::sched {

class runtime_core;
class context;
class worker;
struct runnable;

enum class strand_state : std::uint8_t {
    running,          // on a worker
    ready,            // it waits for a worker to go on
    fresh,            // it has not begun
    blocked,          // it waits for something
    in_blocking_pool, // it waits for a blocking call, on a thread of its own
    below,            // it waits for the strand that runs on its stack
};

struct strand_report {
    const void* identity = nullptr;
    std::uint64_t id = 0;
    bool is_fiber = false;
    std::array<char, 24> name{};
    strand_state state = strand_state::fresh;
    unsigned worker = 0;                  // of a running one
    unsigned context = 0;                 // not of a fresh one
    const std::type_info* type = nullptr; // of the closure
    const void* made_at = nullptr;        // code
    std::int64_t born_ns = 0;             // 0: not known
    const char* waits_for = nullptr;      // of a blocked one
    const void* waits_on = nullptr;
    std::int64_t deadline_ns = 0;
    const void* holder = nullptr; // an identity
    std::int64_t since_ns = 0;
    std::size_t stack_size = 0;    // of the context, with all that are on it
    std::size_t stack_used = 0;    // now
    std::size_t stack_touched = 0; // at most so far, by whoever was on it
    std::size_t first_frame = 0;   // in `frames`
    std::size_t frames = 0;
};

struct worker_report {
    bool thread_suspended = false;
    bool asleep = false;
    const void* pc = nullptr; // where its thread was
};

struct runtime_report {
    const void* runtime = nullptr;
    std::string_view name; // the runtime's
    bool complete = false; // false: there are workers only
    std::int64_t taken_ns = 0;
    std::vector<worker_report> workers;
    std::vector<strand_report> strands;
    std::vector<const void*> frames;
    std::size_t other_ready = 0; // pieces of work that are no fibers: jobs, children of scopes
};

class snapshot {
public:
    // Throws std::bad_alloc.
    static runtime_report take(runtime_core& of);

    struct layout; // for debuggers: src/core/diagnostics/debug_layout.cpp

private:
    enum class result { done, again, no_room };
    explicit snapshot(runtime_core& of) noexcept : of_(of) {}
    void reserve();
    void suspend_and_collect() noexcept;
    bool suspend_all_workers() noexcept;
    void resume_all_workers() noexcept;
    result collect() noexcept;
    result collect_running() noexcept;
    result collect_ready() noexcept;
    result collect_blocked() noexcept;
    class context* stack_of(const void* sp, class worker& likely, bool& unclear) noexcept;
    void add_ready(runnable& item) noexcept;
    strand_report* add(strand& who, strand_state state) noexcept;
    void add_all_on(class context& stack, strand* innermost, strand_state state) noexcept;
    void add_frames(strand_report& to, const class context& of) noexcept;
    std::uint64_t id_of(strand& who) noexcept;

    runtime_core& of_;
    runtime_report found_;
    static constexpr unsigned char in_order = 2;
    std::vector<unsigned char>
        seen_; // by the contexts' numbers: 0; 1: added; in_order: ready, in the runtime's order
    std::uint64_t next_id_ = 0;
    std::size_t room_ = 0;
    result result_ = result::again;
};

} // namespace sennit::sched
