// SPDX-License-Identifier: Apache-2.0
// Tests when a woken worker leaves the processor of its waker, and that the note reaches it.
#include "core/idle/parker.hpp"
#include "core/idle/waker_note.hpp"

#include <gtest/gtest.h>

namespace {

using namespace sennit::sched;

constexpr std::int64_t woken_ns = 1'000'000'000, late_ns = woken_ns + tuning::late_wake_ns,
                       looks_ns = woken_ns + tuning::woken_begin_ns;

TEST(waker_note, thread_outside_competes_with_no_worker) {
    const waker_note none;
    EXPECT_TRUE(none.from_outside());
    EXPECT_FALSE(none.competes(0, late_ns));
    EXPECT_FALSE(none.competes(waker_note::no_processor, late_ns));
}

TEST(waker_note, waker_that_yields_competes_from_its_look_on) {
    const waker_note note{.processor = 3, .yields = true, .at_ns = woken_ns};
    EXPECT_FALSE(note.competes(3, looks_ns - 1));
    EXPECT_TRUE(note.competes(3, looks_ns));
    EXPECT_FALSE(note.competes(2, looks_ns));
}

TEST(waker_note, other_waker_competes_when_the_worker_has_waited) {
    const waker_note note{.processor = 3, .yields = false, .at_ns = woken_ns};
    EXPECT_FALSE(note.competes(3, late_ns - 1));
    EXPECT_TRUE(note.competes(3, late_ns));
    EXPECT_FALSE(note.competes(2, late_ns));
}

TEST(waker_note, parker_passes_the_note_of_the_last_waker) {
    parker one;
    one.announce();
    EXPECT_FALSE(one.notified_hint());
    one.notify({.processor = 5, .yields = true, .at_ns = woken_ns});
    EXPECT_TRUE(one.notified_hint());
    one.sleep();
    EXPECT_FALSE(one.notified_hint());
    EXPECT_EQ(one.waker().processor, 5);
    EXPECT_TRUE(one.waker().yields);
    EXPECT_EQ(one.waker().at_ns, woken_ns);
    one.announce();
    one.notify_as_searcher();
    one.sleep();
    EXPECT_TRUE(one.waker().from_outside());
}

} // namespace
