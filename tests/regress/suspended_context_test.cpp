// SPDX-License-Identifier: Apache-2.0
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

namespace {

// A context that suspended with forks that were public already, but not stolen, was not offered to
// thieves. Its child never ran, and every worker slept.
TEST(regress, thieves_see_public_forks_of_a_suspended_context) {
    for (unsigned workers : {1u, 2u, 3u}) {
        sennit::runtime runtime({.workers = workers});
        for (int round = 0; round < 2000; ++round)
            runtime.run([] {
                sennit::sched::one_shot event;
                // This fork answers the steal request of a thief.
                sennit::fork_join([] {}, [] {});
                sennit::fork_join([&] { event.wait(); }, [&] { event.finish(); });
            });
    }
}

} // namespace
