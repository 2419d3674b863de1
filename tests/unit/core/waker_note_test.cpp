// SPDX-License-Identifier: Apache-2.0
// Tests when a woken worker leaves the processor of its waker, and that the note reaches it.
#include "core/idle/parker.hpp"
#include "core/idle/waker_note.hpp"

#include <gtest/gtest.h>

namespace {

using namespace sennit::sched;

constexpr std::int64_t woken_ns = 1'000'000'000, looks_ns = woken_ns + tuning::woken_begin_ns;

TEST(waker_note, waker_that_does_not_look_competes_with_no_worker) {
    const waker_note outside, worker{.from_outside = false};
    for (const waker_note& one : {outside, worker}) {
        EXPECT_FALSE(one.competes(0, looks_ns));
        EXPECT_FALSE(one.competes(waker_note::no_processor, looks_ns));
    }
}

TEST(waker_note, waker_competes_from_its_look_on) {
    const waker_note note{.from_outside = false, .processor = 3, .at_ns = woken_ns};
    EXPECT_FALSE(note.competes(3, looks_ns - 1));
    EXPECT_TRUE(note.competes(3, looks_ns));
    EXPECT_FALSE(note.competes(2, looks_ns));
}

TEST(waker_note, parker_passes_the_note_of_the_last_waker) {
    parker one;
    one.announce();
    EXPECT_FALSE(one.notified_hint());
    one.notify({.from_outside = false, .processor = 5, .at_ns = woken_ns});
    EXPECT_TRUE(one.notified_hint());
    one.sleep();
    EXPECT_FALSE(one.notified_hint());
    EXPECT_FALSE(one.waker().from_outside);
    EXPECT_EQ(one.waker().processor, 5);
    EXPECT_EQ(one.waker().at_ns, woken_ns);
    one.announce();
    one.notify_as_searcher();
    one.sleep();
    EXPECT_TRUE(one.waker().from_outside);
    EXPECT_EQ(one.waker().processor, waker_note::no_processor);
}

} // namespace
