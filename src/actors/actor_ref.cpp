// SPDX-License-Identifier: Apache-2.0
#include "sennit/actor/actor_ref.hpp"

#include "actors/cold_state.hpp"
#include "actors/runtime/mailbox.hpp"
#include "actors/runtime/mailbox_table.hpp"
#include "core/worker/worker.hpp"
#include "sennit/actor/actor_metrics.hpp"

#include <bit>
#include <mutex>
#include <utility>

namespace sennit {

const char* describe(ask_error what) noexcept {
    switch (what) {
    case ask_error::timed_out:
        return "sennit: [SNT-511] the actor did not answer within the time limit of the ask";
    case ask_error::actor_down:
        return "sennit: [SNT-512] the actor has ended, or has dropped the question without an "
               "answer";
    case ask_error::cancelled:
        return "sennit: [SNT-513] the wait for an answer was cancelled by the nursery or "
               "with_timeout around it";
    case ask_error::cycle:
        return "sennit: [SNT-514] actors ask each other in a circle, so no answer can come; tell "
               "one of them instead of asking";
    case ask_error::full:
        return "sennit: [SNT-515] the actor's mailbox had no room for the question; raise its "
               "bound, or ask less often";
    }
    return "sennit: [SNT-516] no answer came, for an unknown reason";
}

namespace detail {

namespace {

struct stop_message : sched::message_node {
    explicit stop_message(exit_reason why) noexcept
        : message_node(&stop_message::go), reason(why) {}
    static void go(sched::message_node& raw, void* object) noexcept {
        auto& one = static_cast<stop_message&>(raw);
        const exit_reason why = one.reason;
        destroy_message(one);
        if (!object) return; // the actor has ended already
        auto& me = *static_cast<actor_base*>(object);
        me.ending_ = true;
        me.why_ = why;
        me.end(nullptr);
    }
    exit_reason reason;
};

send_status status_of(sched::delivery what) noexcept {
    return static_cast<send_status>(what);
}

} // namespace

std::exception_ptr error_of(ask_error why) noexcept {
    try {
        return std::make_exception_ptr(ask_failed(why));
    } catch (...) {
        return std::current_exception();
    }
}

send_status deliver(sched::address to, sched::message_node& one) noexcept {
    return status_of(sched::deliver(to, one));
}
std::optional<send_status> deliver_waiting(sched::address to, sched::message_node& one) noexcept {
    const auto done = sched::deliver_waiting(to, one);
    return done ? std::optional(status_of(*done)) : std::nullopt;
}

void stop_actor(sched::address whom, exit_reason why, bool at_once) {
    if (ended(whom)) return;
    auto* one = make_message<stop_message>(why);
    one->urgent = at_once;
    (void)sched::deliver_uncounted(whom, *one);
}

// Detection of circles of asks.
//
// Protocol. Each asker writes down the actor that it waits for, then follows the chain of such
// entries. The actor that answers clears the asker's entry before the answer can be seen, and so
// before the asker's next ask. An actor that forwards the question writes the new receiver into the
// asker's entry, and follows the chain from there. An actor that keeps the duty to answer beyond
// its handler's end, or gives the duty away in a message, clears the entry. Only the asker's time
// limit ends such circles.
//
// Why each circle is found. The entries are sequentially consistent: of the asks that close a
// circle, the last one to write sees all other entries. Why no other chain is reported: no chain
// leads over an asker that has its answer and has yet to run.
namespace {
// True if the chain of asks from `whom` leads to `mine`.
bool leads_to(sched::address whom, sched::address mine) noexcept {
    for (int steps = 0; steps < 1000 && whom; ++steps) {
        if (whom == mine) return true;
        const sched::mailbox* box = sched::mailbox_table::find(whom.slot);
        if (!box || box->generation() != whom.generation) return false;
        whom = std::bit_cast<sched::address>(box->asks.load());
    }
    return false;
}
} // namespace

asking::asking(sched::address whom, awaits& noted) noexcept : noted_(noted) {
    sched::worker* me = sched::this_worker();
    sched::mailbox* const asker = me ? sched::mailbox::current(me->self()) : nullptr;
    if (!asker) return;
    const sched::address mine = asker->self();
    noted.slot = mine.slot; // not shared yet: no other thread has `noted`
    noted.still = true;
    asker->asks.store(std::bit_cast<std::uint64_t>(whom));
    cycle_ = leads_to(whom, mine);
}
asking::~asking() {
    noted_.answered(); // or given up: a late answer then clears no later ask of this actor
}

bool awaits::passed_to(sched::address whom) noexcept {
    if (slot == 0) return true;
    std::lock_guard guard(cold_state_lock(slot));
    sched::mailbox* const asker = sched::mailbox_table::find(slot);
    if (!still || !asker) return true;
    const std::uint64_t before = asker->asks.load();
    asker->asks.store(std::bit_cast<std::uint64_t>(whom));
    if (!leads_to(whom, asker->self())) return true;
    asker->asks.store(before);
    return false;
}

void awaits::left_by(sched::address who) noexcept {
    if (slot == 0) return;
    std::lock_guard guard(cold_state_lock(slot));
    sched::mailbox* const asker = sched::mailbox_table::find(slot);
    if (still && asker->asks.load() == std::bit_cast<std::uint64_t>(who)) asker->asks.store(0);
}

void awaits::answered() noexcept {
    if (slot == 0) return;
    std::lock_guard guard(cold_state_lock(slot));
    if (std::exchange(still, false)) sched::mailbox_table::find(slot)->asks.store(0);
}

} // namespace detail
} // namespace sennit
