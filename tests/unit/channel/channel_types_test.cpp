// SPDX-License-Identifier: Apache-2.0
// The types that a channel carries, the life of every single object in it, and the calls that do
// not wait or wait for a limited time.
#include "channels.hpp"

#include <sennit/channel.hpp>
#include <sennit/fiber.hpp>
#include <sennit/select.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {
using namespace std::chrono_literals;
using sennit::channel_status;

template <class C, class V>
concept pushes = requires(C& to, V value) { to.push(static_cast<V>(value)); };
template <class C>
concept pops = requires(C& from) { from.pop(); };
using words = sennit::channel<std::string>;
using pointers = sennit::channel<std::unique_ptr<int>>;
static_assert(pushes<words, const char*> && pushes<words, const std::string&> &&
              !pushes<words, std::vector<int>>);
static_assert(pushes<pointers, std::unique_ptr<int>&&> && !pushes<pointers, std::unique_ptr<int>&>);
static_assert(!pushes<const words, std::string> && !pops<const words>);
static_assert(!std::copyable<words> && !std::movable<words>);

// Detects that an object is destroyed twice, is misaligned, or is used at an address where it was
// not constructed.
template <std::size_t Bytes, std::size_t Alignment>
class alignas(Alignment) watched {
public:
    static inline std::atomic<long> alive{0};

    explicit watched(int number) noexcept : number_(number) { begin(); }
    watched(watched&& other) noexcept : number_(std::exchange(other.checked().number_, -1)) {
        begin();
    }
    watched& operator=(watched&& other) noexcept {
        checked().number_ = std::exchange(other.checked().number_, -1);
        return *this;
    }
    ~watched() {
        checked().self_ = nullptr;
        --alive;
    }
    int number() const noexcept { return number_; }

private:
    void begin() noexcept {
        ++alive;
        self_ = this;
        EXPECT_EQ(std::bit_cast<std::uintptr_t>(this) % Alignment, 0u);
        bytes_.front() = bytes_.back() = 'x';
    }
    watched& checked() noexcept {
        EXPECT_EQ(self_, this);
        EXPECT_TRUE(bytes_.front() == 'x' && bytes_.back() == 'x');
        return *this;
    }
    int number_;
    watched* self_ = nullptr;
    std::array<char, Bytes> bytes_;
};

template <class T>
class channel_of : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(T::alive, 0); }
    void TearDown() override { EXPECT_EQ(T::alive, 0); }
};
using kinds = testing::Types<watched<1, 8>, watched<40, 16>, watched<1, 64>, watched<10'000, 32>,
                             watched<1, 4096>>;
TYPED_TEST_SUITE(channel_of, kinds);

TYPED_TEST(channel_of, channel_destructor_destroys_values_inside) {
    for (const std::size_t capacity : {std::size_t{1}, std::size_t{2}, std::size_t{16}, unbounded})
        for (std::size_t turns = 0; turns < 20; ++turns) {
            sennit::channel<TypeParam> values(capacity);
            // The values inside wrap around the end of the memory.
            for (std::size_t i = 0; i < turns; ++i) {
                EXPECT_EQ(values.push(TypeParam(1)), channel_status::success);
                EXPECT_EQ(values.pop()->number(), 1);
            }
            const std::size_t inside = std::min(capacity, std::size_t{50});
            for (std::size_t i = 0; i < inside; ++i)
                EXPECT_EQ(values.push(TypeParam(2)), channel_status::success);
            EXPECT_EQ(static_cast<std::size_t>(TypeParam::alive), inside);
        }
}

TYPED_TEST(channel_of, unbounded_channel_keeps_order_while_it_grows) {
    sennit::channel<TypeParam> values(unbounded);
    int pushed = 0, popped = 0;
    for (int round = 1; round < 12; ++round) {
        for (int i = 0; i < round * 7; ++i)
            EXPECT_EQ(values.push(TypeParam(pushed++)), channel_status::success);
        for (int i = 0; i < round * 3; ++i) EXPECT_EQ(values.pop()->number(), popped++);
    }
    while (popped < pushed) EXPECT_EQ(values.pop()->number(), popped++);
}

TYPED_TEST(channel_of, channel_leaves_refused_values_to_the_caller) {
    sennit::channel<TypeParam> values(1);
    ASSERT_EQ(values.push(TypeParam(1)), channel_status::success);
    TypeParam mine(2);
    EXPECT_EQ(values.try_push(std::move(mine)), channel_status::full);
    EXPECT_EQ(values.push_for(std::move(mine), 0ns), channel_status::timeout);
    values.close();
    EXPECT_EQ(values.try_push(std::move(mine)), channel_status::closed);
    EXPECT_EQ(values.push_for(std::move(mine), 1h), channel_status::closed);
    EXPECT_EQ(values.push(TypeParam(3)), channel_status::closed);
    EXPECT_EQ(mine.number(), 2);
    EXPECT_EQ(TypeParam::alive, 2);
    EXPECT_EQ(values.pop(mine), channel_status::success);
    EXPECT_EQ(mine.number(), 1);
    EXPECT_EQ(values.pop(mine), channel_status::closed);
    EXPECT_EQ(mine.number(), 1);
}

TYPED_TEST(channel_of, channel_hands_over_each_object_between_fibers) {
    sennit::runtime runtime({.workers = 2});
    for (const std::size_t capacity : {std::size_t{0}, std::size_t{2}, unbounded}) {
        sennit::channel<TypeParam> values(capacity);
        sennit::fiber producer({.runtime = &runtime}, [&] {
            for (int i = 0; i < 200; ++i) {
                if (i % 2 == 0)
                    EXPECT_EQ(values.push(TypeParam(i)), channel_status::success);
                else
                    sennit::select(sennit::on_push(values, TypeParam(i), [] {}));
            }
            TypeParam last(200);
            while (values.push_for(std::move(last), 10us) == channel_status::timeout)
                EXPECT_EQ(last.number(), 200);
            EXPECT_EQ(last.number(), -1); // moved from
        });
        TypeParam got(-1);
        for (int i = 0; i < 201; ++i) {
            if (i % 3 == 0)
                sennit::select(
                    sennit::on_pop(values, [&](TypeParam value) { got = std::move(value); }));
            else
                EXPECT_EQ(values.pop(got), channel_status::success);
            EXPECT_EQ(got.number(), i);
        }
        producer.join();
    }
}

TYPED_TEST(channel_of, select_destroys_values_of_cases_that_did_not_happen) {
    sennit::channel<TypeParam> full(0), ready(1);
    ASSERT_EQ(ready.push(TypeParam(1)), channel_status::success);
    int got = 0;
    const auto which =
        sennit::select(sennit::on_push(full, TypeParam(2), [] {}),
                       sennit::on_pop(ready, [&](TypeParam&& value) { got = value.number(); }));
    EXPECT_EQ(which, 1u);
    EXPECT_EQ(got, 1);
    EXPECT_EQ(sennit::select(sennit::on_push(full, TypeParam(3), [] {}), sennit::otherwise([] {})),
              1u);
    EXPECT_EQ(sennit::select(sennit::on_push(full, TypeParam(4), [] {}), sennit::after(0ns, [] {})),
              1u);
}

TEST(channel_types, push_copies_lvalues_and_moves_rvalues) {
    sennit::channel<std::string> words(1);
    const std::string lent(40, 'l');
    std::string given(40, 'g');
    const auto soon = std::chrono::steady_clock::now() + std::chrono::hours(1);
    EXPECT_EQ(words.push(lent), channel_status::success);
    EXPECT_EQ(words.try_push(std::move(given)), channel_status::full);
    EXPECT_EQ(words.push_for(std::move(given), std::chrono::nanoseconds(1)),
              channel_status::timeout);
    EXPECT_EQ(given.size(), 40u); // NOLINT: moved from on success only
    for (const auto& push : {+[](sennit::channel<std::string>& to, const std::string& one) {
                                 return to.try_push(one);
                             },
                             +[](sennit::channel<std::string>& to, const std::string& one) {
                                 return to.push_for(one, std::chrono::hours(1));
                             }}) {
        EXPECT_EQ(words.pop(), lent);
        EXPECT_EQ(push(words, lent), channel_status::success);
    }
    EXPECT_EQ(words.pop(), lent);
    EXPECT_EQ(words.push_until(lent, soon), channel_status::success);
    EXPECT_EQ(words.pop(), lent);
    EXPECT_EQ(words.push_until(std::move(given), soon), channel_status::success);
    EXPECT_TRUE(given.empty()); // NOLINT: moved from on success
    EXPECT_EQ(words.pop(), std::string(40, 'g'));
}

TEST(channel_types, channel_carries_move_only_constant_and_empty_types) {
    struct constant {
        const int value;
    };
    struct nothing {};
    sennit::channel<constant> constants(2);
    EXPECT_EQ(constants.push({7}), channel_status::success);
    EXPECT_EQ(constants.pop()->value, 7);
    EXPECT_EQ(constants.push({8}), channel_status::success);
    constants.close();
    for (const constant& one : constants) EXPECT_EQ(one.value, 8);

    sennit::channel<std::unique_ptr<int>> moved(unbounded);
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(moved.push(std::make_unique<int>(i)), channel_status::success);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(**moved.pop(), i);

    sennit::channel<nothing> signals(unbounded);
    for (int i = 0; i < 10'000; ++i) EXPECT_EQ(signals.push({}), channel_status::success);
    EXPECT_EQ(signals.size(), 10'000u);
    signals.close();
    EXPECT_EQ(std::ranges::distance(signals), 10'000);
}

TEST(channel_types, pop_distinguishes_empty_value_from_end) {
    sennit::channel<std::optional<int>> maybe(2);
    sennit::channel<std::any> anything(2);
    sennit::channel<bool> truths(2);
    EXPECT_EQ(maybe.push(std::nullopt), channel_status::success);
    EXPECT_EQ(anything.push(std::any()), channel_status::success);
    EXPECT_EQ(truths.push(false), channel_status::success);
    maybe.close();
    anything.close();
    truths.close();
    const std::optional<std::optional<int>> number = maybe.pop();
    ASSERT_TRUE(number);
    EXPECT_FALSE(number->has_value());
    const std::optional<std::any> any = anything.pop();
    ASSERT_TRUE(any);
    EXPECT_FALSE(any->has_value());
    EXPECT_EQ(truths.pop(), std::optional(false));
    EXPECT_FALSE(maybe.pop() || anything.pop() || truths.pop());
}

TEST(channel_types, constructor_refuses_capacity_that_no_memory_holds) {
    EXPECT_THROW(sennit::channel<std::string>(unbounded - 1), std::bad_alloc);
    EXPECT_THROW((sennit::channel<watched<1, 64>>(unbounded / 64)), std::bad_alloc);
}

class channel_limits : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(all, channel_limits, testing::Values(0u, 1u, 2u, 16u),
                         [](const auto& test) {
                             return std::string("c").append(std::to_string(test.param));
                         });

TEST_P(channel_limits, try_calls_do_not_wait) {
    sennit::channel<int> numbers(GetParam());
    const int capacity = static_cast<int>(GetParam());
    EXPECT_EQ(numbers.capacity(), GetParam());
    int got = -1;
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(numbers.try_pop(got), channel_status::empty);
        for (int i = 0; i < capacity; ++i) EXPECT_EQ(numbers.try_push(i), channel_status::success);
        EXPECT_EQ(numbers.try_push(99), channel_status::full);
        EXPECT_EQ(numbers.size(), GetParam());
        for (int i = 0; i < capacity; ++i) {
            EXPECT_EQ(numbers.try_pop(got), channel_status::success);
            EXPECT_EQ(got, i);
        }
        got = -1;
        EXPECT_EQ(numbers.try_pop(got), channel_status::empty);
        EXPECT_EQ(got, -1);
    }
}

TEST_P(channel_limits, call_gives_up_at_deadline_and_changes_nothing) {
    using clock = std::chrono::steady_clock;
    sennit::channel<std::string> texts(GetParam());
    std::string text = "mine", got = "untouched";
    EXPECT_EQ(texts.pop_for(got, 0ns), channel_status::timeout);
    EXPECT_EQ(texts.pop_for(got, -1h), channel_status::timeout);
    EXPECT_EQ(texts.pop_until(got, clock::now() + 1ms), channel_status::timeout);
    EXPECT_EQ(texts.pop_until(got, std::chrono::system_clock::now() - 1s), channel_status::timeout);
    EXPECT_EQ(got, "untouched");
    for (std::size_t i = 0; i < GetParam(); ++i) // there is room: the deadline does not matter
        EXPECT_EQ(texts.push_until(std::to_string(i), clock::now() - 1h), channel_status::success);
    EXPECT_EQ(texts.push_for(std::move(text), 0ns), channel_status::timeout);
    EXPECT_EQ(texts.push_until(std::move(text), clock::now() + 1ms), channel_status::timeout);
    EXPECT_EQ(text, "mine"); // NOLINT: a refused push does not move
    for (std::size_t i = 0; i < GetParam(); ++i) {
        EXPECT_EQ(texts.pop_for(got, 0ns), channel_status::success);
        EXPECT_EQ(got, std::to_string(i));
    }
    EXPECT_EQ(texts.pop_for(got, 0ns), channel_status::timeout);
}

TEST_P(channel_limits, call_meets_partner_before_any_deadline) {
    sennit::run([&] {
        sennit::channel<int> there(GetParam()), back(GetParam());
        sennit::fiber partner([&] {
            for (const int i : there) EXPECT_EQ(back.push_for(i + 1, 1h), channel_status::success);
        });
        for (int i = 0, got = 0; i < 100; ++i) {
            EXPECT_EQ(there.push_until(int{i}, std::chrono::steady_clock::time_point::max()),
                      channel_status::success);
            EXPECT_EQ(back.pop_for(got, std::chrono::hours::max()), channel_status::success);
            EXPECT_EQ(got, i + 1);
        }
        there.close();
        partner.join();
    });
}

TEST(channel_unbounded, unbounded_channel_has_room_for_concurrent_pushers) {
    constexpr int rounds = 2'000, producers = 3, each = 11; // past the first growth
    std::optional<sennit::channel<int>> numbers(unbounded);
    std::atomic<int> refused{0};
    std::barrier all(producers, [&]() noexcept {
        refused += numbers->size() != 0 && numbers->size() != producers * each;
        numbers.emplace(unbounded);
    });
    std::vector<std::jthread> threads;
    for (int p = 0; p < producers; ++p)
        threads.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) {
                all.arrive_and_wait();
                for (int i = 0; i < each; ++i)
                    refused += numbers->try_push(i) != channel_status::success;
            }
        });
    threads.clear();
    EXPECT_EQ(refused, 0);
    sennit::channel<int> fresh(unbounded);
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(sennit::select(sennit::on_push(fresh, i, [] {}), sennit::otherwise([] {})), 0u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(fresh.pop(), i);
}

// An optional can receive a value whose type has no default constructor and no assignment. The
// previous value of the optional is destroyed outside the channel's lock.
TEST(channel_types, pop_stores_value_in_optional) {
    struct fixed {
        const int n;
        explicit fixed(int from) : n(from) {}
    };
    sennit::channel<fixed> line(3);
    std::optional<fixed> to;
    EXPECT_EQ(line.try_pop(to), channel_status::empty);
    EXPECT_EQ(line.pop_for(to, 0s), channel_status::timeout);
    EXPECT_FALSE(to.has_value());
    for (int i = 1; i <= 3; ++i) line.push(fixed(i));
    EXPECT_EQ(line.try_pop(to), channel_status::success);
    EXPECT_EQ(to.value().n, 1);
    EXPECT_EQ(line.pop_for(to, 1h), channel_status::success);
    EXPECT_EQ(to.value().n, 2);
    EXPECT_EQ(line.pop_until(to, std::chrono::steady_clock::now() + 1h), channel_status::success);
    EXPECT_EQ(to.value().n, 3);
    line.close();
    EXPECT_EQ(line.try_pop(to), channel_status::closed);
    EXPECT_EQ(to.value().n, 3); // written on success only

    struct asks {
        sennit::channel<std::shared_ptr<asks>>* of = nullptr;
        ~asks() {
            EXPECT_TRUE(!of || of->size() == 0); // takes the lock
        }
    };
    sennit::channel<std::shared_ptr<asks>> others(1);
    auto first = std::make_shared<asks>();
    first->of = &others;
    std::optional<std::shared_ptr<asks>> held(std::move(first));
    others.push(std::make_shared<asks>());
    EXPECT_EQ(others.try_pop(held), channel_status::success);
}

} // namespace
