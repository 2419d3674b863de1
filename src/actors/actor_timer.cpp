// SPDX-License-Identifier: Apache-2.0
// Timers of actors: a timer of the wheel, and mail that it sends.
//
// State of a node: live; cancelled; done (once only: its message is being handled, or nobody is
// there to handle it). References: the handles', and one of whatever the timer is on its way with,
// in turn: the wheel, the mailbox, the handler's turn. Who ends that way gives it back.
//
// Protocol.
// 1. Expired, its mail is delivered. The receiver's turn looks at the state: not live: that is the
// end of the way.
// 2. Once only: live becomes done by a compare-and-swap, then the message is handled.
// 3. Again and again: the next time is armed, then the state is looked at once more, then the copy
// is handled.
// 4. `cancel`, and the receiver's end, exchange live for cancelled, then disarm. Who disarms it
// (one can) ends the way. Why cancelled is never handled: 2 is one step; and in 3 who cancels
// before the last look is seen by it. Why nothing is left over: after a cancel the timer is
// disarmed by it, or expires, or is armed by a turn behind it (3), whose last look then finds it
// cancelled, and disarms it. The list of a receiver's timers is guarded as its watches are
// (cold_state.hpp). Who takes a node off holds the way's end back until it has left that lock, so
// what is in the list lives.
#include "sennit/actor/actor_timer.hpp"

#include "actors/cold_state.hpp"
#include "actors/runtime/mailbox.hpp"
#include "actors/runtime/mailbox_table.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/timer.hpp"

#include <algorithm>
#include <mutex>

namespace sennit::detail {

namespace {
constexpr std::int64_t construction_poll_ns =
    100'000; // until it is looked again whether a receiver's constructor has returned
} // namespace

struct timer_node : attached_timer {
    enum : std::uint32_t { live, cancelled, done };
    struct alarm : sched::timer {
        timer_node* of = nullptr;
    };
    struct due_message : sched::message_node {
        explicit due_message(timer_node* node) noexcept
            : message_node(&timer_node::run_due), of(node) {}
        timer_node* of;
    };

    timer_node(sched::address to, sched::runtime_core& runtime, std::int64_t period_ns,
               const timer_load& what) noexcept
        : whom(to), where(runtime), period(period_ns), load(what), due(this) {
        bell.of = this;
        bell.fire = &timer_node::expire;
    }

    static void expire(sched::timer& raw) noexcept {
        timer_node& me = *static_cast<alarm&>(raw).of;
        (void)sched::deliver_uncounted(me.whom, me.due);
    }
    static void run_due(sched::message_node& raw, void* object) noexcept;
    void once(void* object) noexcept;
    void again(void* object) noexcept;
    bool arm_for(std::int64_t deadline_ns) noexcept;
    void end_of_way() noexcept {
        detach();
        let_go(*this);
    }
    void detach() noexcept {
        std::lock_guard guard(cold_state_lock(whom.slot));
        if (!attached) return;
        cold_state_of(*sched::mailbox_table::find(whom.slot))->timers.remove(*this);
        attached = false;
    }

    const sched::address whom;
    sched::runtime_core& where;
    const std::int64_t period; // 0: once
    const timer_load load;
    sched::message_node* left = load.node; // null: it is on its way
    alarm bell;
    due_message due;
    base::atomic<std::uint32_t> state{live};
    base::atomic<std::uint32_t> references{2};
};

void timer_node::run_due(sched::message_node& raw, void* object) noexcept {
    timer_node& me = *static_cast<due_message&>(raw).of;
    if (object) return me.period == 0 ? me.once(object) : me.again(object);
    const sched::mailbox& box = *sched::mailbox_table::find(me.whom.slot);
    // The receiver's constructor runs, or did so when the mail came.
    const bool yet_to_come = (box.generation() | 1) == me.whom.generation;
    if (yet_to_come && me.state.load() == live) {
        hold(me);
        (void)me.arm_for(sched::now_ns() + construction_poll_ns);
        return let_go(me);
    }
    me.state.store(done);
    me.end_of_way();
}

// False: it has been cancelled meanwhile. The caller has a reference of its own.
bool timer_node::arm_for(std::int64_t deadline_ns) noexcept {
    bell.deadline_ns = deadline_ns;
    sched::arm(bell, where);
    if (state.load() == live) return true;
    if (sched::disarm(bell, where)) end_of_way();
    return false;
}

void timer_node::once(void* object) noexcept {
    std::uint32_t expected = live;
    const bool mine = state.cas(expected, done);
    sched::message_node* message = mine ? std::exchange(left, nullptr) : nullptr;
    end_of_way();
    if (message) message->run(*message, object);
}

void timer_node::again(void* object) noexcept {
    if (state.load() != live) return end_of_way();
    sched::message_node* message = nullptr;
    try {
        message = load.copy(*left);
    } catch (...) {
        state.store(cancelled);
        end_of_way();
        static_cast<actor_base*>(object)->end(std::current_exception());
        return;
    }
    message->sender = left->sender;
    const std::int64_t late = std::max<std::int64_t>(sched::now_ns() - bell.deadline_ns, 0);
    const auto drop = load.drop;
    hold(*this);
    const bool goes_on = arm_for(bell.deadline_ns + (late / period + 1) * period);
    let_go(*this);
    if (goes_on)
        message->run(*message, object);
    else
        drop(*message);
}

timer_node* begin_timer(sched::address whom, std::int64_t deadline_ns, std::int64_t period_ns,
                        const timer_load& load) {
    load.node->sender = sched::current_receiver();
    const sched::mailbox* box = whom ? sched::mailbox_table::find(whom.slot) : nullptr;
    if (!box) {
        load.drop(*load.node);
        return nullptr;
    }
    timer_node* one = nullptr;
    try {
        one = ::new (sched::take_memory(sizeof(timer_node)))
            timer_node(whom, box->runtime(), period_ns, load);
    } catch (...) {
        load.drop(*load.node);
        throw;
    }
    bool added = false;
    const auto attach = [&](cold_state& of) {
        of.timers.push_back(*one);
        one->attached = true;
    };
    const auto give_up = [&]() noexcept {
        let_go(*one);
        let_go(*one);
    };
    try {
        added = attach_to(whom, attach);
    } catch (...) {
        give_up();
        throw;
    }
    if (added)
        (void)one->arm_for(deadline_ns); // the receiver's end may have cancelled it
    else
        give_up();
    return added ? one : nullptr;
}

void hold(timer_node& one) noexcept {
    one.references.fetch_add(1);
}
void let_go(timer_node& one) noexcept {
    if (one.references.fetch_sub(1) != 1) return;
    if (one.left) one.load.drop(*one.left);
    one.~timer_node();
    sched::give_memory(&one, sizeof(timer_node));
}

bool cancel(timer_node& one) noexcept {
    std::uint32_t expected = timer_node::live;
    if (!one.state.cas(expected, timer_node::cancelled)) return false;
    if (sched::disarm(one.bell, one.where)) one.end_of_way();
    return true;
}
bool pending(const timer_node& one) noexcept {
    return one.state.load() == timer_node::live;
}

void detach_timers(timer_list& all) noexcept {
    for (attached_timer* one = all.front(); one; one = timer_list::after(*one)) {
        one->attached = false;
        hold(static_cast<timer_node&>(*one));
    }
}
void cancel_timers(timer_list& all) noexcept {
    while (attached_timer* one = all.pop_front()) {
        (void)cancel(static_cast<timer_node&>(*one));
        let_go(static_cast<timer_node&>(*one));
    }
}

} // namespace sennit::detail
