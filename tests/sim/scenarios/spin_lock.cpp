// SPDX-License-Identifier: Apache-2.0
#include "explorer/sim.hpp"

#include "sennit/detail/sys/spin_lock.hpp"

#include <mutex>

namespace sim = sennit::sim;

SIM_SCENARIO(spin_lock, spin_lock_admits_one_thread_at_a_time) {
    sennit::base::spin_lock lock;
    sim::var<int> count{0};
    sim::in_threads(2, [&](unsigned) {
        std::lock_guard guard(lock);
        count = count + 1;
    });
    sim::check(count == 2, "both threads have counted");
}

SIM_SCENARIO(spin_lock, try_lock_enters_or_fails) {
    sennit::base::spin_lock lock;
    sim::var<int> count{0};
    sennit::base::atomic<int> let_in{0};
    sim::in_threads(2, [&](unsigned) {
        if (!lock.try_lock()) return;
        count = count + 1;
        let_in.fetch_add(1);
        lock.unlock();
    });
    sim::check(let_in.load() >= 1 && count == let_in.load(), "each admitted thread has counted");
}
