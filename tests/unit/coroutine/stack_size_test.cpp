// SPDX-License-Identifier: Apache-2.0
// Coroutines with a stack of a chosen size, and with a name.
#include "../fibers/on_workers.hpp"

#include <sennit/coroutine.hpp>
#include <sennit/fiber.hpp>
#include <sennit/stackful_generator.hpp>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

class coroutine_stack : public on_workers {};
SENNIT_ON_WORKERS(coroutine_stack);

// Touches about `kib` KiB of stack, and returns the lowest address that it reached.
[[gnu::noinline]] const char* go_down(std::size_t kib) {
    volatile char block[1024];
    block[0] = 1;
    block[1023] = 2;
    const char* here = const_cast<const char*>(block);
    const char* below = kib > 1 ? go_down(kib - 1) : here;
    return block[0] == 1 ? below : nullptr;
}

void go_as_deep_as_it_was_told(std::size_t stack, std::size_t kib) {
    sennit::coroutine<void, const char*> deep({.name = "deep", .stack_size = stack},
                                              [kib](auto& self) {
                                                  self.suspend(go_down(kib));
                                                  return go_down(kib);
                                              });
    const char* first = deep.resume();
    EXPECT_EQ(deep.resume(), first);
}

TEST_P(coroutine_stack, large_stack_holds_more_than_the_default) {
    for (int again = 0; again < 3; ++again)
        runtime.run(
            [] { go_as_deep_as_it_was_told(std::size_t{8} << 20, 3 << 10); }); // more than 1 MiB
    go_as_deep_as_it_was_told(std::size_t{8} << 20, 3 << 10);                  // on a thread
}

TEST_P(coroutine_stack, small_stacks_take_less_address_space) {
    const auto many = [](std::size_t size) {
        std::vector<const char*> places;
        std::vector<sennit::coroutine<void, const char*>> all;
        for (int i = 0; i < 4; ++i) {
            all.emplace_back(sennit::coroutine_attributes{.stack_size = size}, [](auto& self) {
                // Not the address of a variable: AddressSanitizer keeps variables elsewhere.
                const auto* here = static_cast<const char*>(__builtin_frame_address(0));
                for (;;) self.suspend(here);
                return static_cast<const char*>(nullptr);
            });
            places.push_back(all.back().resume());
        }
        std::size_t nearest = SIZE_MAX; // the smallest distance of two stacks
        for (std::size_t i = 0; i < places.size(); ++i)
            for (std::size_t k = 0; k < i; ++k) {
                const auto a = reinterpret_cast<std::uintptr_t>(places[i]),
                           b = reinterpret_cast<std::uintptr_t>(places[k]);
                nearest = std::min(nearest, a < b ? b - a : a - b);
            }
        return nearest;
    };
    runtime.run([&] {
        EXPECT_GT(many(std::size_t{4} << 20), std::size_t{3} << 20);
        EXPECT_LT(many(std::size_t{32} << 10), std::size_t{256} << 10); // including its guard
        EXPECT_GT(many(0), std::size_t{900} << 10);
    });
}

// Coroutines with six stack sizes live at the same time, and some sizes are no power of two. The
// thread that ends the coroutines is not the thread that began them.
TEST_P(coroutine_stack, stacks_of_different_sizes_are_kept_apart) {
    std::array<std::size_t, 6> sizes{1, 40'000, 0, 1 << 20, 100'000, 3 << 20};
    for (int round = 0; round < 3; ++round) {
        std::vector<sennit::coroutine<void, const char*>> all;
        runtime.run([&] {
            for (const std::size_t size : sizes)
                all.emplace_back(sennit::coroutine_attributes{.stack_size = size},
                                 [size](auto& self) {
                                     const std::size_t kib = size > 100'000 ? size / 2048 : 4;
                                     self.suspend(go_down(kib));
                                     return go_down(kib);
                                 });
            for (auto& each : all) (void)each.resume();
        });
        std::thread([&] {
            for (auto& each : all) (void)each.resume();
            for (auto& each : all) EXPECT_TRUE(each.done());
        }).join();
    }
}

TEST_P(coroutine_stack, generator_may_have_a_large_stack) {
    runtime.run([] {
        int sum = 0;
        for (const int each : sennit::stackful_generator<int>(
                 {.name = "deep", .stack_size = 4 << 20}, [](auto& yield) {
                     for (int i = 1; i <= 3; ++i) yield(go_down(2 << 10) ? i : 0);
                 }))
            sum += each;
        EXPECT_EQ(sum, 6);
    });
}

TEST(coroutine_stack_size, stack_size_is_at_most_a_gibibyte) {
    const auto made_with = [](std::size_t size) {
        sennit::coroutine<> one({.stack_size = size}, [](auto&) {});
    };
    made_with(std::size_t{1} << 30);
    EXPECT_THROW(made_with((std::size_t{1} << 30) + 1), std::invalid_argument);
    EXPECT_THROW(made_with(SIZE_MAX), std::invalid_argument);
}

#ifndef SENNIT_SLOW_TESTS // sanitizers report overflows in their own way

[[gnu::noinline]] int too_deep(int n) {
    volatile char block[2048];
    block[0] = static_cast<char>(n);
    return n == 0 ? 0 : too_deep(n - 1) + block[0];
}

void overflow_in(const sennit::coroutine_attributes& how, const sennit::fiber_attributes& whose) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([&] {
        sennit::fiber(whose, [&] {
            sennit::coroutine<void, int> one(how, [](auto& self) {
                self.suspend(0);
                return too_deep(1'000);
            });
            (void)one.resume();
            (void)one.resume();
        }).join();
    });
}

TEST(coroutine_stack_death_test, overflow_message_names_the_coroutine) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        overflow_in({.name = "parser", .stack_size = 64 << 10}, {}),
        "sennit: \\[SNT-042\\] stack overflow in coroutine 'parser' on worker [0-9]+: 64 KiB "
        "are not enough; "
        "set a larger coroutine_attributes::stack_size");
    EXPECT_DEATH(overflow_in({.name = "parser"}, {.name = "reader"}),
                 "sennit: \\[SNT-042\\] stack overflow in coroutine 'parser' of fiber 'reader' on "
                 "worker [0-9]+: 1024 KiB");
    EXPECT_DEATH(overflow_in({}, {}), "sennit: \\[SNT-042\\] stack overflow in a coroutine on "
                                      "worker [0-9]+: 1024 KiB are not enough");
}

#endif

} // namespace
