// SPDX-License-Identifier: Apache-2.0
// Bugs that refusals have found, the smallest program of each.
#include "faults.hpp"

#include <sennit/actor.hpp>
#include <sennit/future.hpp>
#include <sennit/promise.hpp>
#include <sennit/runtime.hpp>

#include <gtest/gtest.h>

#include <new>
#include <optional>

namespace {

using faults::extent, faults::request;

// The error's text needs memory; that nobody could be told of it ended the program.
TEST(refusals_regress, a_promise_is_broken_without_memory) {
    std::optional<sennit::promise<int>> given(std::in_place);
    sennit::future<int> waits = given->get_future();
    faults::refuse(request::allocation, 1, extent::all_from_there);
    given.reset();
    EXPECT_GE(faults::stop(), 1);
    EXPECT_THROW(waits.get(), std::bad_alloc);
}

struct nothing_to_say {};
class listener : public sennit::actor<listener, nothing_to_say> {
public:
    void on(nothing_to_say) {}
};

// Looking for the group's actors needed memory; without it the program ended.
TEST(refusals_regress, a_group_without_actors_is_stopped_without_memory) {
    sennit::runtime runtime; // not the default one: that would go on beside the tests that count what is left
    runtime.run([] {
        sennit::actor_group group;
        group.spawn<listener>().stop();
        group.join();
        faults::refuse(request::allocation, 1, extent::all_from_there);
        group.stop();
        EXPECT_EQ(faults::stop(), 0);
    });
}

} // namespace
