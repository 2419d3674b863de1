// SPDX-License-Identifier: Apache-2.0
// The worker loop: what to run next, and the moves between contexts.
//
// Every idle context sits in `loop`, at the switch inside `resume` or fresh at its entry. A closure runs on the stack
// of the loop that picked it. If it suspends, its context keeps that stack, and the worker switches to a spare one,
// whose loop goes on. If it is resumed and ends, it returns into the loop frame below it: that context is then the
// loop. So a closure that never blocks costs no switch, and the number of stacks is the number of blocked closures
// plus one for each worker and the spares.
//
// Order of picking: every `fair_period` picks the shared queue and the forks of suspended contexts first; then what was
// woken or yielded here, oldest first; then what was spawned here, newest first; then the shared queue; then stealing:
// forks of running contexts, forks of suspended ones, queues of others, oldest first.
#include "sched/worker.hpp"

#include "sched/runtime_core.hpp"
#include "sched/tuning.hpp"
#include "sennit/base/check.hpp"
#include "sys/mutant.hpp"
#include "sys/overflow.hpp"

#include <cstdio>
#include <optional>

namespace sennit::sched {

// ThreadSanitizer's shadow stack changes in the middle of a function that switches stacks.
#ifdef SENNIT_THREAD_SANITIZER
#define SENNIT_NOT_INSTRUMENTED __attribute__((no_sanitize("thread")))
#else
#define SENNIT_NOT_INSTRUMENTED
#endif

using tuning::fair_period, tuning::max_spares;

worker* this_worker() noexcept {
    return static_cast<worker*>(sys::hot().worker);
}

worker::worker(runtime_core& runtime, unsigned index) : runtime_(runtime), index_(index), random_(index + 1) {}

worker::~worker() = default;

void worker::start() {
    thread_ = sys::thread(&worker::thread_main, this);
}

void worker::join() {
    thread_.join();
}

void worker::disown_thread() noexcept {
    thread_.disown();
}

SENNIT_NOT_INSTRUMENTED void worker::thread_main(void* self) noexcept {
    worker& me = *static_cast<worker*>(self);
    std::optional<sys::signal_stack> alternate_stack;
    try {
        alternate_stack.emplace();
    } catch (const std::exception&) {
        // Without it an overflow still ends the program, only without its name.
    }
    char name[16];
    std::snprintf(name, sizeof name, "sennit-%u", me.index_);
    sys::thread::set_name(name);
    me.runtime_.place_worker(me.index_);

    sys::hot_line& hot = sys::hot();
    hot.worker = &me;
    me.exceptions_ = &sys::thread_exception_globals();
    me.home_.fp_control = sys::read_fp_control();
#ifdef SENNIT_THREAD_SANITIZER
    me.home_.tsan_fiber = __tsan_get_current_fiber();
#endif
    context& first = me.runtime_.first_context(me.index_);
    me.current_ = &first;
    hot.head.store_rlx(first.saved_head);  // published with hot_ below
    hot.split.store_rlx(first.saved_head); // as above
    hot.context.store(&first);
    // Workers that fell asleep before this one was there could not ask it: its first fork is published unasked.
    if (!SENNIT_MUTANT("first fork is public")) hot.poll.store(1);
    me.hot_.store(&hot);
    sys::switch_stacks(me.home_, first.machine, *me.exceptions_);

    me.runtime_.wait_for_all_workers(); // thieves look at our hot line until the last worker has left its loop
    hot.worker = nullptr;
    hot.head.store_rlx(nullptr);    // read by this thread only, from here on
    hot.context.store_rlx(nullptr); // as above
}

// The hot line follows the context. A thief that forces a publication holds the lock of the context that it saw here
// and writes its claim into `split`; it acts only while the claim stands, and `split` is written here before `head`. So
// a thief that counts from the new context's `head` has lost its claim. Whoever leaves private slots behind publishes
// them under that lock before it comes here.
SENNIT_NOT_INSTRUMENTED void worker::switch_to(context& target) noexcept {
    context& from = *current_;
    sys::hot_line& hot = *hot_.load_rlx();                          // own thread wrote it
    from.saved_head = static_cast<fork_slot*>(hot.head.load_rlx()); // owner's own word
    current_ = &target;
    hot.context.store(&target);
    hot.split.store(target.slot(fork_range::of(target.forks.load()).split));
    hot.head.store(target.saved_head);
    counted.switches.add();
    sys::switch_stacks(from.machine, target.machine, *exceptions_);
}

// Runs on the stack that was switched to, perhaps in another worker's thread than the one that context left.
void worker::after_switch() noexcept {
    worker& me = *this_worker();
    context* left = std::exchange(me.left_, nullptr);
    if (!left) return;
    if (!me.after_) {
        me.keep_spare(*left);
        return;
    }
    auto after = std::exchange(me.after_, nullptr);
    if (!after(me.after_argument_, *me.after_waiter_)) me.go_back_to_ = left;
}

void worker::resume(context& target) noexcept {
    left_ = current_;
    runtime_.forget_orphan(target);
    switch_to(target);
    after_switch();
}

bool worker::leave(bool (*after)(void*, waiter&) noexcept, void* argument, waiter& who) noexcept {
    context* next = spare();
    if (!next) return false;
    context& self = *current_;
    publish_all(self);
    counted.suspensions.add();
    who.parked = &self;
    left_ = &self;
    after_ = after;
    after_argument_ = argument;
    after_waiter_ = &who;
    switch_to(*next);
    after_switch();
    return true;
}

SENNIT_NOT_INSTRUMENTED void worker::finish() noexcept {
    context& self = *current_;
    sys::switch_stacks(self.machine, home_, *exceptions_);
    base::fail("an ended worker's context was resumed", __FILE__, __LINE__);
}

context* worker::spare() noexcept {
    if (context* found = spares_) {
        spares_ = found->next_free;
        spare_count_.store_rlx(spare_count_.load_rlx() - 1); // a metric, written by its owner only
        return found;
    }
    try {
        return &runtime_.contexts().take();
    } catch (const std::exception&) {
        return nullptr;
    }
}

void worker::keep_spare(context& idle) noexcept {
    if (spare_count_.load_rlx() >= max_spares) { // owner's own word
        runtime_.contexts().give(idle);
        return;
    }
    idle.next_free = spares_;
    spares_ = &idle;
    spare_count_.store_rlx(spare_count_.load_rlx() + 1); // a metric, written by its owner only
}

void worker::loop() noexcept {
    // A fresh look at the worker each time: what ran may have moved this context to another one.
    while (this_worker()->step()) {
    }
    this_worker()->finish();
    __builtin_unreachable();
}

bool worker::step() noexcept {
    if (context* back = std::exchange(go_back_to_, nullptr)) {
        resume(*back);
        return true;
    }
    if (context* parent = std::exchange(resume_next_, nullptr)) {
        resume(*parent);
        return true;
    }
    if (run_next()) return true;
    if (steal_round()) return true;
    counted.failed_steals.add();
    return rest();
}

bool worker::run_next() noexcept {
    const bool look_outside_first = ++picks_ % fair_period == 0;
    runnable* item = nullptr;
    if (look_outside_first) {
        item = runtime_.injected().pop_oldest();
        if (!item && steal_orphan()) return true; // or contexts that yield in a loop would starve their own forks
    }
    if (!item) item = ready_.pop_oldest();
    if (!item) item = spawned_.pop_newest();
    if (!item) item = runtime_.injected().pop_oldest();
    if (!item) return false;
    run(*item);
    return true;
}

bool worker::stress_one_in([[maybe_unused]] unsigned n) noexcept {
#ifdef SENNIT_STRESS
    if (random_.below(n) != 0) return false;
    if (random_.below(16) == 0) sys::yield_thread();
    return true;
#else
    return false;
#endif
}

void worker::run(runnable& item) noexcept {
    counted.runnables.add();
    item.run(&item); // may suspend: nothing of *this may be used after
}

bool worker::steal_round() noexcept {
    return steal_fork() || steal_runnable();
}

bool worker::steal_runnable() noexcept {
    const unsigned n = runtime_.worker_count();
    const unsigned start = random_.below(n);
    for (unsigned i = 0; i < n; ++i) {
        worker& victim = runtime_.worker_at((start + i) % n);
        if (&victim == this) continue;
        runnable* item = victim.ready().pop_oldest();
        if (!item) item = victim.spawned().pop_oldest();
        if (item) {
            if (!victim.ready().empty() || !victim.spawned().empty()) runtime_.wake_one();
            run(*item);
            return true;
        }
    }
    return false;
}

// ---- verbs ---------------------------------------------------------------------------------------------------------

runtime_core* current_runtime() noexcept {
    worker* me = this_worker();
    return me ? &me->runtime() : nullptr;
}

const void* current_context() noexcept {
    worker* me = this_worker();
    return me ? &me->self() : nullptr;
}

void schedule(runnable& what, runtime_core& where) noexcept {
    worker* me = this_worker();
    (me && &me->runtime() == &where ? me->ready() : where.injected()).push(what);
    where.wake_one();
}

void spawn(runnable& what, runtime_core& where) noexcept {
    worker* me = this_worker();
    (me && &me->runtime() == &where ? me->spawned() : where.injected()).push(what);
    where.wake_one();
}

bool suspend(bool (*after)(void*, waiter&) noexcept, void* argument, waiter& who) noexcept {
    return this_worker()->leave(after, argument, who);
}

void yield() noexcept {
    worker* me = this_worker();
    if (!me) return;
    waiter who;
    suspend(
        [](void*, waiter& self) noexcept {
            schedule(*self.parked, self.parked->runtime);
            return true;
        },
        nullptr, who);
}

void wake(waiter& who) noexcept {
    if (context* parked = who.parked) {
        schedule(*parked, parked->runtime);
        return;
    }
    const base::atomic<std::uint32_t>& word = who.signal;
    who.signal.store(1);
    sys::futex_wake(word, 1); // the frame may be gone: at worst somebody else wakes for nothing
}

void park(bool (*publish)(void*, waiter&) noexcept, void* argument, waiter& who) noexcept {
    if (this_worker() && suspend(publish, argument, who)) return;
    who.parked = nullptr;
    if (!publish(argument, who)) return;
    while (who.signal.load() == 0) sys::futex_wait(who.signal, 0);
}

} // namespace sennit::sched
