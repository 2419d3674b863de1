// SPDX-License-Identifier: Apache-2.0
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

namespace {

// A context that suspended with forks which were public already, but not stolen, was not offered to
// thieves: its child was never run, and everybody slept.
TEST(regress, public_forks_of_a_suspended_context_stay_in_sight) {
    for (unsigned workers : {1u, 2u, 3u}) {
        sennit::runtime runtime({.workers = workers});
        for (int round = 0; round < 2000; ++round)
            runtime.run([] {
                sennit::sched::one_shot event;
                sennit::fork_join([] {}, [] {}); // answers a thief that asks
                sennit::fork_join([&] { event.wait(); }, [&] { event.finish(); });
            });
    }
}

} // namespace
