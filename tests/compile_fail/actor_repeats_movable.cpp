// SPDX-License-Identifier: Apache-2.0
// expect-error: told every so often must be copyable
// A timer repeats a message that can only move, so there can be only one of it.
#include "sennit/actor.hpp"

#include <chrono>
#include <memory>
#include <utility>

struct own {
    std::unique_ptr<int> one;
};
struct keeper : sennit::actor<keeper, own> {
    void on(const own&) {}
};

void use(const sennit::actor_ref<keeper>& who, own message) {
#ifdef SENNIT_EXPECT_ERROR
    sennit::tell_every(who, std::chrono::seconds(1), own{});
#endif
    sennit::tell_after(who, std::chrono::seconds(1), std::move(message));
}
