// SPDX-License-Identifier: Apache-2.0
// A task strand: the schedulable unit of C++20 coroutines. It is one chain of tasks that await each
// other, of which the innermost is suspended or runs.
//
// A task that awaits a task is a call: the child belongs to the caller's strand, so a frame holds
// neither an identity nor a queue node. The strand has them once: a runnable for the queues, an
// identity (strand) for locks and locals, and one place in a waiter list, because a chain waits for
// one event at a time.
//
// State, and the code that may touch it:
//
//   field            written by                               read by
//   own.innermost    the await, before it publishes the wait  the worker that resumes the strand
//   point, entry     the await, before it publishes the wait  the source, under its lock
//   limits           the await, before it publishes the wait  the strand after its wait; reports
//   origin           the code that makes the strand; the      the strand; reports; the timers while
//                      strand, at its first wait with a         armed
//                      deadline; set_name
//   own              the strand                               reports
//   listed           the strand, at its first wait            the strand, at its end
//   what, on,        the await, before it publishes the wait  reports
//     holder,
//     suspended_at
//   reported         reports, while no worker runs            reports
//
// A million tasks wait at a time, so each byte counts. A strand keeps no wait_options: a deadline
// lies with the timer, a function that finds the holder is a number, and the scope of a wait is the
// strand's. docs/internals/decisions/0081 has the list, and tests/unit/task/size_test.cpp the
// sizes.
//
// Protocol of a wait. A1: await_suspend stores the handle in `own.innermost`. A2: it enters the
// source's list, under the source's lock. A3: it releases that lock. From A3 on, another worker may
// resume the strand, end it, and free its memory, so the awaiting thread touches neither the strand
// nor the coroutine's frame after A3. A wait that a deadline or a cancelled scope may end, too, has
// one more step, A4: a compare-and-swap of the point's state from preparing to waiting. Until A4 a
// claimer wakes nothing, so the memory lives. If the step fails, the wait has ended already, and
// the strand continues without a detour through a queue.
//
// Waking never resumes a coroutine inside the waker: `wake` makes the strand ready, and a worker's
// loop resumes it from `run_ready`. So the depth of a stack does not depend on chains of wake-ups.
//
// A blocking call is legal inside a task. It blocks the context that runs the strand; that context
// keeps the stack until the call returns.
//
// Tested by tests/unit/task and by tests/sim/scenarios/task.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/sanitizers.hpp"
#include "sennit/detail/core/report_name.hpp"
#include "sennit/detail/core/resumable.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/timer.hpp"
#include "sennit/detail/core/wait.hpp"

#include <coroutine>
#include <cstdint>
#include <memory>
#include <string_view>

namespace sennit::sched {

struct fork_slot; // sennit/detail/core/fork_stack.hpp

// The timer of a strand's waits.
struct task_limit : timer {
    wait_point* point = nullptr;
};

// The state that most strands do not need. Made at the first wait with a deadline, or for a name.
struct task_cold_state {
    explicit task_cold_state(const void* at) noexcept : made_at(at) {}
    task_limit limit;
    std::int64_t deadline_ns = never; // Of the wait itself; the limit may be that of its scope.
    report_name name{};
    const void* const made_at;
};

// The address of the code that made the strand, or of the cold state, which then has the first one.
// A snapshot may suspend the strand's thread between any two instructions, so it is one word.
class task_origin {
public:
    explicit task_origin(const void* made_at) noexcept
        : word_(reinterpret_cast<std::uintptr_t>(made_at) << 1 | 1) {}
    task_origin(const task_origin&) = delete;
    ~task_origin() {
        if (is_cold()) [[unlikely]]
            delete cold();
    }

    task_cold_state* cold() const noexcept { // Null: there is none.
        // SAFETY: make_cold has stored the address.
        return is_cold() ? reinterpret_cast<task_cold_state*>(word_) : nullptr;
    }
    const void* made_at() const noexcept {
        // SAFETY: the constructor has stored the address.
        return is_cold() ? cold()->made_at : reinterpret_cast<const void*>(word_ >> 1);
    }
    // Throws std::bad_alloc.
    task_cold_state& make_cold() {
        if (!is_cold()) word_ = reinterpret_cast<std::uintptr_t>(new task_cold_state(made_at()));
        return *cold();
    }

private:
    bool is_cold() const noexcept { return (word_ & 1) == 0; }
    // The address of the cold state, where leak checkers find it; or twice that of the code,
    // plus 1. For debuggers, too.
    std::uintptr_t word_;
};

// The strand's own wait point. The notes of the strand's wait lie in padding of the point.
struct task_point : wait_point {
    task_point() noexcept : wait_point(true) {}

    // Of a wait that more than its source may end; 0: there is none.
    static constexpr std::uint8_t limited = 1, in_scope = 2;
    std::uint8_t limits;
    std::uint8_t holder;      // The number of the function that finds the holder; 0: none.
    bool reported = false;    // Only a snapshot accesses it.
    std::uint32_t listed = 0; // See task_table; 0: the strand has not waited yet.

    // The clock of the worker on which the strand was suspended, in units of 2^20 ns. It lies in
    // the word for a thread's wake-up, which a task does not need.
    void note_time(std::uint32_t now) noexcept { std::construct_at(&signal, now); }
    std::uint32_t suspended_at() const noexcept { return signal.load_rlx(); } // Orders nothing.
};
static_assert(sizeof(task_point) == sizeof(wait_point));

// A coroutine frame without a coroutine. A coroutine may continue it like another coroutine, by a
// call of `resume`: every C++ ABI of g++ and clang puts that function first. Nothing destroys it.
struct plain_frame {
    void (*resume)(void* frame);

    std::coroutine_handle<> handle() noexcept {
        return std::coroutine_handle<>::from_address(this);
    }
};

class task_strand;

// One activation of a strand on a stack. Lives in the frame of the function that resumes the
// coroutine.
struct task_run {
    task_strand* strand;
    // A coroutine to continue in place of a transfer: see task_transfer.hpp.
    std::coroutine_handle<> next;
    task_run* outer;
    sched::strand* below; // The strand that continues on this stack after the activation.
    fork_slot* base;      // The context's free slot at the beginning.
    bool at_loop;         // True if nothing but the worker's loop waits for the activation.
    // The identity of `strand`, for reports. Both may be gone once the strand has suspended or
    // ended, so a report only compares the addresses.
    const sched::strand* identity = nullptr;
};

// A class that derives from it is aligned to 16 bytes, or made in memory that is, and begins with
// it.
class task_strand : public resumable, private plain_frame {
public:
    // `at_end` is calls_at_end<f>. `made_at`: the address of the code that starts the task
    // (detail/core/here.hpp), for reports; null: unknown.
    task_strand(runtime_core& where, void (*at_end)(void* frame),
                const void* made_at = nullptr) noexcept;
    ~task_strand() = default;
    task_strand(const task_strand&) = delete;

    // The continuation of the outermost task.
    std::coroutine_handle<> end() noexcept { return handle(); }
    // Makes the strand ready for the first time. `outermost` is suspended at its start.
    void start(std::coroutine_handle<> outermost) noexcept;
    // Runs the strand on the calling context until it suspends or ends. Before start.
    void run_here(std::coroutine_handle<> outermost) noexcept;
    // The name in reports, cut to 23 characters. Before start. Throws std::bad_alloc.
    void set_name(std::string_view name);
    // The strand uses the identity of the caller, which does nothing else until the strand has
    // ended. Before start.
    void lend(strand& identity) noexcept { saved_strand = &identity; }
    strand& identity() noexcept { return *saved_strand; }

    static void run_ready(runnable* self) noexcept;

protected:
    // `Ended` is called once, when the outermost task has ended and has destroyed its frame. It may
    // free the strand.
    template <void (*Ended)(task_strand&) noexcept>
    static void calls_at_end(void* frame) {
        task_strand& self = of_frame(frame);
        self.end_identity();
        Ended(self);
    }

    // For a strand whose first step is a function of its own, which calls `end_by` and continues
    // the outermost task. Before start: another thread may make the strand ready, by `spawn` of
    // verbs.hpp.
    void begin_by(void (*first)(void* frame)) noexcept {
        resume = first;
        suspend_at(end());
    }
    void end_by(void (*at_end)(void* frame)) noexcept { resume = at_end; }
    static task_strand& of_frame(void* frame) noexcept {
        return static_cast<task_strand&>(*static_cast<plain_frame*>(frame));
    }

private:
    friend class task_wait;
    friend class activation;
    friend class snapshot;
    friend struct wait_details details_of(wait_record) noexcept;
    void end_identity() noexcept {
        if (saved_strand == &own_) destroy_locals(own_);
        if (point_.listed != 0) unlist();
    }
    const char* name() const noexcept {
        const task_cold_state* cold = origin_.cold();
        return cold ? cold->name.data() : "";
    }
    [[gnu::noinline]] void list() noexcept;
    void unlist() noexcept;
    void suspend_at(std::coroutine_handle<> innermost) noexcept {
        own_.innermost = innermost.address();
    }
    std::coroutine_handle<> innermost() const noexcept {
        return std::coroutine_handle<>::from_address(own_.innermost);
    }
    // Before each run on the stack of `here`. `innermost` has been read.
    void begin_on(const task_run& here) noexcept {
        // A strand with an identity of its own runs on top of the code below. Reports read it.
        if (saved_strand == &own_) own_.outer = here.below;
    }

    // Before a wait. The entry is in no list, and stays as it is.
    [[gnu::always_inline]] void renew_point(bool sole) noexcept {
        std::construct_at(&point_.state, static_cast<std::uint32_t>(wake_reason::preparing));
        point_.sole = sole;
    }

    task_point point_;
    wait_entry entry_{point_};
    const char* what_; // As in wait_options, like the next.
    const void* on_;
    task_origin origin_;
    strand own_;
};

// The waits of the running strand. The functions that suspend are called from await_suspend, as
// their last action, and return the coroutine that continues: `at` if the wait has ended already,
// otherwise that of another strand, or one that returns to the code that resumed the strand. The
// other functions are called from await_resume, once, after await_suspend has returned either way.
class task_wait {
public:
    // Must precede the first wait with a deadline, or in a scope with one. Throws std::bad_alloc.
    static void reserve_limit(std::int64_t deadline_ns);

    // Puts the strand into `list`, whose lock is held, and releases that lock. Throws
    // std::bad_alloc, with the lock released, if there is no memory for the timer of a deadline.
    static std::coroutine_handle<> block(std::coroutine_handle<> at, wait_list& list,
                                         base::spin_lock& held, const wait_options& options,
                                         void* data = nullptr);
    // Ends a wait in `list`. Returns the reason for which it ended.
    static wake_reason unblock(wait_list& list, base::spin_lock& lock) noexcept;

    // For a wait with entries of its own, or with none. `publish(argument)` makes `point` visible
    // to its sources; null: it is visible, or nothing but the options ends the wait. Requires
    // reserve_limit.
    static std::coroutine_handle<> begin(std::coroutine_handle<> at, wait_point& point,
                                         void (*publish)(void*) noexcept, void* argument,
                                         const wait_options& options) noexcept;
    static wake_reason end(wait_point& point) noexcept;
    static wake_reason end() noexcept; // With the strand's point.
    // For a wait that one event ends, which the caller publishes itself afterwards, as its last
    // action: returns the point that the event must wake.
    static wait_point& begin_counted(std::coroutine_handle<> at,
                                     const wait_options& options) noexcept;
    // True if only its source ends a wait with these options: no deadline, no scope.
    static bool only_by_source(const wait_options& options) noexcept;
    // The entry that `block` has put into the list. For a source that removes it itself, with `end`
    // in place of `unblock`.
    static wait_entry& entry() noexcept;
    // The point of the running strand, made new.
    static wait_point& fresh_point(bool sole) noexcept;

    // Runs `child` on the caller's stack until it suspends or ends, if it has not begun and is the
    // newest new task of this worker, and no other task is due. Does nothing otherwise, or where
    // the stack has little room, or if a scope may end the caller's wait.
    static void run_if_newest(task_strand& child) noexcept;
    // Lets other ready tasks run first. Returns the coroutine that continues: `at` if there are no
    // others, or that of the next task.
    static std::coroutine_handle<> yield(std::coroutine_handle<> at) noexcept;

private:
    static wake_reason end_of(task_strand& self, wait_point& point) noexcept;
    static wake_reason end_limited(task_strand& self, wait_point& point) noexcept;
    static std::coroutine_handle<> leave(task_run& run) noexcept;
    static void note(task_strand& self, std::coroutine_handle<> at,
                     const wait_options& options) noexcept;
    static bool begin_limited(task_strand& self, wait_point& point, void (*publish)(void*) noexcept,
                              void* argument, cancel_scope* scope, std::int64_t deadline_ns,
                              const wait_options& options) noexcept;
};

} // namespace sennit::sched
