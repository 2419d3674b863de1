// SPDX-License-Identifier: Apache-2.0
// The decisions at the program's choice points: the thread that runs next, and the age of the value
// that a load returns.
//
// The world asks only where there is more than one option, and the options do not depend on the
// strategy. So the list of all decisions of an execution, given to `replay`, repeats it exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace sennit::sim {

// The simulated threads to choose from; bit t stands for thread t.
using thread_set = std::uint32_t;

struct thread_choice {
    thread_set all;  // may be chosen
    thread_set free; // choosing one of these costs no preemption; never empty
    unsigned usual;  // a free thread: the running one, if it can continue
};

class strategy {
public:
    virtual ~strategy() = default;
    // Before each execution; false when there is nothing left to try.
    virtual bool begin() = 0;
    virtual unsigned choose_thread(const thread_choice& from) = 0; // returns a member of `all`
    virtual unsigned choose_age(unsigned count) = 0; // returns 0 (the newest) to count - 1
    // A thread waits in a loop for another thread.
    virtual void yielded(unsigned /*thread*/) {}
    // The set of preemption points has changed: earlier executions do not count.
    virtual void begin_again() {}
    virtual bool complete() const { return false; } // all executions within the bounds were tried
};

// Depth-first: all executions with a bounded number of preemptions and stale reads. Complete.
std::unique_ptr<strategy> depth_first(unsigned preemptions, unsigned stale_reads);

// Decides at random, with equal probability for every option (stale values: one time in eight).
std::unique_ptr<strategy> random_walk(std::uint64_t seed, std::uint64_t executions);

// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010):
// random priorities, of which depth - 1 are lowered at random decisions. Finds a bug of that depth
// with probability at least 1 / (threads * decisions ^ (depth - 1)) in each execution.
std::unique_ptr<strategy> pct(unsigned depth, std::uint64_t seed, std::uint64_t executions);

// Repeats one execution. `decisions` are those of `outcome::decisions`; behind their end the usual
// options are taken.
std::unique_ptr<strategy> replay(std::vector<std::uint8_t> decisions);

} // namespace sennit::sim
