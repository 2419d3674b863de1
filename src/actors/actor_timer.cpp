// SPDX-License-Identifier: Apache-2.0
// Timers of actors: a timer in the timer wheel, and the message that it sends.
//
// State of a node. `live`; `cancelled`; or `done` (one-shot timers only: the message is being
// handled, or no actor exists to handle it). References: the handles hold one each, and the node's
// present carrier holds one. The carrier is, in turn, the wheel, the mailbox, and the handler's
// batch. The code that ends the trip returns the carrier's reference.
//
// Protocol.
// 1. When the timer expires, the wheel delivers its message. The receiver's batch reads the state;
//    if it is not `live`, the trip ends.
// 2. A one-shot timer: the batch changes `live` to `done` by a compare-and-swap, then handles the
//    message.
// 3. A periodic timer: the batch arms the next expiry, then reads the state once more, then handles
//    the copy.
// 4. `cancel`, and the receiver's end, exchange `live` for `cancelled`, then disarm. Only one
//    thread can disarm; that thread ends the trip.
//
// Why a cancelled timer is never handled. Step 2 is a single operation; in step 3 the last look
// sees every earlier cancel.
//
// Why no timer is left over. After a cancel there are three cases. The cancel disarms the timer. Or
// the timer expires, and step 1 ends the trip. Or a batch arms the timer later (3); then its last
// look finds `cancelled`, and disarms it.
//
// The lock of the cold state guards the list of a receiver's timers, as it guards the watches
// (cold_state.hpp). Code that takes a node off the list holds a reference until it has left that
// lock, so every node in the list is alive.
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
// The interval at which a timer checks whether its receiver's constructor has returned.
constexpr std::int64_t construction_poll_ns = 100'000;
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
    const std::int64_t period; // 0 for a one-shot timer
    const timer_load load;
    sched::message_node* left = load.node; // null once the one-shot message is handled
    alarm bell;
    due_message due;
    base::atomic<std::uint32_t> state{live};
    base::atomic<std::uint32_t> references{2};
};

void timer_node::run_due(sched::message_node& raw, void* object) noexcept {
    timer_node& me = *static_cast<due_message&>(raw).of;
    if (object) return me.period == 0 ? me.once(object) : me.again(object);
    const sched::mailbox& box = *sched::mailbox_table::find(me.whom.slot);
    // The receiver's constructor runs, or ran when the message came.
    const bool yet_to_come = !box.is_over(me.whom);
    if (yet_to_come && me.state.load() == live) {
        hold(me);
        (void)me.arm_for(sched::now_ns() + construction_poll_ns);
        return let_go(me);
    }
    me.state.store(done);
    me.end_of_way();
}

// False: the timer has been cancelled meanwhile. The caller holds a reference of its own.
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
        (void)one->arm_for(deadline_ns); // false if the receiver's end has cancelled it
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
