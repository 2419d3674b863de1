// SPDX-License-Identifier: Apache-2.0
// One execution: simulated threads on stacks of their own, of which exactly one runs, in one thread of the system.
//
// Every operation on an atomic word and every call that may wait is a choice point: there the strategy says who goes
// on. What is seen on the way (a race, a deadlock, a failed check) ends the execution at once; its stacks are
// abandoned. Scenarios use sim.hpp; the simulated atomics and the ground layer use this header.
#pragma once

#include "clock.hpp"
#include "memory.hpp"
#include "order.hpp"
#include "strategy.hpp"
#include "trace.hpp"

#include "sys/switch.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace sennit::sim {

// What one execution came to.
struct outcome {
    bool failed = false;
    std::string what;                    // one line
    std::uint64_t steps = 0;             // choice points passed
    std::vector<std::uint8_t> decisions; // for replay
};

// One weakening of the program, switched on without compiling anew.
struct mutant {
    std::string file; // the place's, or empty
    unsigned line = 0;
    unsigned column = 0;
    order becomes = order::seq_cst;
    std::string named; // of a SENNIT_MUTANT in the sources, instead of a place
};

// A place in the program at which an atomic operation was seen.
struct site {
    place where;
    operation what;
    order with;
};

class world {
public:
    static world& the() noexcept;
    // Whether a simulated thread runs. Otherwise atomics are plain words.
    static bool running() noexcept { return the().current_ != nobody; }

    struct limits {
        std::uint64_t steps = 20'000;     // more are called a livelock
        const char* preempt_in = nullptr; // files, separated by blanks, at whose operations a thread may be preempted
        bool membarrier = true;
    };
    outcome run(const std::function<void()>& scenario, strategy& by, limits within, trace* into);

    // ---- for the simulated atomics
    std::uint64_t load(const void* address, std::uint64_t value, order with, place where);
    void store(const void* address, std::uint64_t before, std::uint64_t value, order with, place where);
    // A read-modify-write: `begin_update` returns the newest value, one of the other two ends it.
    std::uint64_t begin_update(const void* address, std::uint64_t value, operation what, order with, place where);
    void end_update(std::uint64_t value);
    void abandon_update(order failure);
    void construct(const void* address, std::uint64_t value);
    void destroy(const void* address);

    // ---- for plain data
    struct plain {
        std::uint32_t written_at = 0;
        std::uint8_t written_by = 0;
        std::array<std::uint32_t, max_threads> read_at{};
    };
    void plain_read(plain& data, place where);
    void plain_write(plain& data, place where);
    plain& plain_at(const void* address); // for memory that the library marks itself

    // ---- for the ground layer
    unsigned current() const noexcept { return current_; }
    unsigned start_thread(std::function<void()> body);
    void join_thread(unsigned other, place where);
    void yield(place where);
    // Futex. False when `deadline` has passed: time does so only while nobody else can go on.
    static constexpr std::int64_t never = INT64_MAX;
    bool wait(const void* address, std::uint64_t value, std::uint32_t expected, std::int64_t deadline, place where);
    void wake(const void* address, int count, place where);
    bool has_membarrier() const noexcept { return limits_.membarrier; }
    void barrier_all(place where); // membarrier: everybody knows what has been done so far
    std::int64_t now() noexcept { return time_ += tick_; }
    // While calm, nothing is left to the strategy: the usual thread runs, and loads see the newest value.
    void calm(bool on) noexcept { calm_ = on; }
    // The next thread that is started comes to run only when it is released, as on a busy machine.
    void hold_next_thread() noexcept { hold_next_ = true; }
    void release_threads() noexcept;
    bool others_ready() const noexcept { return (ready() & ~(1u << current_)) != 0; }

    // ---- for everybody
    [[noreturn]] void fail(const std::string& what);
    void note(place where, const std::string& text);
    void name(const void* address, std::string text);
    // Called when nobody can go on; says what is wrong beyond the deadlock, or nothing.
    void when_stuck(std::function<std::string()> look) { stuck_ = std::move(look); }

    // ---- mutants
    void set_mutant(const mutant* one) noexcept { mutant_ = one; }
    bool mutated(const char* named) noexcept;
    std::vector<site>* record_sites = nullptr;
    std::vector<std::string>* record_names = nullptr;

private:
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
        place where;
        clock known{};
        std::function<void()> body;
    };

    thread& me() noexcept { return threads_[current_]; }
    void point(place where);
    void step(place where);
    void give_way(bool can_go_on);
    bool may_preempt_at(place where);
    void switch_to(unsigned next);
    [[noreturn]] static void thread_main() noexcept;
    void end_thread();
    word& access(const void* address, std::uint64_t value, place where);
    order effective(operation what, order with, place where);
    [[noreturn]] void stuck();
    bool let_time_pass();
    thread_set ready() const noexcept;

    memory memory_;
    std::array<thread, max_threads> threads_;
    std::array<std::byte*, max_threads> stacks_{};
    unsigned count_ = 0;
    unsigned current_ = nobody;
    strategy* strategy_ = nullptr;
    limits limits_{};
    outcome outcome_;
    sys::machine_context driver_;
    std::int64_t time_ = 0;
    std::int64_t tick_ = 60'000; // between two looks at the clock: longer than a worker spins
    bool calm_ = false;
    bool hold_next_ = false;
    std::unordered_map<const void*, plain> plains_;
    std::unordered_map<const char*, bool> preemptible_; // by the address of the file's name, for the list below
    const char* preempt_in_known_ = nullptr;
    std::function<std::string()> stuck_;

    word* updating_ = nullptr;
    order update_order_ = order::seq_cst;
    operation update_what_ = operation::cas;
    place update_where_;

    const mutant* mutant_ = nullptr;
    trace* trace_ = nullptr;
};

} // namespace sennit::sim
