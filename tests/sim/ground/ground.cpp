// SPDX-License-Identifier: Apache-2.0
// The platform layer (src/sys) for simulated threads: the explorer answers the library's requests
// to the system. Compiled, with descriptors.cpp, instead of clock, event_set, futex,
// thread_suspender, worker_tls, membarrier, stack_overflow, spin_pause, stack, kernel_threads,
// thread, thread_registration, topology and check.
#include "ground.hpp"

#include "descriptors.hpp"

#include "explorer/world.hpp"

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/coroutine_stack.hpp"
#include "sennit/detail/sys/cpu_relax.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/detail/sys/ticks.hpp"
#include "sennit/detail/sys/worker_tls.hpp"
#include "sys/check.hpp"
#include "sys/clock.hpp"
#include "sys/futex.hpp"
#include "sys/kernel_threads.hpp"
#include "sys/membarrier.hpp"
#include "sys/single_threaded.hpp"
#include "sys/stack.hpp"
#include "sys/stack_overflow.hpp"
#include "sys/thread.hpp"
#include "sys/thread_suspender.hpp"
#include "sys/topology.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace sennit::sim {

namespace {

// The last line serves code that runs outside an execution.
std::array<sys::worker_tls, max_threads + 1> worker_tls_of_threads;

// A thread uses its registration only in scenarios that explore the elision.
std::array<base::thread_registration, max_threads> registrations;

// Stacks outlive executions, because an abandoned execution never returns its stacks.
constexpr std::size_t pool_stack_bytes = std::size_t{64} << 10;
constexpr std::size_t beside_bytes = std::size_t{16}
                                     << 10; // of these, a context and its fork slots
std::vector<std::byte*> all_stacks;
std::vector<std::byte*> idle_stacks;
std::size_t fresh = 0;
std::size_t taken = 0;
bool yield_at_barriers = false;
bool barriers_refused = false;
bool late_looks_allowed = false;
bool guests_allowed = false;
std::size_t process_wide = 0;

} // namespace

void reset_platform() noexcept {
    for (sys::worker_tls& one : worker_tls_of_threads) std::construct_at(&one);
    for (base::thread_registration& one : registrations) std::construct_at(&one);
    std::construct_at(&sys::process_mode);
    idle_stacks.clear();
    fresh = 0;
    taken = 0;
    yield_at_barriers = false;
    barriers_refused = false;
    late_looks_allowed = false;
    guests_allowed = false;
    refuse_memory(false);
    reset_descriptors();
}

void thread_ends() noexcept {
    base::unregister_this_thread();
}

void barriers_yield() noexcept {
    yield_at_barriers = true;
}

void allow_late_looks() noexcept {
    late_looks_allowed = true;
}
void allow_guests() noexcept {
    guests_allowed = true;
}
namespace hooks {
bool looks_may_be_late() noexcept {
    return late_looks_allowed;
}
} // namespace hooks

void refuse_barriers() noexcept {
    barriers_refused = true;
}

std::size_t live_stacks() noexcept {
    return taken;
}

std::size_t coroutine_stacks_made() noexcept {
    return process_wide;
}

void hooks::pause() noexcept {
    if (world::running()) world::the().yield(place::current());
}

} // namespace sennit::sim

namespace sennit::base {

void fail(const char* message, const char* file, int line) noexcept {
    sim::world::the().fail(std::string(message) + " (" + file + ":" + std::to_string(line) + ")");
}

void spin_pause(unsigned) noexcept {
    sim::hooks::pause();
}

// All simulated threads run on one thread, whose count would differ between executions.
std::uint32_t contended_locks() noexcept {
    return 0;
}
void note_contended_lock() noexcept {}

thread_registration* own_registration() noexcept {
    const sim::world& all = sim::world::the();
    return all.running() && all.elides() ? &sim::registrations[all.current()] : nullptr;
}

} // namespace sennit::base

namespace sennit::sys {

using sim::place;
using sim::world;

worker_tls& tls() noexcept {
    return sim::worker_tls_of_threads[std::min(world::the().current(), sim::max_threads)];
}
worker_tls& own_worker_tls() noexcept {
    return tls();
}

void unregister_at_thread_end() noexcept {} // sim::thread_ends does it

void set_caller_describer(caller_describer) noexcept {}

std::int64_t now_ns() noexcept {
    return world::the().now();
}
std::int64_t coarse_now_ns() noexcept {
    return 0; // only reports ask
}
std::uint64_t ticks() noexcept {
    return static_cast<std::uint64_t>(world::the().now());
}

void futex_wait(const base::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    world::the().wait(&word, *word.futex_address(), expected, world::never, place::current());
}

bool futex_wait_until(const base::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::int64_t deadline) noexcept {
    return world::the().wait(&word, *word.futex_address(), expected, deadline, place::current());
}

void futex_wake(const base::atomic<std::uint32_t>& word, int count) noexcept {
    world::the().wake(&word, count, place::current());
}

bool barrier_available() noexcept {
    return world::the().has_membarrier();
}
bool barrier_all_threads() noexcept {
    if (!barrier_available() || sim::barriers_refused) return false;
    world::the().barrier_all(place::current());
    if (sim::yield_at_barriers) yield_thread();
    return true;
}
std::uint64_t barrier_count() noexcept {
    return 0; // No scenario reads this metric.
}

// ---- threads

thread::thread(void (*entry)(void*) noexcept, void* argument)
    : handle_(world::the().start_thread([=] {
          std::construct_at(&tls()); // the thread's own line, as the system would construct it
          entry(argument);
      })),
      joinable_(true) {}
void thread::detach() noexcept {
    joinable_ = false; // No scenario looks names up.
}

void thread::join() noexcept {
    if (std::exchange(joinable_, false))
        world::the().join_thread(static_cast<unsigned>(handle_), place::current());
}
void thread::set_name(const char*) noexcept {}
void thread::minimize_timer_slack() noexcept {}
std::error_code pin_this_thread(unsigned) noexcept {
    return {};
}
void yield_thread() noexcept {
    sim::hooks::pause();
}
void allow_thread_suspension() noexcept {}
void install_thread_suspender() noexcept {}
int thread_suspender_signal() noexcept {
    return 0;
}
bool thread_suspender::request(pthread_t) noexcept {
    return false;
}
bool thread_suspender::wait_until(pthread_t, std::int64_t) noexcept {
    return false;
}
void thread_suspender::resume() noexcept {}
void with_loader_locked(void (*function)(void*), void* argument) noexcept {
    function(argument);
}
os_thread_id this_os_thread() noexcept {
    return static_cast<os_thread_id>(world::the().current()) + 1;
}
pthread_t this_thread_handle() noexcept {
    return static_cast<pthread_t>(world::the().current());
}
bool is_main_thread() noexcept {
    return sim::guests_allowed && world::the().current() == 0;
}
process_id this_process() noexcept {
    return 1;
}
// The answer makes the watchdog judge a worker by its counters alone: a worker that has not moved
// between two checks counts as stuck. Any interleaving may lie between the checks, so this covers
// every possible answer of the system.
bool is_blocked(os_thread_id) noexcept {
    return true;
}
std::int64_t cpu_time_ns(pthread_t) noexcept {
    return 0;
}
std::vector<os_thread_id> list_os_threads() {
    return {};
}
bool catches_signals(int, int) noexcept {
    return false;
}
void end_process(int status) noexcept {
    std::_Exit(status);
}
void install_atfork_handlers() {}
unsigned fork_generation() noexcept {
    return 0;
}

void install_stack_overflow_handler(fault_describer) noexcept {}
signal_stack::signal_stack() : memory_(nullptr), bytes_(0) {}
signal_stack::~signal_stack() = default;

unsigned usable_cpus(const std::string&) {
    return 2;
}
std::vector<unsigned> affinity_cpus() {
    return {};
}
std::optional<std::vector<unsigned>> node_cpus(unsigned, const std::string&) {
    return {};
}
std::optional<double> cgroup_cpu_quota(const std::string&) {
    return {};
}

// ---- stacks

stack_source::stack_source(std::size_t usable_size, std::size_t beside)
    : usable_(usable_size), beside_(beside), stride_(sim::pool_stack_bytes),
      guards_(guard_kind::none) {}
stack_source::~stack_source() = default;

stack stack_source::take() {
    sim::explorers_own guard;
    std::byte* low = nullptr;
    if (usable_ == sched::coroutine_stack_size) { // these stacks live as long as the process
        low = static_cast<std::byte*>(std::aligned_alloc(4096, sim::pool_stack_bytes));
        if (!low) throw std::bad_alloc();
        ++sim::process_wide;
        return {low, low + sim::pool_stack_bytes, low + sim::pool_stack_bytes};
    }
    if (!sim::idle_stacks.empty()) {
        low = sim::idle_stacks.back();
        sim::idle_stacks.pop_back();
    } else {
        if (sim::fresh == sim::all_stacks.size()) {
            low = static_cast<std::byte*>(std::aligned_alloc(4096, sim::pool_stack_bytes));
            if (!low) throw std::bad_alloc();
            sim::all_stacks.push_back(low);
        }
        low = sim::all_stacks[sim::fresh++];
    }
    ++sim::taken;
    std::byte* const end = low + sim::pool_stack_bytes;
    return {low, beside_ == 0 ? end : end - sim::beside_bytes, end};
}

void stack_source::give(stack used) noexcept {
    sim::explorers_own guard;
    sim::idle_stacks.push_back(used.low);
    --sim::taken;
}

void stack_source::trim() noexcept {}
std::size_t stack_source::live() const noexcept {
    return sim::taken;
}
std::size_t stack_source::cached() const noexcept {
    return sim::idle_stacks.size();
}
std::size_t stack_source::unguarded() const noexcept {
    return 0;
}
std::size_t touched_bytes(stack) noexcept {
    return 0;
}

} // namespace sennit::sys
