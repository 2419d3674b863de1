// SPDX-License-Identifier: Apache-2.0
// Watching and linking: notification of an actor's end.
#include "actors/cold_state.hpp"
#include "sennit/actor.hpp"
#include "sennit/detail/sys/atfork.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace sennit {

namespace detail {

namespace {

constinit base::byte_lock nobodys_lock;
const base::atfork_lock hold_nobodys(nobodys_lock);

sched::message_node::function down_handler(actor_base& me, bool linked) noexcept {
    if (me.type_->find) return me.type_->find(&message_tag<down>, false);
    const bool wanted = !linked || static_cast<open_base&>(me).has_handler_for(&message_tag<down>);
    return wanted ? &handle_open<down, false> : nullptr;
}

void handle_down_message(sched::message_node& raw, void* object) noexcept {
    auto& one = static_cast<watch_entry&>(raw);
    if (!object) return destroy_message(one); // the watcher has ended, too: not worth a dead letter
    auto& me = *static_cast<actor_base*>(object);
    const bool abnormal = one.down_message.why != exit_reason::normal &&
                          one.down_message.why != exit_reason::shutdown;
    const auto handle = down_handler(me, one.linked);
    if (handle && (abnormal || !one.linked)) {
        down down_message = one.down_message;
        const sched::address from = one.down_message.who;
        destroy_message(one);
        try {
            auto* told_it = make_message<told<down>>(handle, std::move(down_message));
            told_it->sender = from;
            handle(*told_it, object);
        } catch (...) {
            me.end(std::current_exception()); // no memory for the message
        }
        return;
    }
    std::exception_ptr error = one.down_message.error;
    const bool ends = one.linked && abnormal;
    destroy_message(one);
    if (!ends) return;
    me.ending_ = true;
    me.why_ = exit_reason::linked;
    me.end(std::move(error));
}

// Entries whose watcher has ended are removed whenever the list has doubled. So an actor that many
// actors watch for a short time each keeps at most twice as many entries as it has watchers.
watch_entry* take_obsolete(cold_state& of) noexcept {
    watch_entry* obsolete = nullptr;
    for (watch_entry** place = &of.watch_entries; *place;) {
        watch_entry* const one = *place;
        if (ended(one->watcher)) {
            *place = one->after;
            one->after = std::exchange(obsolete, one);
            --of.watch_count;
        } else {
            place = &one->after;
        }
    }
    of.tidy_threshold = std::max(of.tidy_threshold, 2 * of.watch_count);
    return obsolete;
}

// False: `whom` has ended, and `watcher` is told so.
bool add_watch(sched::address whom, sched::address watcher, bool linked) {
    watch_entry* const one = make_watch_entry(watcher, linked);
    watch_entry* obsolete = nullptr;
    bool added = false;
    try {
        added = whom && attach_to(whom, [&](cold_state& of) {
                    if (of.watch_count == of.tidy_threshold) obsolete = take_obsolete(of);
                    of.add_watch_entry(*one);
                });
    } catch (...) {
        destroy_message(*one);
        throw;
    }
    while (watch_entry* const next = obsolete) {
        obsolete = next->after;
        destroy_message(*next);
    }
    if (!added) (void)notify_watchers(one, {whom, exit_reason::unknown, nullptr});
    return added;
}

} // namespace

void remove_watch_entry(sched::address whom, sched::address watcher, bool linked) noexcept {
    watch_entry* found = nullptr;
    {
        std::lock_guard guard(cold_state_lock(whom.slot));
        sched::mailbox* box = sched::mailbox_table::find(whom.slot);
        if (!box || box->is_over(whom) || !box->cold_state) return;
        watch_entry** place = &cold_state_of(*box)->watch_entries;
        while (*place && ((*place)->watcher != watcher || (*place)->linked != linked))
            place = &(*place)->after;
        if ((found = *place)) {
            *place = found->after;
            --cold_state_of(*box)->watch_count;
        }
    }
    if (found) destroy_message(*found);
}

watch_entry* make_watch_entry(sched::address watcher, bool linked) {
    return ::new (sched::take_memory(sizeof(watch_entry))) watch_entry(watcher, linked);
}

base::byte_lock& cold_state_lock(std::uint32_t slot) noexcept {
    sched::mailbox* box = slot != 0 ? sched::mailbox_table::find(slot) : nullptr;
    return box ? box->cold_state_lock : nobodys_lock;
}

watch_entry::watch_entry(sched::address to, bool both_ways) noexcept
    : message_node(&handle_down_message), watcher(to), linked(both_ways) {}

// Delivers to full mailboxes, too, because an end is told only once. The notice of a watch comes
// behind the messages of the ended actor. The notice of a link is urgent, because the linked actor
// must not continue to work.
bool notify_watchers(watch_entry* first, const down& down_message) noexcept {
    bool any = false;
    while (watch_entry* const one = first) {
        first = one->after;
        one->down_message = down_message;
        one->urgent = one->linked;
        any |= sched::deliver_uncounted(one->watcher, *one) == sched::delivery::sent;
    }
    return any;
}

void deliver_early_messages(sched::mailbox& box) noexcept {
    if (!box.cold_state) return;
    while (sched::message_node* one = cold_state_of(box)->early_messages.pop_front())
        box.push_early_message(*one);
}

// `address_escaped_` was set before any thread could have the address. So deliver_early_messages,
// under this lock, finds every message that comes before the incarnation begins; a later sender
// sees the actor alive.
bool store_early_message(sched::message_node& one) noexcept {
    const sched::address whom = one.receiver();
    sched::mailbox* box = whom && one.fate == sched::delivery::dead && !one.kept
                              ? sched::mailbox_table::find(whom.slot)
                              : nullptr;
    if (!box || box->is_over(whom)) return false;
    bool born = false, there = false;
    try {
        there = attach_to(whom, [&](cold_state& of) {
            one.fate = sched::delivery::sent;
            one.kept = true;
            born = box->is_alive();
            if (!born) of.early_messages.push_back(one);
        });
    } catch (const std::bad_alloc&) {
        return false;
    }
    if (born) (void)sched::deliver_uncounted(whom, one); // uncounted, as early messages are
    return there;
}

bool drop_cold_state(sched::mailbox& box, sched::address who, exit_reason why,
                     const std::exception_ptr& error, message_list* nobodys) noexcept {
    cold_state* cold = nullptr;
    {
        std::lock_guard guard(cold_state_lock(who.slot));
        cold = cold_state_of(box);
        box.cold_state = nullptr;
        if (box.is_alive())
            box.end_incarnation();
        else
            box.skip_incarnation();
        if (cold) detach_timers(cold->timers);
    }
    if (!cold) return false;
    cancel_timers(cold->timers);
    const bool told = notify_watchers(cold->watch_entries, {who, why, error});
    if (nobodys) nobodys->put_before(cold->early_messages);
    delete cold;
    return told;
}

} // namespace detail

// Allocates the cold state before the incarnation begins, so that storing a termination notice
// needs no memory.
void actor_base::prepare_for_down_messages() {
    if (!box_->is_alive()) (void)detail::attach_to(address(), [](detail::cold_state&) {});
}

void actor_base::watch_end(sched::address whom) {
    prepare_for_down_messages();
    (void)detail::add_watch(whom, address(), false);
}
void actor_base::unwatch(sched::address whom) noexcept {
    detail::remove_watch_entry(whom, address(), false);
}
void actor_base::link(sched::address whom) {
    prepare_for_down_messages();
    if (!detail::add_watch(whom, address(), true)) return;
    try {
        (void)detail::add_watch(address(), whom, true);
    } catch (...) {
        detail::remove_watch_entry(whom, address(), true); // a link is mutual or does not exist
        throw;
    }
}
void actor_base::unlink(sched::address whom) noexcept {
    detail::remove_watch_entry(whom, address(), true);
    detail::remove_watch_entry(address(), whom, true);
}

} // namespace sennit
