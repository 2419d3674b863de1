// SPDX-License-Identifier: Apache-2.0
#include "explorer/sim.hpp"

#include "sennit/detail/sys/spin_lock.hpp"

#include <mutex>

namespace sim = sennit::sim;

SIM_SCENARIO(spin_lock, lets_one_in_at_a_time) {
    sennit::base::spin_lock lock;
    sim::var<int> count{0};
    sim::in_threads(2, [&](unsigned) {
        std::lock_guard guard(lock);
        count = count + 1;
    });
    sim::check(count == 2, "both have counted");
}

SIM_SCENARIO(spin_lock, lets_in_who_only_tries_or_not) {
    sennit::base::spin_lock lock;
    sim::var<int> count{0};
    sennit::base::atomic<int> let_in{0};
    sim::in_threads(2, [&](unsigned) {
        if (!lock.try_lock()) return;
        count = count + 1;
        let_in.fetch_add(1);
        lock.unlock();
    });
    sim::check(let_in.load() >= 1 && count == let_in.load(), "whoever was let in has counted");
}
