// SPDX-License-Identifier: Apache-2.0
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace std::chrono_literals;

// A nursery in a scope that was cancelled before it was made left its children out, and join returned as if they had
// run. Found by the explorer: nursery.a_cancelled_join_cancels_the_children.
TEST(regress, a_join_tells_of_children_that_did_not_start) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        bool ran = false;
        EXPECT_THROW(sennit::with_timeout(0ms,
                                          [&] {
                                              sennit::nursery children;
                                              children.start([&] { ran = true; });
                                              children.join();
                                              ADD_FAILURE() << "the child did not run, and nobody told";
                                          }),
                     sennit::timed_out);
        EXPECT_FALSE(ran);
    });
}

// By hand it is no news to whoever did it.
TEST(regress, a_join_after_a_cancel_by_hand_throws_nothing) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        sennit::nursery children;
        children.cancel();
        children.start([] { FAIL(); });
        EXPECT_NO_THROW(children.join());
    });
}

} // namespace
