// SPDX-License-Identifier: Apache-2.0
// The engine's part of a fiber: a runnable with an identity, which another strand may join. It
// frees itself, or its holder frees it.
//
// Used by `fiber`, `spawn` and `nursery`. A fiber takes no stack until it blocks. It runs on the
// stack of the worker that picks it, and that stack becomes the fiber's own when the fiber
// suspends.
//
// State word: running (0, from creation); watched: a joiner waits in `joiners_`; ended; detached:
// there is no holder.
//
// Protocol. The word changes from running to ended, watched or detached by compare-and-swap. A
// fiber that ends in state watched takes the lock, stores ended, claims the joiner, and releases
// the lock as its last access. A joiner that gives up (its deadline) also takes the lock, so it
// either withdraws or sees the end. No other thread may use the handle meanwhile.
#pragma once

#include "sennit/detail/core/report_name.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/scheduling.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <typeinfo>

namespace sennit::sched {

class context;
class runtime_core;
class coroutine_stack;
class worker;

class fiber_block;

// The operations and types that all fibers of one closure type share.
struct fiber_type {
    void (*body)(fiber_block&) noexcept;    // runs the closure and keeps its result or exception
    void (*destroy)(fiber_block*) noexcept; // frees the block
    const std::type_info* closure;          // for reports
    // The type of the result, for the holder.
    const std::type_info* result = nullptr;
};

// The state of a fiber that may continue in another runtime:
// src/fibers/runtime/fiber_migration.cpp.
struct migration_state {
    // The stack on which the fiber's body runs; null once the body has returned.
    coroutine_stack* stack;
    // The runtime that the body asks to continue in. The code that entered the body reads it.
    runtime_core* next = nullptr;
    bool begun = false;
    // Guards the fiber's runtime_ once the fiber is launched.
    base::spin_lock lock;
};

// The state that most fibers do not need.
struct fiber_cold_state {
    report_name name{}; // first member: tools/gdb/sennit.py relies on it
    std::shared_ptr<fiber_properties> properties;
    // The context on which the fiber begins, if its stack is larger than usual.
    context* stack = nullptr;
    // The context on which the fiber runs, under a scheduling order. Guarded by the order's lock.
    context* location = nullptr;
    // Null if the fiber stays in its runtime. Does not change between launch and end.
    migration_state* migration = nullptr;
};

class fiber_block : public runnable {
    // A stop was requested before stop_ had a state. The member is here because it fills padding.
    bool stop_wanted_ = false;

public:
    enum class start : std::uint8_t { enqueue, now, in_order };

    // `made_at`: the address of the code that creates the fiber (detail/sys/here.hpp); null:
    // unknown.
    fiber_block(runtime_core& runtime, const fiber_type& type, const void* made_at) noexcept
        : runnable(&fiber_block::run_queued), runtime_(&runtime), type_(type), made_at_(made_at) {
        self_.fiber = this;
    }
    fiber_block(const fiber_block&) = delete;

    // The next four are for use before launch. Each may throw std::bad_alloc, which leaves the
    // block unchanged.
    void set_name(std::string_view name); // cut to 23 characters
    void set_properties(std::shared_ptr<fiber_properties> properties);
    // Requires a stack of at least `size` bytes. Throws std::invalid_argument beyond the limit.
    void need_stack(std::size_t size);
    void pin_to(std::uint16_t where) noexcept { affinity = where; } // see runnable::affinity
    // Lets the fiber change its runtime: its body runs on a coroutine stack of `size` bytes; 0: the
    // usual size. Call it last, and not for a fiber that is pinned or that needs a stack. Throws
    // std::invalid_argument beyond the limit.
    void make_migratable(std::size_t size);

    // Makes the fiber ready. With `now`, on a worker of the fiber's runtime, the fiber runs
    // immediately and the caller continues later.
    void launch(start how) noexcept;

    // Before launch: gives up the fiber's join. The fiber frees itself.
    // Not shared yet.
    void detach_unstarted() noexcept { state_.store_rlx(detached_state); }

    // Blocks until the fiber has ended; false if the wait ended earlier (deadline, cancelled
    // scope). A fiber that has not started yet may run inside this call, on the caller's stack.
    // Only one caller at a time, and not the fiber itself.
    wake_reason join(const wait_options& options) noexcept;
    // Blocks until the fiber has ended. A cancelled scope does not end the wait.
    void join() noexcept;
    // The join of a task: see list_awaiter.hpp. Only one joiner at a time.
    struct awaited_end {
        fiber_block* self;
        bool ready_or_lock() noexcept;
        std::coroutine_handle<> suspend(std::coroutine_handle<> at, std::int64_t deadline_ns);
        bool end_suspension() noexcept;
    };
    // Pairs with end.
    bool ended() const noexcept { return state_.load_acq() == ended_state; }

    // The holder gives the fiber up. An ended fiber is freed here; a running fiber frees itself.
    void let_go() noexcept;
    // The holder frees the fiber, which has ended.
    void dispose() noexcept { type_.destroy(this); }
    // Ends the program, because no joiner will receive the fiber's error. `was` says why, for
    // example that the fiber was detached.
    [[noreturn]] void fail_unheard(const char* was) noexcept;

    // Continues in runtime `there`: returns on a worker of it. The running fiber calls it, after
    // why_not_migrate() has returned null.
    void migrate_to(runtime_core& there) noexcept;
    // Returns null if the running fiber `who` may migrate now; `who` may be null. Otherwise returns
    // the message for the program's author.
    static const char* why_not_migrate(const fiber_block* who, const runtime_core& there) noexcept;
    bool has_stack(const coroutine_stack& one) const noexcept {
        return cold_ && cold_->migration && cold_->migration->stack == &one;
    }

    std::uint64_t id() noexcept;
    // For the creator of the fiber before launch, and for the fiber itself.
    runtime_core& runtime() const noexcept { return *runtime_; }
    const std::type_info& result_type() const noexcept { return *type_.result; }
    strand& self() noexcept { return self_; }
    static fiber_block* current() noexcept { // null: the caller is not a fiber
        const strand* me = current_strand();
        return me ? static_cast<fiber_block*>(me->fiber) : nullptr;
    }

    const char* name() const noexcept { return cold_ ? cold_->name.data() : ""; }
    const void* made_at() const noexcept { return made_at_; } // null: unknown

    // Null if the fiber has none. Not for the data that the order's lock guards: see
    // change_properties.
    const fiber_properties* properties() const noexcept {
        return cold_ ? cold_->properties.get() : nullptr;
    }
    fiber_properties* properties() noexcept { return cold_ ? cold_->properties.get() : nullptr; }
    // Calls `change(argument)` under the lock of the scheduling order, and moves the fiber to its
    // new place there.
    void change_properties(void (*change)(void*), void* argument);
    // Calls `look(properties, argument)` under the order's lock, if the fiber has properties.
    void look_at_properties(void (*look)(const fiber_properties&, void*) noexcept,
                            void* argument) noexcept;

    static void run_queued(runnable* self) noexcept;

    // The first call allocates and may throw std::bad_alloc.
    std::stop_source& stop_source();
    bool request_stop() noexcept; // true: no stop was requested before
    // The next two are for the holder of an ended fiber. The first: a stop source was requested.
    // The second: a stop was requested before there was a source.
    bool has_stop_state() const noexcept { return stop_.stop_possible(); }
    bool stop_wanted() const noexcept { return stop_wanted_; }

    // If not null, this_fiber::get_stop_token() returns its result instead of a token of
    // stop_source().
    std::stop_token (*other_token)(fiber_block&) = nullptr;

    // The exception that left the closure. The holder reads it once the fiber has ended.
    std::exception_ptr error;

protected:
    ~fiber_block() {
        if (cold_) [[unlikely]]
            drop_cold_state();
    }

private:
    friend class snapshot;
    static const void* holder(const void* on) noexcept; // for reports
    fiber_cold_state& cold_state();
    void have_properties() noexcept;
    void drop_cold_state() noexcept;
    void run_here() noexcept;
    void run_here_traced() noexcept;
    void run_body() noexcept;
    void run_bound() noexcept;
    bool put_back() noexcept;
    bool migratable() const noexcept { return cold_ && cold_->migration; }
    void run_migratable() noexcept;
    void post_to(runtime_core& there) noexcept;
    void drop_migration() noexcept;
    void set_location(context* location) noexcept;
    std::unique_lock<base::spin_lock> pin_during_change() noexcept;
    void end() noexcept;
    bool run_if_newest() noexcept;
    bool run_if_newest_with_cold_state() noexcept;
    bool take_if_newest(worker* me) noexcept;
    bool ended_or_lock() noexcept;
    bool run_for_joiner(worker& me, bool needs_more) noexcept;
    // `patient`: neither a deadline nor a scope ends the wait.
    wake_reason wait_for_end(const wait_options& options, bool patient) noexcept;

    static constexpr std::uint32_t running_state = 0, watched_state = 1, ended_state = 2,
                                   detached_state = 3;

    // In this order the members have no padding between them.
    // The runtime of a migratable fiber changes: src/fibers/runtime/fiber_migration.cpp says which
    // code may read it.
    runtime_core* runtime_;
    alignas(16) strand self_;
    const fiber_type& type_;
    const void* const made_at_;
    // The approximate time of the launch. Not read before the launch.
    std::int64_t born_ns_;
    base::atomic<std::uint32_t> state_{running_state};
    base::spin_lock lock_; // guards `joiners_`, and `stop_` while it is made
    wait_list joiners_;
    std::stop_source stop_{std::nostopstate};
    fiber_cold_state* cold_ = nullptr;
};
static_assert(sizeof(void*) != 8 || sizeof(fiber_block) == 176);

} // namespace sennit::sched
