// SPDX-License-Identifier: Apache-2.0
// One execution: simulated threads on their own stacks, of which exactly one runs, in one thread of
// the system.
//
// Every operation on an atomic word and every call that may wait is a choice point, at which the
// strategy chooses the thread that continues. A violation on the way (a race, a deadlock, a failed
// check) ends the execution immediately, and its stacks are abandoned. Scenarios use sim.hpp; the
// simulated atomics and the platform layer use this header.
#pragma once

#include "clock.hpp"
#include "memory.hpp"
#include "order.hpp"
#include "places.hpp"
#include "strategy.hpp"
#include "trace.hpp"

#include "sys/switch.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace sennit::sim {

// The result of one execution.
struct outcome {
    bool failed = false;
    std::string what;        // one line
    std::uint64_t steps = 0; // choice points passed
    // Threads met at a place where they were not known to meet: the search begins again.
    bool met_anew = false;
    std::vector<std::uint8_t> decisions; // for replay
};

// Returns the path in the tree: "src/core/wait/wait.cpp", "sennit/event.hpp". Objects may come from
// compilers that were told the folder in different ways.
const char* in_tree(const char* file) noexcept;

// One weakening of the program, switched on without a new compilation.
struct mutant {
    std::string file; // of the place, in_tree, or empty
    unsigned line = 0;
    unsigned column = 0;
    order becomes = order::seq_cst;
    // Names a SENNIT_MUTANT in the sources, instead of a place.
    std::string named;
};

// A place in the program at which an atomic operation was seen.
struct site {
    place where;
    operation what;
    order with;

    const void* key() const noexcept { return std::bit_cast<const void*>(where); }
    bool operator<(const site& other) const noexcept {
        return std::tuple(key(), what, with) < std::tuple(other.key(), other.what, other.with);
    }
};

class world {
public:
    static world& the() noexcept { return only; }
    // True if a simulated thread runs. Otherwise atomics are plain words.
    static bool running() noexcept { return hooks::running; }

    struct limits {
        std::uint64_t steps = 20'000; // an execution with more steps is called a livelock
        // The files, separated by blanks, at whose operations a thread may be preempted.
        const char* preempt_in = nullptr;
        bool membarrier = true;
        // True: locks elide their locked instructions while one thread is registered.
        bool elision = false;
        // the places at which threads are preempted; learned from each execution
        places* meeting = nullptr;
    };
    // With a trace to fill, threads are preempted everywhere; otherwise only at the places where
    // they are known to meet.
    outcome& run(const std::function<void()>& scenario, strategy& by, limits within, trace* into);

    // ---- for the simulated atomics
    std::uint64_t load(const void* address, std::uint64_t value, order with, place where);
    void store(const void* address, std::uint64_t before, std::uint64_t value, order with,
               place where);
    // A read-modify-write: `begin_update` returns the newest value; one of the other two ends the
    // update.
    std::uint64_t begin_update(const void* address, std::uint64_t value, operation what, order with,
                               place where);
    void end_update(std::uint64_t value);
    void abandon_update(order failure);
    void construct(const void* address, std::uint64_t value);
    void destroy(const void* address);

    // ---- for plain data
    struct plain {
        instant written_at = 0;
        std::uint8_t written_by = 0;
        clock read_at = clock_not_yet();
    };
    void plain_read(plain& data, place where);
    void plain_write(plain& data, place where);
    plain& plain_at(const void* address); // for memory that the library marks itself

    // ---- for the platform layer
    unsigned current() const noexcept { return current_; }
    unsigned start_thread(std::function<void()> body);
    void join_thread(unsigned other, place where);
    void yield(place where);
    // Futex. False when `deadline` has passed: time passes only while no thread can continue.
    static constexpr std::int64_t never = INT64_MAX;
    bool wait(const void* address, std::uint64_t value, std::uint32_t expected,
              std::int64_t deadline, place where);
    void wake(const void* address, int count, place where);
    bool has_membarrier() const noexcept { return limits_.membarrier; }
    bool elides() const noexcept { return limits_.elision; }
    void barrier_all(place where); // membarrier: every thread knows all earlier operations
    std::int64_t now();
    // While calm, the strategy decides nothing: the usual thread runs, and loads see the newest
    // value.
    void calm(bool on);
    void calm_for_good();
    // The deadline of the first thread that sleeps with a deadline; `never`: there is none.
    std::int64_t next_deadline() const noexcept;
    // The next thread that is started begins to run only when it is released, as on a busy machine.
    void hold_next_thread() noexcept { hold_next_ = true; }
    void release_threads() noexcept;
    bool others_ready() const noexcept { return (ready_ & ~(1u << current_)) != 0; }

    // ---- for all of them
    [[noreturn]] void fail(const std::string& what);
    void note(place where, const std::string& text);
    void name(const void* address, std::string text);
    // `look` is called when no thread can continue. It returns a problem beyond the deadlock, or
    // nothing.
    void when_stuck(std::function<std::string()> look) { stuck_ = std::move(look); }

    // ---- mutants
    void set_mutant(const mutant* one) noexcept {
        mutant_ = one;
        special_ = mutant_ || sites_ || names_;
    }
    bool mutated(const char* named) noexcept;
    // Records each operation and each marked step that is met; null: stops recording.
    void record(std::set<site>* operations, std::set<std::string>* steps) noexcept {
        sites_ = operations;
        names_ = steps;
        special_ = mutant_ || sites_ || names_;
    }

private:
    world() = default;
    static world only;
    static constexpr unsigned nobody = ~0u;
    enum class state : std::uint8_t { none, held, ready, waiting, joining, ended };
    struct thread {
        sys::machine_context machine;
        state is = state::none;
        bool yielded = false;
        unsigned joins = 0;
        const void* waits_on = nullptr;
        std::int64_t deadline = never;
        bool timed_out = false;
        // Its last step, for people.
        place where;
        // Its last operation, at which it could be preempted.
        place acted;
        // The word of that operation, as for places::of.
        std::uint32_t acted_on = 0;
        clock known{};
        std::function<void()> body;
    };

    thread& me() noexcept { return threads_[current_]; }
    void point(place at, std::uint32_t word, bool shared, bool in_list);
    void decided(unsigned what);
    void point_anyway(place at);
    void step(place at, std::uint32_t word);
    void give_way(bool can_go_on);
    void become(unsigned number, state what) noexcept;
    void run_as(unsigned number) noexcept;
    // The part before the first decision is equal in all executions.
    bool touches_count() const noexcept { return !over_ && !outcome_.decisions.empty(); }
    void touch(std::uint32_t what, bool writes, const places::entry& at);
    word& usable(word& found);
    void touch_here(std::uint32_t what, bool writes);
    instant tick();
    void switch_to(unsigned next);
    [[noreturn]] static void thread_main() noexcept;
    void end_thread();
    word& access(const void* address, std::uint64_t value, place where, bool writes,
                 bool may_wait = false);
    order effective(operation what, order with, place where);
    [[noreturn]] void stuck();
    bool let_time_pass();

    memory memory_;
    places* meeting_ = nullptr;
    thread_set ready_ = 0;
    std::uint64_t switches_ = 0;
    // The number of words that existed at the first decision.
    std::uint32_t old_words_ = UINT32_MAX;
    std::array<thread, max_threads> threads_;
    std::array<std::byte*, max_threads> stacks_{};
    unsigned count_ = 0;
    unsigned current_ = nobody;
    strategy* strategy_ = nullptr;
    limits limits_{};
    outcome outcome_;
    sys::machine_context driver_;
    std::int64_t time_ = 0;
    std::int64_t tick_ = 60'000; // between two clock reads: longer than a worker spins
    bool calm_ = false;
    bool over_ = false; // calm from here to the end
    bool hold_next_ = false;
    std::unordered_map<const void*, plain> plains_;
    std::function<std::string()> stuck_;

    word* updating_ = nullptr;
    order update_order_ = order::seq_cst;
    operation update_what_ = operation::cas;
    place update_where_;

    const mutant* mutant_ = nullptr;
    std::set<site>* sites_ = nullptr;
    std::set<std::string>* names_ = nullptr;
    bool special_ = false; // one of the next three is set
    trace* trace_ = nullptr;
};

} // namespace sennit::sim
