// SPDX-License-Identifier: Apache-2.0
// What a fiber is to the engine: a runnable with an identity, that somebody may wait for, and that
// frees itself or is freed by whoever holds it.
//
// Who uses it: `fiber`, `spawn`, `nursery`. A fiber takes no stack until it blocks: it runs on the
// stack of the worker that picks it, and that stack becomes its own when it suspends.
//
// State word: running (0: from creation on); watched: somebody waits in `joiners`; ended; detached:
// nobody holds it. Protocol. Running to ended, watched or detached by compare-and-swap. Who ends
// while watched takes the lock, says ended, claims the joiner and frees the lock as the last
// access; a joiner that gives up (its deadline) takes the lock, too, so it either withdraws or sees
// the end. Nobody else may use the handle meanwhile.
#pragma once

#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/scheduling.hpp"

#include <array>
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

// What the fibers of one closure's type have in common.
struct fiber_type {
    void (*body)(fiber_block&) noexcept;    // runs the closure and keeps its result or exception
    void (*destroy)(fiber_block*) noexcept; // frees the block
    const std::type_info* closure;          // for reports
    const std::type_info* result = nullptr; // what kind it has; for the holder
};

// Of a fiber that may go on in another runtime: src/fibers/runtime/fiber_migration.cpp.
struct migration_state {
    coroutine_stack* stack;       // its body stands there; null once that has returned
    runtime_core* next = nullptr; // where it wants to go on; told by the body to the code below it
    bool begun = false;
    base::spin_lock lock; // guards the runtime, once it is launched
};

// What most fibers do without.
struct fiber_cold_state {
    std::array<char, 24> name{}; // stays the first: tools/gdb/sennit.py
    std::shared_ptr<fiber_properties> properties;
    context* stack = nullptr;    // where it shall begin: one with a larger stack than usual
    context* location = nullptr; // where it runs, where there is an order; under that one's lock
    migration_state* migration =
        nullptr; // null: it stays in its runtime. As it was at the launch until the end
};

class fiber_block : public runnable {
    bool stop_wanted_ = false; // before there was a source; here it takes no room

public:
    enum class start : std::uint8_t { enqueue, now };

    // `made_at`: the code that makes it, see detail/sys/here.hpp; null: not known.
    fiber_block(runtime_core& runtime, const fiber_type& type, const void* made_at) noexcept
        : runnable(&fiber_block::run_queued), runtime_(&runtime), type_(type), made_at_(made_at) {
        self_.fiber = this;
    }
    fiber_block(const fiber_block&) = delete;

    // Before launch; each may throw std::bad_alloc, and the block is as it was then.
    void set_name(std::string_view name); // cut to 23 characters
    void set_properties(std::shared_ptr<fiber_properties> properties);
    void
    need_stack(std::size_t size); // bytes, at least. Throws std::invalid_argument beyond the limit
    void pin_to(std::uint16_t where) noexcept { affinity = where; } // see runnable::home
    // It may change its runtime: its body runs on a side stack of `size` bytes; 0: as many as
    // usual. Call it last, and not for one that is pinned or needs a stack. Throws
    // std::invalid_argument beyond the limit.
    void make_migratable(std::size_t size);

    // Makes it ready. `now`: on a worker of its runtime it runs at once, and the caller goes on
    // later.
    void launch(start how) noexcept;

    // Before launch: nobody will join it; it frees itself.
    void detach_unstarted() noexcept { state_.store_rlx(detached_state); } // not shared yet

    // Blocks until it has ended; false when the wait ended before (deadline, cancelled scope). A
    // fiber that nobody has started yet may run inside, on the caller's stack. One caller at a
    // time, not the fiber itself.
    wake_reason join(const wait_options& options) noexcept;
    void join() noexcept; // however long it takes; not ended by a cancelled scope
    bool ended() const noexcept { return state_.load_acq() == ended_state; } // pairs with end

    // The holder gives it up: frees it if it has ended, else it frees itself.
    void let_go() noexcept;
    // The holder frees it; it has ended.
    void dispose() noexcept { type_.destroy(this); }
    // Ends the program: nobody will hear of its error, since it `was` detached, for one.
    [[noreturn]] void fail_unheard(const char* was) noexcept;

    // Goes on in `there`, on a worker of which it returns. By the running fiber, if nothing speaks
    // against it.
    void migrate_to(runtime_core& there) noexcept;
    // Null: the running fiber, `who`, which may be none, may do that now. Else what to tell its
    // author.
    static const char* why_not_migrate(const fiber_block* who, const runtime_core& there) noexcept;
    bool has_stack(const coroutine_stack& one) const noexcept {
        return cold_ && cold_->migration && cold_->migration->stack == &one;
    }

    std::uint64_t id() noexcept;
    runtime_core& runtime() const noexcept {
        return *runtime_;
    } // for its maker before launch, and for itself
    const std::type_info& result_type() const noexcept { return *type_.result; }
    strand& self() noexcept { return self_; }
    static fiber_block* current() noexcept { // null: the caller is no fiber
        const strand* me = current_strand();
        return me ? static_cast<fiber_block*>(me->fiber) : nullptr;
    }

    const char* name() const noexcept { return cold_ ? cold_->name.data() : ""; }

    // Null: it was given none. For what only the scheduler's lock guards: see change_properties.
    const fiber_properties* properties() const noexcept {
        return cold_ ? cold_->properties.get() : nullptr;
    }
    fiber_properties* properties() noexcept { return cold_ ? cold_->properties.get() : nullptr; }
    // Calls `change(argument)` under the lock of the scheduler's order, and gives the fiber its new
    // place there.
    void change_properties(void (*change)(void*), void* argument);
    // Calls `look(properties, argument)` under that lock, if there are any.
    void look_at_properties(void (*look)(const fiber_properties&, void*) noexcept,
                            void* argument) noexcept;

    static void run_queued(runnable* self) noexcept;

    // The first call allocates and may throw std::bad_alloc.
    std::stop_source& stop_source();
    bool request_stop() noexcept; // true: nobody had before
    // Of one that has ended, for its holder: somebody has asked for its source; a stop was
    // requested before.
    bool has_stop_state() const noexcept { return stop_.stop_possible(); }
    bool stop_wanted() const noexcept { return stop_wanted_; }

    // What this_fiber::get_stop_token() gives, if not of stop_source().
    std::stop_token (*other_token)(fiber_block&) = nullptr;

    std::exception_ptr error; // what left the closure; for the holder once it has ended

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
    bool run_for_joiner(worker& me, bool needs_more) noexcept;
    // `patient`: neither a deadline nor a scope ends the wait.
    wake_reason wait_for_end(const wait_options& options, bool patient) noexcept;

    static constexpr std::uint32_t running_state = 0, watched_state = 1, ended_state = 2,
                                   detached_state = 3;

    // In this order nothing is left between them.
    runtime_core* runtime_; // a movable one's changes: src/fibers/runtime/fiber_migration.cpp says
                            // who may read it
    strand self_;
    const fiber_type& type_;
    const void* const made_at_;
    std::int64_t born_ns_; // about when it was launched; nobody asks before
    base::atomic<std::uint32_t> state_{running_state};
    base::spin_lock lock_; // guards `joiners_`, and `stop_` while it is made
    wait_list joiners_;
    std::stop_source stop_{std::nostopstate};
    fiber_cold_state* cold_ = nullptr;
};
static_assert(sizeof(void*) != 8 || sizeof(fiber_block) == 176);

} // namespace sennit::sched
