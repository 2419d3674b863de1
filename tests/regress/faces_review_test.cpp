// SPDX-License-Identifier: Apache-2.0
// Bugs that a reading of the faces has found, the smallest program of each.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void nothing() {}
void twice(int& value) {
    value *= 2;
}

// An iterator that throws ended the program where the callables were known not to.
TEST(regress, a_loop_hands_on_what_an_iterator_throws) {
    const std::vector<std::string> texts{"1", "x"};
    const auto numbers = texts | std::views::transform([](const std::string& text) { return std::stol(text); });
    EXPECT_THROW((void)sennit::par::transform_reduce(numbers, 0L, std::plus<>(), std::identity()),
                 std::invalid_argument);
    EXPECT_THROW(sennit::par::for_each(numbers, [](long) noexcept {}), std::invalid_argument);
}

// Functions and pointers to members were accepted, and did not compile.
TEST(regress, functions_are_callables_as_well) {
    sennit::fork_join(nothing, nothing);
    std::vector<int> values{1, 2, 3};
    sennit::par::for_each(values, twice);
    EXPECT_EQ(values, (std::vector{2, 4, 6}));
    const std::vector<std::string> names{"a", "bcd"};
    EXPECT_EQ(sennit::fork_each(names, &std::string::size), (std::vector<std::size_t>{1, 3}));
}

// The default runtime was destroyed by its own worker, and the program aborted.
TEST(regress, a_program_exits_inside_run) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(sennit::run([] { std::exit(7); }), testing::ExitedWithCode(7), "");
}

// A scope that was made before its fiber moved still forked into the fork stack of the worker that was left.
TEST(regress, a_scope_moves_with_its_fiber) {
    sennit::runtime from({.workers = 1}), to({.workers = 1});
    int ran = 0;
    sennit::fiber traveller({.runtime = &from, .movable = true}, [&] {
        sennit::scope family;
        sennit::this_fiber::move_to(to);
        family.spawn([&] { family.spawn([&] { ++ran; }); });
        family.join();
        ++ran;
    });
    traveller.join();
    EXPECT_EQ(ran, 2);
}

// What was urgent came first to a full mailbox that drops the oldest, and so was dropped.
struct work {
    int n;
};
class slow : public sennit::actor<slow, work> {
public:
    slow(std::vector<int>& into, sennit::event& begun, sennit::event& goes_on)
        : into_(into), begun_(begun), goes_on_(goes_on) {}
    void on(work m) {
        into_.push_back(m.n);
        if (m.n == 2) stop();
        if (m.n != 0) return;
        begun_.set();
        goes_on_.wait();
    }

private:
    std::vector<int>& into_;
    sennit::event &begun_, &goes_on_;
};
TEST(regress, an_urgent_message_is_not_the_oldest) {
    std::vector<int> handled;
    sennit::event begun, goes_on;
    {
        sennit::actor_group group;
        const auto one =
            group.spawn<slow>({.mailbox = 1, .overflow = sennit::overflow::drop_oldest}, handled, begun, goes_on);
        one.tell(work{0});
        begun.wait();
        one.tell(work{1});
        one.tell(work{2});
        one.tell_urgently(work{9});
        goes_on.set();
        group.join();
    }
    EXPECT_EQ(handled, (std::vector{0, 9, 2}));
}

} // namespace
