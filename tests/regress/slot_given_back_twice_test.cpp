// SPDX-License-Identifier: Apache-2.0
// A message that reached an actor in the moment of its end started a batch of its own on another
// worker. That batch freed the mailbox's slot a second time, and two later actors had one mailbox.
// The window is an instruction wide; ThreadSanitizer sees the race.
#include "sennit/actor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace slot_given_back_twice {
namespace {

struct note {};
struct idle : sennit::actor<idle, note> {
    void on(note) {}
};

TEST(regress, message_that_races_with_an_end_frees_a_slot_once) {
    const auto silent = sennit::set_dead_letter_handler(nullptr);
    sennit::runtime runtime({.workers = 2});
    for (int round = 0; round < 20; ++round) {
        sennit::actor_group group(runtime);
        // The topic reaches each actor that still lives.
        sennit::topic<note> all;
        std::atomic<bool> over{false};
        std::thread sender([&] {
            while (!over) all.publish(note{});
        });
        for (int i = 0; i < 100; ++i) {
            auto one = group.spawn<idle>();
            all.subscribe(one);
            one.kill();
        }
        group.join();
        over = true;
        sender.join();
        std::set<std::uint32_t> slots;
        for (int i = 0; i < 300; ++i)
            EXPECT_TRUE(slots.insert(group.spawn<idle>().address().slot).second);
    }
    sennit::set_dead_letter_handler(silent);
}

} // namespace
} // namespace slot_given_back_twice
