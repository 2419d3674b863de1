// SPDX-License-Identifier: Apache-2.0
// The interface for scenarios. tests/sim/README.md shows a scenario from start to end.
//
//     SIM_SCENARIO(spin_lock, spin_lock_admits_one_thread_at_a_time) {
//         base::spin_lock lock;
//         sim::var<int> count{0};
//         sim::in_threads(2, [&](unsigned) {
//             std::lock_guard guard(lock);
//             count = count + 1;
//         });
//         sim::check(count == 2, "both have counted");
//     }
//
// The body runs once for each explored execution, from the start, in simulated thread 0. It must be
// deterministic except for the decisions of the explorer: no time, no addresses, no random numbers
// of its own. It must destroy everything that it creates.
#pragma once

#include "world.hpp"

#include <functional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace sennit::sim {

// Ends the execution as failed unless `holds`.
inline void check(bool holds, const char* what) {
    if (!holds) world::the().fail(std::string("not true: ") + what);
}

// A simulated thread. It must be joined.
class thread {
public:
    explicit thread(std::function<void()> body)
        : number_(world::the().start_thread(std::move(body))) {}
    void join(place where = place::current()) { world::the().join_thread(number_, where); }

private:
    unsigned number_;
};

// Runs body(0), …, body(count - 1), each in its own thread, and waits for all.
inline void in_threads(unsigned count, const std::function<void(unsigned)>& body) {
    std::vector<thread> threads;
    for (unsigned i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
    for (thread& one : threads) one.join();
}

// A plain variable on which the explorer finds races.
template <class T>
class var {
public:
    var() = default;
    explicit var(T value) : value_(std::move(value)) {
        world::the().plain_write(data_, place::current());
    }
    const T& get(place where = place::current()) const {
        world::the().plain_read(data_, where);
        return value_;
    }
    void set(T value, place where = place::current()) {
        world::the().plain_write(data_, where);
        value_ = std::move(value);
    }
    operator const T&() const { return get(); }
    var& operator=(T value) {
        set(std::move(value));
        return *this;
    }

private:
    mutable world::plain data_;
    T value_{};
};

// Names a word in traces.
inline void name(const void* address, std::string text) {
    world::the().name(address, std::move(text));
}

// Runs `body`, and then all other threads until they wait, without exploring any of it. For the
// part before the interesting one.
inline void calmly(const std::function<void()>& body) {
    world& all = world::the();
    all.calm(true);
    body();
    while (all.others_ready()) all.yield(place::current());
    all.calm(false);
}

// From here on the explorer explores nothing more. For the part after the interesting one.
inline void calm_from_here() {
    world::the().calm_for_good();
}

// Sleeps until the first thread that sleeps with a deadline wakes, and races with it. Never returns
// if there is no such thread.
inline void sleep_with_the_next(place where = place::current()) {
    const std::uint32_t word = 0;
    (void)world::the().wait(&word, 0, 0, world::the().next_deadline(), where);
}

// `look` is called when no thread can continue. A text means that work is left while all threads
// sleep; an empty text means that none is left.
inline void when_stuck(std::function<std::string()> look) {
    world::the().when_stuck(std::move(look));
}

// ---- registration

struct bounds {
    unsigned preemptions = 2;
    unsigned stale_reads = 2;
    std::uint64_t steps = 20'000;
    // Preempt only at operations in these files, separated by blanks; null: everywhere.
    const char* preempt_in = nullptr;
    // True if the system supports membarrier.
    bool membarrier = true;
    // True: the elision of locked instructions is on (sennit/detail/sys/single_threaded.hpp).
    bool elision = false;
};
constexpr bounds fenced(bounds within) {
    within.membarrier = false;
    return within;
}

struct scenario {
    const char* group; // the explored part: "fork_stack", "parker", …
    const char* name;
    void (*body)();
    bounds within;
    // For a known bug: the text that the failure must contain.
    const char* expected = nullptr;
    const char* story = nullptr;
};

std::vector<scenario>& scenarios();

struct registration {
    explicit registration(scenario one) { scenarios().push_back(one); }
};

} // namespace sennit::sim

#define SIM_SCENARIO_WITHIN(group, name, ...)                                                      \
    static void sim_##group##_##name();                                                            \
    static const ::sennit::sim::registration sim_registered_##group##_##name(                      \
        {#group, #name, &sim_##group##_##name, ::sennit::sim::bounds{__VA_ARGS__}, nullptr,        \
         nullptr});                                                                                \
    static void sim_##group##_##name()
#define SIM_SCENARIO(group, name) SIM_SCENARIO_WITHIN(group, name)

// Explores the scenario also as `name_fenced`, in a process to which the system refuses membarrier
// (biased_lock::always_contended).
#define SIM_SCENARIO_BOTH_WAYS(group, name, ...)                                                   \
    static void sim_##group##_##name();                                                            \
    static const ::sennit::sim::registration sim_registered_fenced_##group##_##name(               \
        {#group, #name "_fenced", &sim_##group##_##name, ::sennit::sim::fenced({__VA_ARGS__}),     \
         nullptr, nullptr});                                                                       \
    SIM_SCENARIO_WITHIN(group, name, __VA_ARGS__)

// A famous bug, rebuilt: the explorer must find a failure whose text contains `expected`.
#define SIM_KNOWN_BUG(name, expected, story)                                                       \
    static void sim_known_bug_##name();                                                            \
    static const ::sennit::sim::registration sim_registered_known_bug_##name(                      \
        {"known_bugs", #name, &sim_known_bug_##name, ::sennit::sim::bounds{}, expected, story});   \
    static void sim_known_bug_##name()
