// SPDX-License-Identifier: Apache-2.0
// expect-error: this actor does not accept that message
// A timer sends a message that its receiver does not accept.
#include "sennit/actor.hpp"

#include <chrono>

struct tick {};
struct tock {};
struct clock_hand : sennit::actor<clock_hand, tick> {
    void on(tick) {}
};

void use(const sennit::actor_ref<clock_hand>& who) {
    sennit::tell_after(who, std::chrono::seconds(1), tick{});
#ifdef SENNIT_EXPECT_ERROR
    sennit::tell_after(who, std::chrono::seconds(1), tock{});
#endif
}
