// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/runtime_core.hpp"

#include "core/diagnostics/deadlock_detector.hpp"
#include "core/runtime/registry.hpp"
#include "core/spare/watchdog.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/fiber_block.hpp"
#include "sys/bounded_text.hpp"
#include "sys/check.hpp"
#include "sys/environment.hpp"
#include "sys/futex.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"
#include "sys/stack_overflow.hpp"
#include "sys/thread.hpp"
#include "sys/topology.hpp"

#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>

namespace sennit::sched {

namespace {

constexpr unsigned spare_worker_limit = 64;
// The usual stack size of a thread: plain recursion runs unchanged.
constexpr std::size_t default_stack_size = std::size_t{8} << 20;

[[noreturn]] void reject(const std::string& what) {
    throw std::invalid_argument("sennit: " + what); // `what` begins with its id
}

unsigned checked_workers(std::uint64_t count, const char* source) {
    if (count == 0 || count > worker_limit)
        reject("[SNT-001] " + std::string(source) + " must be from 1 to " +
               std::to_string(worker_limit) + ", not " + std::to_string(count) +
               "; leave it unset to get one worker for each usable processor");
    return static_cast<unsigned>(count);
}

void complete_policy(runtime_options& given) {
    if (given.order) {
        if (given.policy != scheduling::automatic && given.policy != scheduling::sharing)
            reject("[SNT-002] runtime_options::order needs the policy sharing; set "
                   "runtime_options::policy to scheduling::sharing, or leave it unset");
        given.policy = scheduling::sharing;
    }
    if (given.policy != scheduling::automatic) return;
    given.policy = scheduling::stealing;
    const auto text = sys::environment("SENNIT_SCHEDULING");
    if (!text || *text == "stealing") return;
    if (*text == "round-robin") {
        given.policy = scheduling::round_robin;
    } else if (*text == "sharing" || *text == "priority") {
        given.policy = scheduling::sharing;
        if (*text == "priority") given.order = make_order<priority_order>;
    } else {
        reject("[SNT-003] SENNIT_SCHEDULING must be stealing, sharing, round-robin or priority, "
               "not '" +
               *text + "'");
    }
}

void complete_search_time(runtime_options& given) {
    constexpr std::chrono::microseconds longest = std::chrono::seconds(1);
    if (const auto text = sys::environment("SENNIT_SEARCH_TIME")) {
        const auto microseconds = sys::parse_count(*text);
        if (!microseconds || *microseconds > longest.count())
            reject("[SNT-043] SENNIT_SEARCH_TIME must be a number of microseconds up to 1000000, "
                   "not '" +
                   *text + "'");
        given.search_time = std::chrono::microseconds(*microseconds);
    }
    if (given.search_time < std::chrono::nanoseconds(0) || given.search_time > longest)
        reject("[SNT-044] runtime_options::search_time must be from 0 to 1 s, not " +
               std::to_string(given.search_time.count()) + " ns");
}

runtime_options completed(runtime_options given) {
    if (given.workers != 0) {
        given.workers = checked_workers(given.workers, "runtime_options::workers");
    } else if (const auto text = sys::environment("SENNIT_WORKERS")) {
        const auto count = sys::parse_count(*text);
        if (!count) reject("[SNT-004] SENNIT_WORKERS must be a number, not '" + *text + "'");
        given.workers = checked_workers(*count, "SENNIT_WORKERS");
    } else {
        given.workers = std::min(sys::usable_cpus(), worker_limit);
        if (!given.processors.empty() && given.processors.size() < given.workers)
            given.workers = static_cast<unsigned>(given.processors.size());
    }
    if (given.stack_size == 0) {
        given.stack_size = default_stack_size;
        if (const auto text = sys::environment("SENNIT_STACK_SIZE")) {
            const auto size = sys::parse_size(*text);
            if (!size)
                reject("[SNT-005] SENNIT_STACK_SIZE must be a size such as 256K or 1M, not '" +
                       *text + "'");
            given.stack_size = static_cast<std::size_t>(*size);
        }
    }
    if (const auto text = sys::environment("SENNIT_PIN")) {
        if (*text != "0" && *text != "1")
            reject("[SNT-006] SENNIT_PIN must be 0 or 1, not '" + *text + "'");
        given.pin = given.pin || *text == "1";
    }
    if (const auto text = sys::environment("SENNIT_TOPOLOGY")) {
        if (*text != "0" && *text != "1")
            reject("[SNT-045] SENNIT_TOPOLOGY must be 0 or 1, not '" + *text + "'");
        given.use_topology = *text == "1";
    }
    if (const auto text = sys::environment("SENNIT_CONSOLIDATE")) {
        if (*text != "0" && *text != "1")
            reject("[SNT-029] SENNIT_CONSOLIDATE must be 0 or 1, not '" + *text + "'");
        given.consolidate = *text == "1";
    }
    complete_search_time(given);
    complete_policy(given);
    if (const auto text = sys::environment("SENNIT_DEADLOCK")) {
        if (*text != "off" && *text != "exit")
            reject("[SNT-007] SENNIT_DEADLOCK must be off or exit, not '" + *text + "'");
        if (*text == "off") given.watch_deadlocks = false;
    }
    if (const auto text = sys::environment("SENNIT_WATCHDOG")) {
        const auto count = *text == "off" ? 0 : sys::parse_count(*text);
        if (!count || *count > spare_worker_limit)
            reject("[SNT-008] SENNIT_WATCHDOG must be off or a number of threads up to " +
                   std::to_string(spare_worker_limit) + ", not '" + *text + "'");
        given.max_spare_workers = static_cast<unsigned>(*count);
    }
    if (given.max_spare_workers > spare_worker_limit)
        reject("[SNT-009] runtime_options::max_spare_workers must be at most " +
               std::to_string(spare_worker_limit) + ", not " +
               std::to_string(given.max_spare_workers));
    if (given.max_workers == 0) given.max_workers = given.workers;
    if (given.max_workers < given.workers || given.max_workers > worker_limit)
        reject("[SNT-010] runtime_options::max_workers must be from the number of workers, " +
               std::to_string(given.workers) + ", to " + std::to_string(worker_limit) + ", not " +
               std::to_string(given.max_workers));
    if (given.max_workers != given.workers && given.policy == scheduling::round_robin)
        reject("[SNT-011] a runtime under round_robin cannot change its number of workers; choose "
               "another policy, or leave runtime_options::max_workers unset");
    // The watchdog must not use the places that `resize` relies on.
    given.max_spare_workers = std::min(given.max_spare_workers, worker_limit - given.max_workers);
    return given;
}

// The number of spare workers that `resize` or the watchdog may activate. Under `round_robin` no
// work may change its worker.
unsigned spare_count_of(const runtime_options& options) {
    if (options.policy == scheduling::round_robin) return 0;
    return options.max_workers - options.workers + options.max_spare_workers;
}

std::unique_ptr<scheduling_order> order_for(const runtime_options& options) {
    if (!options.order) return nullptr;
    auto made = options.order();
    if (!made)
        reject("[SNT-012] runtime_options::order returned null; it must return the order to use");
    return made;
}

// For a failed check: names the running fiber.
void describe_caller(char* text, std::size_t size) noexcept {
    fiber_block* me = fiber_block::current();
    if (!me) return;
    const bool named = *me->name() != '\0';
    sys::bounded_text(text, size) << "fiber " << me->id() << (named ? " '" : "") << me->name()
                                  << (named ? "', " : ", ");
}

// Called in the handler of a fault: describes whose stack has overflowed.
bool describe_overflow(const void* address, char* text, std::size_t size) noexcept {
    worker* me = this_worker();
    if (!me) return false;
    // The guard above a fork stack is also the guard below the next stack. The slot that was being
    // written tells the two apart.
    const auto* where = static_cast<const std::byte*>(address);
    const auto* slot = reinterpret_cast<const std::byte*>(free_slot()); // SAFETY: compared only.
    const bool in_fork_stack = where >= slot && where < slot + sizeof(fork_slot);
    const context* owner =
        in_fork_stack ? &me->self() : me->runtime().contexts().owner_of_guard(address);
    if (const coroutine_stack* beside = owner ? nullptr : coroutine_stack::find(address, true)) {
        const bool named = *beside->name() != '\0';
        const fiber_block* whose = fiber_block::current();
        const bool in_named = whose && *whose->name() != '\0';
        if (whose && whose->has_stack(*beside)) {
            sys::bounded_text(text, size)
                << "[SNT-041] stack overflow in " << (named ? "fiber '" : "a migratable fiber")
                << beside->name() << (named ? "'" : "") << " on worker " << me->index() << ": "
                << (beside->size() + 1023) / 1024
                << " KiB are not enough; set a larger fiber_attributes::stack_size, or recurse "
                   "less deeply";
            return true;
        }
        sys::bounded_text(text, size)
            << "[SNT-042] stack overflow in " << (named ? "coroutine '" : "a coroutine")
            << beside->name() << (named ? "'" : "") << (in_named ? " of fiber '" : "")
            << (in_named ? whose->name() : "") << (in_named ? "'" : "") << " on worker "
            << me->index() << ": " << (beside->size() + 1023) / 1024
            << " KiB are not enough; set a larger coroutine_attributes::stack_size, or recurse "
               "less deeply";
        return true;
    }
    if (!owner) return false;
    const fiber_block* fiber = owner == &me->self() ? fiber_block::current() : nullptr;
    const bool named = fiber && *fiber->name() != '\0';
    const auto bytes = static_cast<std::size_t>(owner->stack.high - owner->stack.low);
    sys::bounded_text(text, size)
        << "[SNT-040] " << (in_fork_stack ? "fork stack" : "stack") << " overflow in "
        << (named ? "fiber '" : "") << (named ? fiber->name() : "") << (named ? "', " : "")
        << "context " << owner->index << " on worker " << me->index() << ": " << bytes / 1024
        << " KiB are not enough; set a larger runtime_options::stack_size or "
           "fiber_attributes::stack_size, or recurse less deeply";
    return true;
}

} // namespace

runtime_core::runtime_core(const runtime_options& given)
    : options_(completed(given)), fork_generation_(sys::fork_generation()),
      domains_(domains_for(options_, options_.workers + spare_count_of(options_))),
      contexts_(*this, options_.stack_size), injector_(order_for(options_)),
      consolidation_(options_.consolidate && options_.policy == scheduling::stealing) {
    sys::install_atfork_handlers();
    sys::barrier_available(); // Registers the process before there are many threads: cheaper.
    sys::install_stack_overflow_handler(&describe_overflow);
    sys::set_caller_describer(&describe_caller);

    workers_.resize(options_.workers + spare_count_of(options_));
    first_contexts_.resize(workers_.size());
    for (unsigned i = 0; i < options_.workers; ++i) {
        workers_[i] = std::make_unique<worker>(*this, i, worker::kind::regular);
        first_contexts_[i] = &contexts_.take();
    }
    worker_count_with_spares_.store(options_.workers);
    unsigned started = 0;
    running_threads_.store(options_.workers);
    try {
        for (; started < options_.workers; ++started) workers_[started]->start();
        registry::add(*this);
        enrolled_in_watchdog_ = worker_capacity() != worker_count() && watchdog::enroll();
    } catch (...) {
        running_threads_.fetch_sub(options_.workers - started);
        end_workers(started);
        throw;
    }
}

runtime_core::~runtime_core() {
    if (lost_in_fork()) {
        for (auto& one : workers_)
            if (one) one->disown_thread();
        blocking_.disown();
        return;
    }
    SENNIT_CHECK(!this_worker() || &this_worker()->runtime() != this,
                 "[SNT-017] a runtime was destroyed by one of its own workers, which it would have "
                 "to wait for; destroy it in a thread that is no worker of it");
    registry::remove(*this);
    deadlock_detector::wait_for_callback(*this);
    if (enrolled_in_watchdog_) watchdog::withdraw();
    end_workers(worker_count());
    while (!SENNIT_MUTANT("the end waits for visitors") && visitors_.load() != 0)
        sys::yield_thread();
}

void runtime_core::end_workers(unsigned started) noexcept {
    stopping_.store(1);
    wake_spares_to_end();
    for (unsigned i = 0; i < worker_count_with_spares(); ++i) wake_searcher();
    for (unsigned i = 0; i < started; ++i) workers_[i]->join();
    for (unsigned i = worker_count(); i < worker_count_with_spares(); ++i)
        if (workers_[i]->thread().joinable()) workers_[i]->join();
}

event_source& runtime_core::need_events(std::unique_ptr<event_source> (*make)(runtime_core&)) {
    if (event_source* const made = events_.load()) return *made;
    std::lock_guard guard(events_mutex_);
    if (!own_events_) {
        own_events_ = make(*this);
        events_.store(own_events_.get());
    }
    return *own_events_;
}

// E2 and E3 of src/core/README.md, "Events from outside".
void runtime_core::first_event_registered() noexcept {
    if (!events()->has_poller() && !SENNIT_MUTANT("wake-up for the first descriptor")) wake_one();
}

bool runtime_core::all_parked_but(unsigned index) const noexcept {
    for (unsigned i = 0, all = worker_count_with_spares(); i < all; ++i)
        if (i != index && !idle_.is_set(i) && !workers_[i]->spare().is_inactive()) return false;
    return true;
}

unsigned runtime_core::take_near_parked(unsigned last) noexcept {
    worker* me = this_worker();
    if (me && &me->runtime() == this) {
        const worker_set& near = domains_.near_to(me->index());
        const unsigned chosen = idle_.take_any_of(near, worker_capacity(), last);
        if (chosen != idle_map::none) return chosen;
    }
    return idle_.take_any(worker_capacity(), last);
}

bool runtime_core::begin_search() noexcept {
    const std::uint32_t searching = searching_.fetch_add(1) + 1;
    if (searching * 2 <= active_worker_count() || searching == 1) return true;
    searching_.fetch_sub(1);
    return false;
}

void runtime_core::wait_for_all_workers() noexcept {
    if (running_threads_.fetch_sub(1) == 1) {
        sys::futex_wake(running_threads_, int{worker_limit});
        return;
    }
    for (std::uint32_t left = running_threads_.load(); left != 0; left = running_threads_.load())
        sys::futex_wait(running_threads_, left);
}

void runtime_core::place_worker(unsigned index) noexcept {
    if (domains_.binds() && sys::pin_this_thread(domains_.cpu_of(index))) unpinned_.fetch_add(1);
}

bool runtime_core::lost_in_fork() const noexcept {
    return fork_generation_ != sys::fork_generation();
}

void runtime_core::check_not_lost() const {
    if (lost_in_fork())
        throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                                "sennit: [SNT-016] this runtime was made before fork() and has no "
                                "threads in the child process; make a new runtime in the child");
}

void runtime_core::register_stealable(context& one, std::uint16_t affinity) noexcept {
    std::lock_guard guard(stealable_lock_);
    one.stealable_affinity = affinity;
    if (one.stealable.load_rlx()) return; // Under the lock, as are all accesses below.
    one.stealable.store_rlx(true);        // Under the lock.
    one.next_stealable = stealable_contexts_;
    stealable_contexts_ = &one;
    stealable_count_.fetch_add(1);
}

void runtime_core::unregister_stealable_slow(context& one) noexcept {
    one.runtime.remove_stealable(one);
}

void runtime_core::remove_stealable(context& one) noexcept {
    std::lock_guard guard(stealable_lock_);
    if (!one.stealable.load_rlx()) return; // Under the lock.
    context** link = &stealable_contexts_;
    while (*link != &one) link = &(*link)->next_stealable;
    *link = one.next_stealable;
    one.stealable.store_rlx(false); // Under the lock.
    stealable_count_.fetch_sub(1);
}

context* runtime_core::find_stealable_context(std::uint16_t affinity) noexcept {
    if (stealable_count_.load() == 0) return nullptr;
    std::lock_guard guard(stealable_lock_);
    for (context** link = &stealable_contexts_; context* one = *link;) {
        if (fork_range::of(one->forks.load()).empty()) {
            *link = one->next_stealable;
            one->stealable.store_rlx(false); // Under the lock.
            stealable_count_.fetch_sub(1);
        } else if (affinity == 0 || one->stealable_affinity == affinity) {
            return one;
        } else {
            link = &one->next_stealable;
        }
    }
    return nullptr;
}

std::uint16_t runtime_core::affinity_to(unsigned index) const {
    if (index >= worker_count())
        reject("[SNT-013] there is no worker " + std::to_string(index) +
               "; the runtime was started with " + std::to_string(worker_count()) +
               " workers, whose numbers begin at 0");
    return static_cast<std::uint16_t>(index + 1);
}

std::uint16_t runtime_core::next_affinity() noexcept {
    return static_cast<std::uint16_t>(next_affinity_.fetch_add(1) % worker_count() + 1);
}

void runtime_core::post(runnable& what) noexcept {
    worker* me = this_worker();
    if (me && &me->runtime() == this) return post_inside(what);
    visitors_.fetch_add(1);
    post_inside(what);
    visitors_.fetch_sub(1); // The last access to the runtime.
}

void runtime_core::post_inside(runnable& what) noexcept {
    if (what.affinity != 0 || policy() == scheduling::round_robin) return post_pinned(what);
    injector_.push(what);
    wake_one();
}

void runtime_core::post_pinned(runnable& what) noexcept {
    if (what.affinity == 0) what.affinity = next_affinity(); // Only under round_robin.
    const unsigned index = what.affinity - 1u;
    const bool affinity_is_soft = what.affinity_is_soft;
    worker_at(index).pinned_queue().push(what); // `what` may be gone from here on.
    // An awake worker may be in a long task: some worker must become the sentinel.
    if (!wake_worker(index) && affinity_is_soft && !has_sentinel()) wake_one();
    if (!affinity_is_soft && worker_at(index).spare().is_spare()) [[unlikely]]
        worker_at(index).spare().notify_inactive();
}

waker_note runtime_core::waker_note_for(worker& woken) noexcept {
    worker* const waker = this_worker();
    return waker ? waker->leave_waker_note(woken) : waker_note{};
}

std::uint64_t runtime_core::work_items() const noexcept {
    std::uint64_t sum = 0;
    for (unsigned i = 0, all = worker_count_with_spares(); i < all; ++i)
        sum += workers_[i]->counted.work_items();
    return sum;
}

runtime_metrics runtime_core::metrics() const {
    runtime_metrics sum;
    sum.workers = active_worker_count();
    sum.unpinned = unpinned_.load();
    std::size_t cached = 0;
    sum.spares_activated = spares_activated_.load();
    sum.spares_released = spares_released_.load();
    for (unsigned i = 0, all = worker_count_with_spares(); i < all; ++i) {
        const worker* one = workers_[i].get();
        const counters& from = one->counted;
        sum.published += from.published.read();
        sum.reclaimed += from.reclaimed.read();
        sum.forced += from.forced.read();
        sum.steals += from.steals.read();
        sum.far_steals += from.far_steals.read();
        sum.tasks_stolen += from.tasks_stolen.read();
        sum.tasks_injected += from.tasks_injected.read();
        sum.steal_requests += from.steal_requests.read();
        sum.scans += from.scans.read();
        sum.failed_steals += from.failed_steals.read();
        sum.suspensions += from.suspensions.read();
        sum.switches += from.switches();
        sum.parks += from.parks.read();
        sum.wakes += one->idling().wakes();
        sum.tasks_run += from.tasks_run();
        sum.remote_messages += from.remote_sends.read();
        cached += one->cached_context_count() +
                  one->spare().is_inactive(); // Includes the stack of its loop.
    }
    const context_pool::counts counts = contexts_.count();
    sum.consolidations = consolidation_.kept();
    sum.barriers = sys::barrier_count();
    if (const event_source* const from = events()) {
        const event_counts seen = from->counts();
        sum.events = seen.events;
        sum.event_polls = seen.polls;
        sum.event_waits = seen.waits;
    }
    sum.stacks_made = counts.made;
    sum.stacks_cached = counts.idle + cached;
    sum.stacks_live = counts.made > sum.stacks_cached ? counts.made - sum.stacks_cached : 0;
    return sum;
}

} // namespace sennit::sched

namespace sennit {

std::vector<unsigned> cpus_of_node(unsigned node) {
    auto found = sys::node_cpus(node);
    if (!found)
        throw std::invalid_argument("sennit: [SNT-015] there is no NUMA node " +
                                    std::to_string(node) + "; see /sys/devices/system/node");
    return *std::move(found);
}

} // namespace sennit
