// SPDX-License-Identifier: Apache-2.0
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace std::chrono_literals;

// A nursery in a scope that had been cancelled before did not run its children, and join returned
// as if they had run. Found by the explorer: nursery.a_cancelled_join_cancels_the_children.
TEST(regress, join_reports_children_that_did_not_start) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        bool ran = false;
        EXPECT_THROW(sennit::with_timeout(
                         0ms,
                         [&] {
                             sennit::nursery children;
                             children.start([&] { ran = true; });
                             children.join();
                             ADD_FAILURE() << "the child did not run, and join reported nothing";
                         }),
                     sennit::timed_out);
        EXPECT_FALSE(ran);
    });
}

// A child received `cancelled` while its stop token was not stopped. If an outer scope is
// cancelled, or another thread cancels, the nursery learns of it after the child. Found under load
// by this_fiber's corresponding test.
TEST(regress, child_that_catches_cancelled_finds_its_token_stopped) {
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
            sennit::this_fiber::yield(); // the child runs before this fiber looks at its nursery
            EXPECT_TRUE(told);
        });
        outer.join();
        EXPECT_TRUE(told);
    });
}

// The caller of `cancel` knows about the cancellation, so join throws nothing.
TEST(regress, join_after_an_explicit_cancel_throws_nothing) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        sennit::nursery children;
        children.cancel();
        children.start([] { FAIL(); });
        EXPECT_NO_THROW(children.join());
    });
}

} // namespace
