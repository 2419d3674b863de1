// SPDX-License-Identifier: Apache-2.0
// The record of one open descriptor: which strands wait for it, and how often it has become ready.
//
// Which threads run this: any thread that uses the descriptor, and the worker that delivers an
// event. Records are never freed: an event may come after its descriptor was closed.
//
// State, and the code that may touch it:
//
//   field           written by                        read by                       guarded by
//   state_          users, `close`, `release`         the same                      atomic
//   tick            the worker that delivers          users, before a call          the lock; users
//                                                                                    read it freely
//   drained         the user of the direction         the same                      atomic
//   waiters, hook_  waiters, the delivering worker    the same                      the lock
//   poller_, armed_ waiters, `close`, `detach`        the same                      the lock
//   generation_     `close`                           the delivering worker         the lock
//   limit_timer_    waiters, `close`, its own timer   the same                      the lock
//
// Protocol of a call that may have to wait:
//
//   U1. Begin a use (`begin_use`): from here on the descriptor's number stays with this record.
//   U2. Read the direction's tick.
//   U3. Make the system call. If it does not say "would block", the call is done: U7.
//   U4. If the direction is not armed, add it to the poller's set, under the lock. The set reports
//       the direction at once if it is ready now.
//   U5. Take the lock. If the tick differs from U2: release the lock, and continue at U2.
//   U6. Enter the list of waiters; release the lock; sleep. After an event: continue at U2.
//   U7. If the event that woke this call left further waiters: wake the next one. End the use.
//
// The worker that delivers an event: D1. Take the lock. D2. If the generation differs: ignore the
// event. D3. Advance the tick. D4. Claim the first waiter, or all of them for a hang-up or an
// error, and release the lock. D5. Wake them.
//
// No event is lost. Take an event for which the call of U3 came too early. If D3 precedes U5, then
// U5 sees another tick than U2, because U2 preceded U3. If D3 follows U6, then D4 finds the waiter.
// The set reports the event in both cases of U4. If the direction was armed before the change, the
// set reports the change. If U4 arms it later, the set reports the present state.
//
// A hook takes the place of a strand that waits (`set_hook`): U5 and U6 without a sleep. The thread
// that takes the hook out of the record, under the lock, is the only one that calls it. D4 takes
// the hook of the read direction besides the first waiter: each of the two makes its call again.
//
// One waiter is enough (D4). A strand that has been woken makes its call again. If the call finds
// data, U7 wakes the next waiter, because there may be more. If it finds nothing, a later change is
// a new event. D4 does not claim a wait that a deadline or a cancelled scope has ended, so such a
// wait takes no event away.
//
// A limit costs a wait no timer operation. The wait stores its deadline in its entry (event_wait).
// The record has one timer, which U6 arms only if it is not armed, or would come too late. The end
// of a wait leaves the timer alone. When the timer expires, `expire_limit` takes the lock, ends the
// waits whose deadlines have come, and arms the timer for the earliest deadline that is left. So no
// wait ends early, and none ends later than by a timer of its own. A timer that finds no wait costs
// one wake-up at most within each limit. Tried and rejected: a timer for each wait, which cost 37
// ns besides the clock; and stamps from a clock that lags, which may be early.
//
// `is_armed` is true until the timer is disarmed, or has taken the lock: no other thread arms it
// meanwhile. A timer that `close` could not disarm in time may look at the record's next life,
// where it finds the waits and deadlines of that life.
//
// A number is never reused too early. The system closes the number when no use is under way
// (`end_use`), and `close` wakes all waiters. So no call of U3 meets another file under the number.
//
// Tested by tests/sim/scenarios/io_record.cpp, tests/sim/scenarios/io_select.cpp and
// tests/unit/io.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/core/event_hook.hpp"
#include "sennit/detail/core/timer.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <coroutine>
#include <cstdint>
#include <system_error>

namespace sennit::sched {

class io_poller;
class runtime_core;

enum class io_direction : std::uint8_t { read, write };

// How a wait for a descriptor has ended.
enum class io_wake : std::uint8_t {
    ready,          // The call may succeed now.
    ready_and_more, // So it may for a further waiter, which the caller must wake: pass_on.
    canceled,       // `cancel` was called.
    closed,
    timed_out,
    scope_canceled, // A nursery or with_timeout around the call was cancelled.
    refused,        // The system does not watch the descriptor: see `error`.
};

// The runtime whose workers wait for a descriptor that a thread uses that is no worker. Defined by
// the model, which knows the default runtime. Throws its exceptions.
runtime_core& io_runtime_outside();

class alignas(base::destructive_distance) io_record {
public:
    // A record for `descriptor`, which it closes if it is `owned`. Throws std::bad_alloc.
    static io_record& make(int descriptor, bool owned, bool socket = false);
    // The record that `tag` names, possibly for another descriptor by now; null: none.
    static io_record* find(std::uint64_t tag) noexcept;
    // The number of pieces of memory that the records of this process occupy.
    static std::uint32_t chunks() noexcept;
    // Calls `with(record)` for each record that was ever made.
    template <class F>
    static void for_each(F&& with);

    // Begins a use. Returns false if the descriptor is closed; no use has begun then.
    bool begin_use() noexcept;
    void end_use() noexcept;
    // During a use, and for the owner of a handle.
    int descriptor() const noexcept { return descriptor_.load(); }

    bool is_socket() const noexcept { return socket_; }
    bool is_open() const noexcept { return (state_.load() & closed_bit) == 0; }
    // Any thread. Ends all waits with `canceled`; later waits begin as usual.
    void cancel() noexcept;
    // Any thread. Ends all waits with `closed`, and closes the descriptor when no use is under way.
    // Later calls do nothing.
    void close() noexcept;
    // Closes without closing the descriptor itself, and returns its number. Requires that no use is
    // under way or begins.
    int give_up_descriptor() noexcept;
    // The handle ends: closes, and frees the record when no use is under way.
    void release() noexcept;

    // U2.
    std::uint32_t tick(io_direction of) const noexcept { return side(of).tick.load(); }
    // A short read from a stream socket has emptied it, since the tick `seen`. `known_drained` is
    // true until the next event. Never true once a hang-up was seen, because that event may have
    // come together with the data.
    void note_drained(std::uint32_t seen) noexcept;
    bool known_drained(std::uint32_t seen) const noexcept {
        return drained_.load_rlx() == seen + 1; // A hint; the tick of the same thread decides.
    }
    // The number of `cancel` when a call began to wait for the first time; `not_yet`: the call has
    // not waited. A call that was woken without result, and waits again, finds a later `cancel`.
    static constexpr std::int64_t not_yet = -1;
    // U4 to U6. `seen` is the tick of U2, `waits_since` belongs to the call. Throws the exceptions
    // of io_poller::here. `error` is set for `refused`.
    struct request {
        io_direction direction;
        std::uint32_t seen;
        std::int64_t& waits_since;
        std::int64_t deadline_ns = never;
        const char* what = "input or output"; // For reports.
    };
    io_wake wait(const request& how, std::error_code& error);
    // A task waits in two halves. `begin_wait` is the last action of an await_suspend, and returns
    // the coroutine that continues: `at` if the task need not wait. `end_wait` follows in
    // await_resume in both cases.
    struct pending {
        request how;
        std::error_code error;
        event_wait wait{};
        bool blocked = false;
    };
    std::coroutine_handle<> begin_wait(std::coroutine_handle<> at, pending& one);
    io_wake end_wait(pending& one) noexcept;
    // A select makes the steps with an entry of its own, whose data is an io_wake. `prepare_entry`
    // is U4; it returns false if the system does not watch the descriptor. `enter` is U5 and U6,
    // and returns false, without having entered, if the wait has ended already.
    bool prepare_entry(io_direction of, std::error_code& error);
    bool enter(io_direction of, std::uint32_t seen, std::int64_t& waits_since,
               wait_entry& entry) noexcept;
    void leave(io_direction of, wait_entry& entry) noexcept;
    // U5 and U6 for the read direction, after prepare_entry: the next event, or the end of the
    // wait, calls `hook`. Returns false if the call must be made again, or the record is closed.
    // Requires that no other hook is set. The caller need not be within a use.
    bool set_hook(event_hook& hook, std::uint32_t seen) noexcept;
    // Takes the hook back, which is not called then. Returns false if another thread has taken it.
    bool take_hook() noexcept;
    // An event that the program causes, for a direction of which the system knows none: the calls
    // that wait are made again (D3 and D4).
    void signal(io_direction of) noexcept;
    // U7, after ready_and_more.
    void pass_on(io_direction of) noexcept;

    // D1 to D4. `what` has the bits of sys::event_set. Returns the hook that the caller must call
    // with io_wake::ready, if any.
    [[nodiscard]] event_hook* deliver(std::uint64_t tag, std::uint32_t what,
                                      wake_ups& woken) noexcept;
    // The runtime of `from` ends. Its waiters make their calls again.
    void detach(const io_poller& from) noexcept;
    // True if a strand waits, by the poller `at`.
    bool awaited(const io_poller& at) noexcept;

    // The limit of each wait in ns; `never`: none. Any thread.
    std::int64_t limit_ns() const noexcept { return limit_ns_.load(); }
    void set_limit_ns(std::int64_t limit) noexcept { limit_ns_.store(limit); }
    // Counts a call that succeeded without a wait, and returns the number of such calls.
    std::uint32_t count_immediate(io_direction of) noexcept;
    // Of such calls, one in this number lets other strands run.
    static constexpr std::uint32_t calls_to_a_turn = 32;

private:
    friend class io_record_table;
    struct one_side {
        base::atomic<std::uint32_t> tick{0};
        base::atomic<std::uint32_t> immediate{0}; // Calls in a row that did not wait.
        wait_list waiters;
    };
    one_side& side(io_direction of) noexcept { return sides_[static_cast<unsigned>(of)]; }
    const one_side& side(io_direction of) const noexcept {
        return sides_[static_cast<unsigned>(of)];
    }
    static constexpr std::uint32_t closed_bit = 1u << 31, released_bit = 1u << 30,
                                   ended_bit = 1u << 29, users = ended_bit - 1;

    // The timer of the limits.
    struct limit_timer : timer {
        explicit limit_timer(io_record& whose) noexcept : record(whose) {
            fire = [](timer& self) noexcept {
                static_cast<limit_timer&>(self).record.expire_limit();
            };
        }
        io_record& record;
        bool is_armed = false; // Or `fire` is about to be called.
    };

    io_record() noexcept : next_free_(nullptr) {}
    std::uint64_t tag() const noexcept { return std::uint64_t{index_} << 32 | generation_; }
    // Returns true with the lock held if the caller must enter the list.
    bool lock_to_wait(const request& how, io_wake& result, std::error_code& error);
    // U4. Returns false if the system refuses. Called without the lock.
    bool arm(io_direction of, std::error_code& error);
    // Requires the lock. Returns false if the call was cancelled since it began to wait.
    bool may_wait(std::int64_t& waits_since) noexcept;
    // Requires the lock, and an armed direction. Returns the options of the wait that follows.
    // Where there is no memory for the timer of the record, the wait has a timer of its own.
    wait_options limit_wait(const request& how, event_wait& waiter) noexcept;
    void make_limit_timer() noexcept;
    // Requires the lock, and a poller.
    void arm_limit(std::int64_t deadline_ns) noexcept;
    void disarm_limit() noexcept;
    void expire_limit() noexcept;
    void wake_all(wake_ups& woken, io_wake why) noexcept;
    void advance(io_direction of, bool all, wake_ups& woken) noexcept;
    void leave_poller() noexcept;
    void adopt_if_forked() noexcept;
    void adopt_after_fork() noexcept;
    void end_descriptor() noexcept;

    base::spin_lock lock_;
    bool owned_ = false;
    bool socket_ = false;
    std::uint8_t armed_ = 0; // Bits of directions that the poller's set watches.
    // 1: an event said that no more comes, or that the descriptor has failed. Written with the lock
    // held, before the tick.
    base::atomic<std::uint32_t> hung_up_{0};
    std::uint32_t index_ = 0;
    std::uint32_t generation_ = 0;
    base::atomic<std::uint32_t> drained_{0};    // The tick plus one; 0: not known.
    std::int64_t cancels_ = 0;                  // The number of `cancel`. Guarded by the lock.
    base::atomic<std::int32_t> descriptor_{-1}; // -1: ended.
    base::atomic<std::uint32_t> state_{ended_bit};
    base::atomic<std::uint32_t> fork_generation_{0};
    io_poller* poller_ = nullptr; // Null: in no set.
    one_side sides_[2];
    base::atomic<std::int64_t> limit_ns_{never};
    limit_timer* limit_timer_ = nullptr; // Made at the first wait with a limit, never freed.
    union {
        event_hook* hook_;     // Null: none. While the record is in use.
        io_record* next_free_; // Guarded by the table's lock. While the record is free.
    };
};
static_assert(sizeof(void*) != 8 || sizeof(io_record) == 128);

} // namespace sennit::sched
