// SPDX-License-Identifier: Apache-2.0
// promise, make_ready_future and make_exceptional_future.
#include "support.hpp"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using sennit::future;
using sennit::promise;

static_assert(!std::is_copy_constructible_v<promise<int>> &&
              !std::is_copy_assignable_v<promise<int>>);
static_assert(std::is_nothrow_move_constructible_v<promise<int>> &&
              std::is_nothrow_move_assignable_v<promise<int&>>);
static_assert(std::is_same_v<decltype(std::declval<promise<int&>&>().get_future().get()), int&>);
static_assert(std::is_void_v<decltype(std::declval<promise<void>&>().get_future().get())>);

TEST(promise, promise_gives_its_future_once) {
    promise<int> made;
    EXPECT_TRUE(made.get_future().valid());
    EXPECT_EQ(code_of([&] { (void)made.get_future(); }), already_retrieved);
    made.set_value(1);
    EXPECT_EQ(code_of([&] { (void)made.get_future(); }), already_retrieved);
}

template <class T, class Set>
void has_no_state_once_moved_from(Set set) {
    promise<T> from;
    promise<T> to(std::move(from));
    EXPECT_EQ(code_of([&] { (void)from.get_future(); }), no_state);
    EXPECT_EQ(code_of([&] { set(from); }), no_state);
    EXPECT_EQ(code_of([&] { from.set_exception(std::make_exception_ptr(1)); }), no_state);
    future<T> wanted = to.get_future();
    set(to);
    wanted.get();
}

TEST(promise, moved_from_promise_has_no_state) {
    static int there = 0;
    has_no_state_once_moved_from<int>([](promise<int>& p) { p.set_value(1); });
    has_no_state_once_moved_from<int&>([](promise<int&>& p) { p.set_value(there); });
    has_no_state_once_moved_from<void>([](promise<void>& p) { p.set_value(); });
}

template <class T, class Set>
void is_satisfied_only_once(Set set) {
    const auto fail = [](promise<T>& p) {
        p.set_exception(std::make_exception_ptr(std::runtime_error("x")));
    };
    promise<T> with_value, with_error;
    set(with_value);
    fail(with_error);
    for (promise<T>* each : {&with_value, &with_error}) {
        EXPECT_EQ(code_of([&] { set(*each); }), already_satisfied);
        EXPECT_EQ(code_of([&] { fail(*each); }), already_satisfied);
    }
    EXPECT_NO_THROW(with_value.get_future().get());
    EXPECT_THROW(with_error.get_future().get(), std::runtime_error);
}

TEST(promise, promise_is_satisfied_only_once) {
    static int there = 0;
    is_satisfied_only_once<int>([](promise<int>& p) { p.set_value(1); });
    is_satisfied_only_once<int&>([](promise<int&>& p) { p.set_value(there); });
    is_satisfied_only_once<void>([](promise<void>& p) { p.set_value(); });
}

TEST(promise, destruction_and_assignment_break_promise) {
    auto first = std::make_unique<promise<int>>();
    future<int> of_first = first->get_future();
    first.reset();
    EXPECT_EQ(code_of([&] { of_first.get(); }), broken_promise);

    promise<int> second;
    future<int> of_second = second.get_future();
    second = promise<int>();
    EXPECT_EQ(code_of([&] { of_second.get(); }), broken_promise);
    future<int> of_new = second.get_future(); // the future of the new state is not retrieved yet
    second.set_value(5);
    EXPECT_EQ(of_new.get(), 5);
}

TEST(promise, value_outlives_its_promise) {
    future<counted> wanted;
    {
        promise<counted> made;
        wanted = made.get_future();
        made.set_value(counted(3));
    }
    EXPECT_EQ(wanted.get().value, 3);
    EXPECT_EQ(counted::alive(), 0);
}

TEST(promise, destructor_drops_value_that_no_future_took) {
    {
        promise<counted> made;
        made.set_value(counted(3));
        EXPECT_EQ(counted::alive(), 1);
    }
    EXPECT_EQ(counted::alive(), 0);
}

TEST(promise, swap_exchanges_states_and_the_record_of_retrieval) {
    promise<int> a, b;
    future<int> of_a = a.get_future();
    swap(a, b);
    EXPECT_EQ(code_of([&] { (void)b.get_future(); }), already_retrieved);
    future<int> of_b = a.get_future();
    a.set_value(1);
    a.swap(b);
    a.set_value(2);
    EXPECT_EQ(of_b.get(), 1);
    EXPECT_EQ(of_a.get(), 2);
}

struct throws_when_copied {
    explicit throws_when_copied(int n) : left(n) {}
    throws_when_copied(const throws_when_copied& other) : left(other.left - 1) {
        if (left < 0) throw std::runtime_error("copy");
    }
    int left;
};

TEST(promise, value_whose_copy_throws_does_not_satisfy_promise) {
    promise<throws_when_copied> made;
    future<throws_when_copied> wanted = made.get_future();
    const throws_when_copied bad(0), good(5);
    EXPECT_THROW(made.set_value(bad), std::runtime_error);
    EXPECT_EQ(wanted.wait_for(std::chrono::seconds(0)), sennit::future_status::timeout);
    made.set_value(good);
    EXPECT_EQ(wanted.get().left, 3); // copied in and, without a move constructor, copied out
}

TEST(promise, promise_carries_references_move_only_and_over_aligned_values) {
    int there = 1;
    promise<int&> reference;
    reference.set_value(there);
    EXPECT_EQ(&reference.get_future().get(), &there);

    promise<std::unique_ptr<int>> unique;
    unique.set_value(std::make_unique<int>(4));
    EXPECT_EQ(*unique.get_future().get(), 4);

    struct alignas(128) wide {
        int value;
    };
    promise<wide> aligned;
    aligned.set_value({7});
    const sennit::shared_future<wide> shared = aligned.get_future().share();
    EXPECT_EQ(shared.get().value, 7);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&shared.get()) % 128,
              0u); // SAFETY: the number of an address

    promise<std::vector<int>> list;
    list.set_value({1, 2, 3});
    EXPECT_EQ(list.get_future().get().size(), 3u);
}

TEST(promise, promise_carries_the_very_exception) {
    promise<void> made;
    const std::exception_ptr thrown = std::make_exception_ptr(std::out_of_range("x"));
    made.set_exception(thrown);
    future<void> wanted = made.get_future();
    EXPECT_EQ(wanted.get_exception_ptr(), thrown);
    EXPECT_THROW(wanted.get(), std::out_of_range);
    EXPECT_FALSE(wanted.valid());
}

TEST(promise, exactly_one_of_many_threads_sets_the_promise) {
    constexpr int threads = 4;
    for (int round = 0; round < 200; ++round) {
        promise<int> made;
        std::atomic<int> refused{0}, winner{-1}, ready{0};
        std::vector<std::thread> racing;
        for (int i = 0; i < threads; ++i)
            racing.emplace_back([&, i] {
                for (++ready; ready < threads;) std::this_thread::yield();
                const std::error_code answer = code_of([&] { made.set_value(i); });
                if (answer == already_satisfied)
                    ++refused;
                else
                    winner = i;
            });
        EXPECT_EQ(made.get_future().get(), (racing[0].join(), racing[1].join(), racing[2].join(),
                                            racing[3].join(), winner.load()));
        EXPECT_EQ(refused, threads - 1);
    }
}

TEST(make_ready_future, make_ready_future_is_ready_with_value_reference_or_void) {
    EXPECT_EQ(sennit::make_ready_future(3).get(), 3);
    int there = 0;
    EXPECT_EQ(&sennit::make_ready_future(std::ref(there)).get(), &there);
    const int constant = 4;
    static_assert(std::is_same_v<decltype(sennit::make_ready_future(constant)), future<int>>);
    EXPECT_EQ(sennit::make_ready_future().wait_for(std::chrono::seconds(0)),
              sennit::future_status::ready);
}

TEST(make_exceptional_future, make_exceptional_future_throws_its_exception) {
    EXPECT_THROW(sennit::make_exceptional_future<int>(std::runtime_error("x")).get(),
                 std::runtime_error);
    EXPECT_THROW(sennit::make_exceptional_future<int&>(std::make_exception_ptr(1)).get(), int);
}

} // namespace
