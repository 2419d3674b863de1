// SPDX-License-Identifier: Apache-2.0
// Mail that reached an actor in the moment of its end made a turn of its own, on another worker,
// which gave the mailbox's slot back a second time: two later actors had one mailbox. The window is
// an instruction wide; ThreadSanitizer sees the race.
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

TEST(regress, mail_that_meets_an_end_gives_a_slot_back_once) {
    const auto silent = sennit::set_dead_letter_handler(nullptr);
    sennit::runtime runtime({.workers = 2});
    for (int round = 0; round < 20; ++round) {
        sennit::actor_group group(runtime);
        sennit::topic<note> all; // tells whoever still lives
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
