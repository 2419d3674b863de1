// SPDX-License-Identifier: Apache-2.0
// The incarnations of actors, from spawn to end, and the groups that count them.
#include "sennit/actor/actor_group.hpp"

#include "actors/cold_state.hpp"
#include "actors/runtime/actor_state.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"

#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace sennit {

namespace {

// The slot of the actor whose constructor is about to run here. Before the constructor runs, its
// arguments or another base of its class may make other actors. So each caller that puts a slot
// here puts the previous slot back.
//
// The slot belongs to the context, because the code before the constructor may block and continue
// in another thread. Where there is no context, it belongs to the thread.
sched::runnable*& under_construction() noexcept {
    static thread_local sched::runnable* box = nullptr;
    sched::worker* const me = sched::this_worker();
    return me ? me->self().under_construction : box;
}
[[gnu::noinline]] sched::mailbox* exchange_under_construction(sched::mailbox* next) noexcept {
    return static_cast<sched::mailbox*>(
        std::exchange(under_construction(), static_cast<sched::runnable*>(next)));
}

sched::runtime_core& runtime_here() {
    sched::runtime_core* here = sched::current_runtime();
    return here ? *here : default_runtime().core();
}

} // namespace

// ---- an actor -----------------------------------------------------------------------------------

actor_base::actor_base() : box_(exchange_under_construction(nullptr)) {
    if (!box_)
        throw std::logic_error("sennit: [SNT-501] an actor was constructed without "
                               "actor_group::spawn; make it with spawn, which gives it a mailbox");
}

sched::address actor_base::address() const noexcept {
    if (box_->is_alive()) [[likely]]
        return box_->self();
    address_escaped_ = true; // any code that has the address may send a message
    sched::set_early_message_store(&detail::store_early_message);
    return {box_->self().slot, box_->self().generation + 1};
}

actor_group& actor_base::group() const noexcept {
    return *actor_group::of(*box_);
}

std::string actor_base::name() const {
    std::lock_guard guard(detail::cold_state_lock(address().slot));
    return box_->cold_state ? detail::cold_state_of(*box_)->name : std::string();
}

void actor_base::end(std::exception_ptr error) noexcept {
    sched::mailbox& box = *box_;
    exit_reason why = error && why_ != exit_reason::linked ? exit_reason::error : why_;
    const sched::address me = box.self();
    if (std::exception_ptr last = type_->destroy(*this, why); last && !error) {
        error = std::move(last);
        if (why != exit_reason::linked) why = exit_reason::error;
    }
    const bool told = detail::drop_cold_state(box, me, why, error) || why == exit_reason::linked;
    if (error && !told) actor_group::of(box)->failed(std::move(error));
}

// ---- construction -------------------------------------------------------------------------------

actor_group::spawn_guard::spawn_guard(actor_group& group, const detail::actor_type& type,
                                      const spawn_options* how)
    : group_(group), type_(type), watcher_(how ? how->watcher : sched::address()),
      named_(how && !how->name.empty()) {
    group.runtime_.check_not_lost();
    std::uint16_t affinity = 0;
    if (how && how->worker != spawn_options::any_worker)
        affinity = sched::affinity_of_worker(group.runtime_, how->worker);
    const std::uint16_t begin = how && how->initial_worker != spawn_options::any_worker
                                    ? sched::affinity_of_worker(group.runtime_, how->initial_worker)
                                    : std::uint16_t{0};
    auto cold = how && (!how->name.empty() || how->watcher) ? std::make_unique<detail::cold_state>()
                                                            : nullptr;
    if (cold) cold->name = how->name;
    memory_ = type.take();
    try {
        detail::watch_entry* entry =
            how && how->watcher ? detail::make_watch_entry(how->watcher, false) : nullptr;
        try {
            box_ = &sched::mailboxes_of(group.runtime_).take(affinity);
        } catch (...) {
            if (entry) detail::destroy_message(*entry);
            throw;
        }
        if (entry) cold->add_watch_entry(*entry);
    } catch (...) {
        type.give(memory_);
        throw;
    }
    if (const std::uint16_t wanted = affinity != 0 ? affinity : begin; wanted != 0)
        box_->set_initial_owner(wanted);
    box_->cold_state = cold.release();
    // These stores pair with begin_incarnation. All of them come before the incarnation begins; it
    // reads them itself, and other threads read them after is_alive().
    box_->handled.store_rlx(0);
    if (how)
        box_->capacity.set_bound(how->mailbox, static_cast<sched::when_full>(how->overflow));
    else
        box_->capacity.set_bound(0, sched::when_full::wait);
    // Pairs with begin_incarnation. The constructor may read it, because it may make actors, too.
    box_->group.store_rlx(&group);
    box_->shard = static_cast<std::uint8_t>(group.shard_here());
    outer_ = exchange_under_construction(box_);
}

actor_group::spawn_guard::~spawn_guard() {
    if (!box_) return;
    exchange_under_construction(outer_);
    // The exception tells the caller of spawn, so the watcher is not notified.
    if (watcher_)
        detail::remove_watch_entry({box_->self().slot, box_->generation() + 1}, watcher_, false);
    type_.give(memory_);
    (void)end_unstarted(exit_reason::error, nullptr);
}

sched::address actor_group::spawn_guard::end_unstarted(exit_reason why,
                                                       const std::exception_ptr& error) noexcept {
    sched::mailbox& box = *std::exchange(box_, nullptr);
    const sched::address unstarted{box.self().slot, box.generation() + 1};
    detail::message_list nobodys;
    detail::drop_cold_state(box, unstarted, why, error, &nobodys);
    sched::mailboxes_of(group_.runtime_).give(box);
    nobodys.return_all(unstarted.slot);
    return unstarted;
}

sched::address actor_group::spawn_guard::begin(actor_base& made) noexcept {
    SENNIT_CHECK(made.box_ == box_, "[SNT-502] an actor's constructor constructed another actor "
                                    "without actor_group::spawn; make it with spawn");
    exchange_under_construction(outer_);
    if (made.ending_) { // stopped before its first batch, so it ends here
        std::exception_ptr error = type_.destroy(made, exit_reason::normal);
        const sched::address unstarted =
            end_unstarted(error ? exit_reason::error : exit_reason::normal, error);
        if (error) group_.failed(std::move(error));
        return unstarted;
    }
    sched::mailbox& box = *std::exchange(box_, nullptr);
    made.type_ = &type_;
    if (named_) { // under the lock, because watchers may have attached already
        std::lock_guard guard(detail::cold_state_lock(box.self().slot));
        detail::cold_state_of(box)->type = &type_;
    }
    box.object = &made;
    // Both are read here: the actor may end as soon as its incarnation has begun.
    const sched::address who{box.self().slot, box.generation() + 1};
    bool stopped = false;
    const bool address_escaped = made.address_escaped_;
    std::unique_lock before_all_others(detail::cold_state_lock(box.self().slot), std::defer_lock);
    if (address_escaped) {
        before_all_others.lock();
        detail::deliver_early_messages(box);
    }
    {
        shard& here = group_.shards_[box.shard];
        std::lock_guard guard(here.lock);
        if (here.living++ == 0) {
            std::lock_guard inner(group_.lock_);
            ++group_.populated_shards_;
        }
        stopped = here.stopped;
        box.begin_incarnation(); // under the lock: `stop` finds it, or it finds `stopped`
    }
    if (address_escaped) {
        before_all_others.unlock();
        box.notify_of_early_messages(); // safe after its end: a slot's memory stays
    }
    if (stopped) group_.stop_one(who);
    return who;
}

// ---- a group ------------------------------------------------------------------------------------

actor_group::actor_group() : incarnation_owner{&member_ended}, runtime_(runtime_here()) {}
actor_group::actor_group(sennit::runtime& where)
    : incarnation_owner{&member_ended}, runtime_(where.core()) {
    where.check_not_lost();
}

actor_group::~actor_group() {
    if (runtime_.lost_in_fork()) return; // no worker is left to end its actors
    stop();
    (void)wait_for_all(true);
}

unsigned actor_group::shard_here() const noexcept {
    const sched::worker* me = sched::this_worker();
    return me ? me->index() % shard_count : 0;
}

void actor_group::failed(std::exception_ptr error) noexcept {
    std::lock_guard guard(lock_);
    if (!error_) error_ = std::move(error);
}

// A joiner continues only when this actor is counted out, and this function has left the lock that
// says so. So the function leaves the shard's lock first, and touches the group's lock last.
void actor_group::member_ended(sched::incarnation_owner& family, sched::mailbox& box) noexcept {
    auto& me = static_cast<actor_group&>(family);
    shard& mine = me.shards_[box.shard];
    {
        std::lock_guard guard(mine.lock);
        // a metric of this incarnation that its batches write
        mine.handled += box.handled.load_rlx();
        if (--mine.living != 0) return;
    }
    sched::wake_ups woken;
    std::lock_guard guard(me.lock_);
    if (--me.populated_shards_ == 0) woken.take_all(me.joiners_);
}

// The caller is the incarnation itself, its constructor, or has seen is_alive().
actor_group* actor_group::of(const sched::mailbox& box) noexcept {
    // pairs with begin_incarnation: `group` was written before
    return static_cast<actor_group*>(box.group.load_rlx());
}

// False: the wait was cancelled.
bool actor_group::wait_for_all(bool at_the_end) noexcept {
    for (;;) {
        lock_.lock();
        if (populated_shards_ == 0 && !(at_the_end && stop_visitor_.under_way)) {
            lock_.unlock();
            return true;
        }
        const auto why = sched::block(
            joiners_, lock_, {.cancellable = !at_the_end, .what = "actor_group::join", .on = this});
        if (why == sched::wake_reason::cancelled) return false;
    }
}

void actor_group::join() {
    runtime_.check_not_lost();
    if (!wait_for_all(false)) throw cancelled();
    std::exception_ptr error;
    {
        std::lock_guard guard(lock_);
        error = std::exchange(error_, nullptr);
    }
    if (error) std::rethrow_exception(std::move(error));
}

void actor_group::stop() noexcept {
    bool any = false;
    for (shard& one : shards_) {
        std::lock_guard guard(one.lock);
        one.stopped = true;
        any |= one.living != 0;
    }
    if (!any) return;
    sched::mailboxes_of(runtime_).for_each([this](sched::mailbox& box) {
        if (const sched::address who = member(box)) stop_one(who);
    });
}

// Returns the address of an actor of this group; null if the slot holds none. If the actor ends
// meanwhile, the address reaches no later incarnation.
sched::address actor_group::member(const sched::mailbox& box) const noexcept {
    const std::uint32_t incarnation = box.generation();
    const bool mine = incarnation % 2 != 0 && of(box) == this; // generation() has acquired `group`
    return mine ? sched::address{box.self().slot, incarnation} : sched::address();
}

void actor_group::stop_one(sched::address who) noexcept {
    try {
        detail::stop_actor(who, exit_reason::shutdown, true);
    } catch (const std::bad_alloc&) {
        send_stop_visitor();
    }
}

// ---- stop without memory ------------------------------------------------------------------------
//
// `stop_visitor_` is a message that is a part of the group. It goes to an actor that is alive, ends
// that actor, and continues to the next: so it reaches all actors, and no stop allocates memory.
// The visitor returns to the group when one walk from the first slot to the last has found no
// actor. A caller that needs a stop meanwhile requests one more walk, because the visitor may have
// passed the actor that is meant. The group's destructor waits until the visitor has returned. The
// visitor may still lie in the mailbox of an actor that has ended otherwise; that takes as long as
// that actor's batch.

void actor_group::send_stop_visitor() noexcept {
    {
        std::lock_guard guard(lock_);
        stop_visitor_.once_more = true;
        if (std::exchange(stop_visitor_.under_way, true)) return;
    }
    forward_stop_visitor();
}

// Called by the thread that holds the visitor. The visitor has left when this returns, and the
// group may be gone.
void actor_group::forward_stop_visitor() noexcept {
    for (;;) {
        sched::address next;
        (void)sched::mailboxes_of(runtime_).find_from(stop_visitor_.at, [&](sched::mailbox& box) {
            next = member(box);
            return static_cast<bool>(next);
        });
        if (next) {
            stop_visitor_.fate = sched::delivery::sent;
            stop_visitor_.urgent = true;
            (void)sched::deliver_uncounted(next, stop_visitor_);
            return;
        }
        sched::wake_ups woken;
        std::lock_guard guard(lock_);
        stop_visitor_.at = 0;
        if (std::exchange(stop_visitor_.once_more, false)) continue;
        stop_visitor_.under_way = false;
        woken.take_all(joiners_);
        return;
    }
}

// Runs in the batch of the actor that received the visitor. `object` is null if that actor has
// ended.
void actor_group::stop_visitor::visit(sched::message_node& self, void* object) noexcept {
    if (object) {
        auto& me = *static_cast<actor_base*>(object);
        me.ending_ = true;
        me.why_ = exit_reason::shutdown;
        me.end(nullptr);
    }
    static_cast<stop_visitor&>(self).group.forward_stop_visitor();
}

// ---- queries ------------------------------------------------------------------------------------

std::size_t actor_group::size() const noexcept {
    std::size_t sum = 0;
    for (const shard& one : shards_) {
        std::lock_guard guard(one.lock);
        sum += one.living;
    }
    return sum;
}

std::uint64_t actor_group::handled() const {
    std::uint64_t sum = 0;
    for (const shard& one : shards_) {
        std::lock_guard guard(one.lock);
        sum += one.handled;
    }
    sched::mailboxes_of(runtime_).for_each([&](sched::mailbox& box) {
        if (box.is_alive() && of(box) == this) sum += box.handled.load_rlx(); // a metric
    });
    return sum;
}

sched::address actor_group::find_named(std::string_view name,
                                       const detail::actor_type* type) const {
    sched::address found;
    sched::mailboxes_of(runtime_).for_each([&](sched::mailbox& box) {
        // is_alive() acquires the group; the lock makes the second look final.
        if (found || !box.is_alive() || of(box) != this) return;
        std::lock_guard guard(detail::cold_state_lock(box.self().slot));
        if (!box.is_alive() || of(box) != this || !box.cold_state ||
            detail::cold_state_of(box)->name != name)
            return;
        // Compares no dynamic type: the actor's object may be destroyed already.
        if (detail::cold_state_of(box)->type == type) found = box.self();
    });
    return found;
}

} // namespace sennit
