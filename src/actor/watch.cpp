// SPDX-License-Identifier: Apache-2.0
// Watching and linking: who learns of an actor's end.
#include "actor/extra.hpp"
#include "sennit/actor.hpp"
#include "sennit/base/over_forks.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace sennit {

namespace detail {

namespace {

constinit base::byte_lock nobodys_lock;
const base::atfork_lock hold_nobodys(nobodys_lock);

sched::message_node::function handler_for_news(actor_base& me, bool linked) noexcept {
    if (me.type_->find) return me.type_->find(&message_tag<down>, false);
    const bool wanted = !linked || static_cast<open_base&>(me).has_handler_for(&message_tag<down>);
    return wanted ? &handle_open<down, false> : nullptr;
}

void take_news(sched::message_node& raw, void* object) noexcept {
    auto& one = static_cast<watch&>(raw);
    if (!object) return destroy_message(one); // whoever watched has ended, too: not worth a dead letter
    auto& me = *static_cast<actor_base*>(object);
    const bool abnormal = one.news.why != exit_reason::normal && one.news.why != exit_reason::shutdown;
    const auto handle = handler_for_news(me, one.linked);
    if (handle && (abnormal || !one.linked)) {
        down news = one.news;
        const sched::address from = one.news.who;
        destroy_message(one);
        try {
            auto* told_it = make_message<told<down>>(handle, std::move(news));
            told_it->sender = from;
            handle(*told_it, object);
        } catch (...) {
            me.end(std::current_exception()); // no memory for it
        }
        return;
    }
    std::exception_ptr error = one.news.error;
    const bool ends = one.linked && abnormal;
    destroy_message(one);
    if (!ends) return;
    me.ending_ = true;
    me.why_ = exit_reason::linked;
    me.end(std::move(error));
}

// Those that nobody waits for any more go whenever the list has doubled: an actor that many watch for a short time each
// keeps no more than twice those that still do.
watch* take_obsolete(extra& of) noexcept {
    watch* obsolete = nullptr;
    for (watch** place = &of.watches; *place;) {
        watch* const one = *place;
        if (ended(one->watcher)) {
            *place = one->after;
            one->after = std::exchange(obsolete, one);
            --of.watched_by;
        } else {
            place = &one->after;
        }
    }
    of.tidied_at = std::max(of.tidied_at, 2 * of.watched_by);
    return obsolete;
}

// False: `whom` has ended, and `watcher` is told that.
bool begin_watch(sched::address whom, sched::address watcher, bool linked) {
    watch* const one = make_watch(watcher, linked);
    watch* obsolete = nullptr;
    bool added = false;
    try {
        added = whom && hang_on(whom, [&](extra& of) {
                    if (of.watched_by == of.tidied_at) obsolete = take_obsolete(of);
                    of.hang(*one);
                });
    } catch (...) {
        destroy_message(*one);
        throw;
    }
    while (watch* const next = obsolete) {
        obsolete = next->after;
        destroy_message(*next);
    }
    if (!added) (void)tell_watches(one, {whom, exit_reason::unknown, nullptr});
    return added;
}

} // namespace

void remove_watch(sched::address whom, sched::address watcher, bool linked) noexcept {
    watch* found = nullptr;
    {
        std::lock_guard guard(extra_lock(whom.slot));
        sched::mailbox* box = sched::mailbox_table::find(whom.slot);
        if (!box || (box->generation() | 1) != whom.generation || !box->extra) return;
        watch** place = &extra_of(*box)->watches;
        while (*place && ((*place)->watcher != watcher || (*place)->linked != linked)) place = &(*place)->after;
        if ((found = *place)) {
            *place = found->after;
            --extra_of(*box)->watched_by;
        }
    }
    if (found) destroy_message(*found);
}

watch* make_watch(sched::address watcher, bool linked) {
    return ::new (sched::take_memory(sizeof(watch))) watch(watcher, linked);
}

base::byte_lock& extra_lock(std::uint32_t slot) noexcept {
    sched::mailbox* box = slot != 0 ? sched::mailbox_table::find(slot) : nullptr;
    return box ? box->extra_lock : nobodys_lock;
}

watch::watch(sched::address to, bool both_ways) noexcept : message_node(&take_news), watcher(to), linked(both_ways) {}

// Also to a full mailbox: an end is not told twice. Behind what the ended actor sent; but whom a link ends shall not
// work on meanwhile.
bool tell_watches(watch* first, const down& news) noexcept {
    bool somebody = false;
    while (watch* const one = first) {
        first = one->after;
        one->news = news;
        one->urgent = one->linked;
        somebody |= sched::deliver_uncounted(one->watcher, *one) == sched::delivery::sent;
    }
    return somebody;
}

void deliver_early_messages(sched::mailbox& box) noexcept {
    if (!box.extra) return;
    while (sched::message_node* one = extra_of(box)->early_messages.pop_front()) box.push_early_message(*one);
}

// `address_escaped_` was set before anybody could have the address; so what comes before the life begins, which is under the same
// lock then, is found by deliver_early_messages, and who comes later sees that it lives.
bool store_early_message(sched::message_node& one) noexcept {
    const sched::address whom = one.receiver();
    sched::mailbox* box =
        whom && one.fate == sched::delivery::dead && !one.kept ? sched::mailbox_table::find(whom.slot) : nullptr;
    if (!box || (box->generation() | 1) != whom.generation) return false; // it has ended, as a rule
    bool born = false, there = false;
    try {
        there = hang_on(whom, [&](extra& of) {
            one.fate = sched::delivery::sent;
            one.kept = true;
            born = box->is_alive();
            if (!born) of.early_messages.push_back(one);
        });
    } catch (const std::bad_alloc&) {
        return false;
    }
    if (born) (void)sched::deliver_uncounted(whom, one); // as deliver_early_messages does
    return there;
}

bool drop_extra(sched::mailbox& box, sched::address who, exit_reason why, const std::exception_ptr& error,
                message_list* nobodys) noexcept {
    extra* hung = nullptr;
    {
        std::lock_guard guard(extra_lock(who.slot));
        hung = extra_of(box);
        box.extra = nullptr;
        if (box.is_alive())
            box.end_incarnation();
        else
            box.skip_incarnation();
        if (hung) take_timers_off(hung->timers);
    }
    if (!hung) return false;
    cancel_timers(hung->timers);
    const bool told = tell_watches(hung->watches, {who, why, error});
    if (nobodys) nobodys->put_before(hung->early_messages);
    delete hung;
    return told;
}

} // namespace detail

// News that comes before the life begins is kept for it, which then takes no memory.
void actor_base::expect_news() {
    if (!box_->is_alive()) (void)detail::hang_on(address(), [](detail::extra&) {});
}

void actor_base::watch_end(sched::address whom) {
    expect_news();
    (void)detail::begin_watch(whom, address(), false);
}
void actor_base::unwatch(sched::address whom) noexcept {
    detail::remove_watch(whom, address(), false);
}
void actor_base::link(sched::address whom) {
    expect_news();
    if (!detail::begin_watch(whom, address(), true)) return;
    try {
        (void)detail::begin_watch(address(), whom, true);
    } catch (...) {
        detail::remove_watch(whom, address(), true); // both ways or not at all
        throw;
    }
}
void actor_base::unlink(sched::address whom) noexcept {
    detail::remove_watch(whom, address(), true);
    detail::remove_watch(address(), whom, true);
}

} // namespace sennit
