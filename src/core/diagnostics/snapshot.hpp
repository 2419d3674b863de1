// SPDX-License-Identifier: Apache-2.0
// A snapshot: all logical threads of one runtime that run, wait or are ready, as they were at one
// moment.
//
// How. The caller halts every worker of the runtime where it is (sys/thread_suspender.hpp). Then
// nothing moves: only workers suspend, resume and free contexts, and only they free the frames and
// blocks of logical threads that do not run. The state of each logical thread is found without a
// list of fibers. A context whose stack a halted thread stands on is running. A context that lies
// in a queue is ready. A context that holds another logical thread than the worker loop is blocked.
// A context may be halted in the middle of a switch: the thread's own stack pointer tells which of
// the two stacks it is on, and the other stack is saved.
//
// Why it does not crash. Between halting and resuming the workers, the caller allocates no memory
// and takes no lock that a halted thread may hold. It reserves the results before. Before halting
// it also locks the pool of contexts and the dynamic loader, which unwinding asks. If the owner of
// a queue is inside its section, or a queue's lock is taken, the caller resumes the workers and
// begins again. The snapshot follows these pointers: contexts (they live as long as the runtime);
// logical threads of contexts and their outer ones (in frames and blocks that only their own
// logical thread ends); the options of a wait (in a frame of the blocked logical thread); the
// object of a wait that names its holder (it outlives its waiters); fibers in queues. It does not
// follow pointers that a running thread may change or free: the waits of a logical thread that runs
// in a blocking pool, and holders, which are only compared. If the thread of a worker does not come
// to the handler (its signals are blocked, or it is stuck in the kernel), the snapshot contains
// only the workers.
//
// A runnable that a worker moves from one place to another at that moment may be missing (a fiber
// that has not begun) or be reported as blocked (a context that is being woken).
//
// Task strands hold no stack while they wait. Those that have waited are in a table of a worker
// (task_table.hpp); those that have not begun are in a queue. A strand is suspended if its identity
// names the strand's own wait; otherwise it runs on a context, which reports it. The snapshot
// follows the frames of a suspended strand from the innermost task outwards: nothing changes them
// before the strand continues, and a strand leaves its table before its memory is freed. Of the
// task that a worker runs it says only that it runs: the task may have ended a moment ago, and be
// gone.
//
// Threads: any thread may call, including fibers of the runtime itself. One snapshot at a time in
// the process. While it is taken, some 10 us and about 1 us for each blocked fiber, the runtime
// stands still, and system calls that cannot be restarted are interrupted.
#pragma once

#include "sennit/detail/core/report_name.hpp"
#include "sennit/detail/core/strand.hpp"

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
    running,          // Runs on a worker.
    ready,            // Waits for a worker to continue it.
    fresh,            // Has not begun.
    blocked,          // Waits for an event.
    in_blocking_pool, // Waits for a blocking call, which runs on a thread of its own.
    below,            // Waits for the logical thread that runs on its stack.
};

struct strand_report {
    const void* identity = nullptr;
    std::uint64_t id = 0;
    bool is_fiber = false;
    bool is_task = false;
    bool is_lent = false; // A task that runs with the identity of the code that waits for it.
    report_name name{};
    strand_state state = strand_state::fresh;
    unsigned worker = 0;                  // Set for a running one.
    unsigned context = 0;                 // Not set for a fresh one.
    const std::type_info* type = nullptr; // The type of the closure.
    const void* made_at = nullptr;        // A code address.
    std::int64_t born_ns = 0;             // 0: unknown.
    const char* waits_for = nullptr;      // Set for a blocked one.
    const void* waits_on = nullptr;
    std::int64_t deadline_ns = 0;
    const void* holder = nullptr; // An identity.
    std::int64_t since_ns = 0;
    std::size_t stack_size = 0;    // Of the context, with all logical threads on it.
    std::size_t stack_used = 0;    // In use at the snapshot.
    std::size_t stack_touched = 0; // The most ever used, by any logical thread on it.
    // Of a task without a stack: the addresses of its functions, innermost first. Otherwise return
    // addresses.
    std::size_t first_frame = 0; // An index into `frames`.
    std::size_t frames = 0;
};

struct worker_report {
    bool thread_suspended = false;
    bool asleep = false;
    const void* pc = nullptr; // Where its thread was.
};

struct runtime_report {
    const void* runtime = nullptr;
    std::string_view name; // The runtime's name.
    bool complete = false; // False: there are workers only.
    std::int64_t taken_ns = 0;
    std::vector<worker_report> workers;
    std::vector<strand_report> strands;
    std::vector<const void*> frames;
    std::size_t other_ready = 0; // Work that is no strand yet: jobs, children of scopes.
};

class snapshot {
public:
    // Throws std::bad_alloc.
    static runtime_report take(runtime_core& of);

    struct layout; // For debuggers: src/core/diagnostics/debug_layout.cpp.

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
    bool add_running_task() noexcept;
    void add_all_on(class context& stack, strand* innermost, strand_state state) noexcept;
    void add_frames(strand_report& to, const class context& of) noexcept;
    result collect_tasks() noexcept;
    void add_task(class task_strand& one, strand_state state) noexcept;
    bool continues(const class task_strand& one) noexcept;
    static void describe_task(strand_report& to, const class task_strand& of) noexcept;
    void add_task_frames(strand_report& to, class task_strand& of) noexcept;
    std::uint64_t id_of(strand& who) noexcept;

    runtime_core& of_;
    runtime_report found_;
    static constexpr unsigned char in_order = 2;
    // By the numbers of the contexts. 0: not seen; 1: added; in_order: ready, in the runtime's
    // order.
    std::vector<unsigned char> seen_;
    std::uint64_t next_id_ = 0;
    std::size_t room_ = 0;
    result result_ = result::again;
};

} // namespace sennit::sched
