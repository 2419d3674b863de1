// SPDX-License-Identifier: Apache-2.0
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace std::chrono_literals;

// A nursery in a scope that was cancelled before it was made left its children out, and join
// returned as if they had run. Found by the explorer:
// nursery.a_cancelled_join_cancels_the_children.
TEST(regress, a_join_tells_of_children_that_did_not_start) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        bool ran = false;
        EXPECT_THROW(sennit::with_timeout(0ms,
                                          [&] {
                                              sennit::nursery children;
                                              children.start([&] { ran = true; });
                                              children.join();
                                              ADD_FAILURE()
                                                  << "the child did not run, and nobody told";
                                          }),
                     sennit::timed_out);
        EXPECT_FALSE(ran);
    });
}

// A child was thrown `cancelled` while its stop token said nothing: its nursery is told after it
// when a scope further out is cancelled, and when another thread cancels. Found under load by
// this_fiber's test of the same.
TEST(regress, a_child_that_was_thrown_cancelled_finds_its_token_stopped) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        bool told = false;
        sennit::nursery outer;
        outer.start([&] {
            sennit::event begun;
            sennit::nursery inner;
            inner.start([&] {
                EXPECT_FALSE(sennit::this_fiber::get_stop_token().stop_requested());
                begun.set();
                try {
                    sennit::event().wait();
                } catch (const sennit::cancelled&) {
                    told = sennit::this_fiber::get_stop_token().stop_requested();
                    throw;
                }
            });
            begun.wait();
            outer.cancel();
            sennit::this_fiber::yield(); // the child runs before this one looks at its nursery
            EXPECT_TRUE(told);
        });
        outer.join();
        EXPECT_TRUE(told);
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
