// SPDX-License-Identifier: Apache-2.0
// async and spawn.
#include "support.hpp"

#include <sennit/this_fiber.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using sennit::future;

static_assert(std::is_same_v<decltype(sennit::async([](int&) -> int& { throw 1; },
                                                    std::ref(std::declval<int&>()))),
                             future<int&>>);

class async : public with_workers {};
SENNIT_FOR_WORKERS(async);

TEST_P(async, async_runs_function_with_copies_and_gives_its_result) {
    runtime.run([] {
        EXPECT_EQ(sennit::async([](int a, int b) { return a + b; }, 1, 2).get(), 3);
        EXPECT_EQ(sennit::spawn(&std::string::size, std::string("four")).get(), 4u);
        int there = 1;
        sennit::async([](int& x) { x = 2; }, std::ref(there)).get();
        EXPECT_EQ(there, 2);
        EXPECT_EQ(&sennit::async([&]() -> int& { return there; }).get(), &there);
        std::string text = "before";
        future<std::string> copied = sennit::async([](std::string s) { return s; }, text);
        text = "after";
        EXPECT_EQ(copied.get(), "before");
        auto moved =
            sennit::async([](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(8));
        EXPECT_EQ(*moved.get(), 8);
    });
}

TEST_P(async, async_passes_exception_on) {
    runtime.run([] {
        EXPECT_THROW(sennit::async([]() -> int { throw std::runtime_error("x"); }).get(),
                     std::runtime_error);
    });
}

TEST_P(async, async_does_not_unwrap_future) {
    runtime.run([] {
        auto nested = sennit::async([] { return sennit::async([] { return 3; }); });
        static_assert(std::is_same_v<decltype(nested), future<future<int>>>);
        EXPECT_EQ(nested.get().get(), 3);
    });
}

TEST_P(async, async_runs_function_in_its_own_fiber) {
    runtime.run([&] {
        const auto [id, core] =
            sennit::async([] {
                return std::pair(sennit::this_fiber::get_id(), sennit::sched::current_runtime());
            }).get();
        EXPECT_NE(id, sennit::this_fiber::get_id());
        EXPECT_EQ(core, &runtime.core());
    });
    EXPECT_EQ(sennit::async([] { return sennit::sched::current_runtime(); }).get(),
              &sennit::default_runtime().core());
}

TEST_P(async, dropped_future_does_not_wait_for_async) {
    sennit::promise<void> go, went;
    runtime.run([&] {
        (void)sennit::async([&, wait = go.get_future()]() mutable {
            wait.get();
            went.set_value();
        });
    }); // a destructor that waited would hang here
    go.set_value();
    went.get_future().get();
}

TEST_P(async, async_drops_function_and_arguments_before_its_future_is_ready) {
    runtime.run([] {
        for (int round = 0; round < 300; ++round) {
            const future<void> done =
                sennit::async([kept = counted()](const counted&) {}, counted());
            done.wait();
            ASSERT_EQ(counted::alive(), 0);
        }
    });
}

TEST_P(async, future_of_async_is_ready_with_its_result_and_frees_it) {
    runtime.run([] {
        std::vector<future<counted>> all;
        for (int i = 0; i < 1000; ++i) all.push_back(sennit::async([i] { return counted(i); }));
        for (int i = 0; i < 1000; i += 2)
            EXPECT_EQ(all[static_cast<std::size_t>(i)].get().value, i);
    }); // the other results are dropped, ready or not
}

TEST(async_launch, launch_now_runs_before_the_caller_continues_and_enqueue_after) {
    sennit::runtime one{{.workers = 1}};
    one.run([] {
        bool ran = false;
        future<void> later = sennit::async(sennit::launch::enqueue, [&] { ran = true; });
        EXPECT_FALSE(ran);
        later.get();
        EXPECT_TRUE(ran);
        bool ran_now = false;
        sennit::promise<void> go;
        future<int> result = sennit::async(sennit::launch::now, [&] {
            ran_now = true;
            go.get_future().get();
            return 5;
        });
        EXPECT_TRUE(ran_now);
        go.set_value();
        EXPECT_EQ(result.get(), 5);
        EXPECT_EQ(sennit::async(sennit::launch::now, [](int x) { return x; }, 6).get(), 6);
    });
    EXPECT_EQ(sennit::async(sennit::launch::now, [] { return 7; }).get(),
              7); // outside a worker, `now` acts as `enqueue`
}

int fibonacci(int n) {
    if (n < 2) return n;
    future<int> other = sennit::async(fibonacci, n - 1);
    const int mine = fibonacci(n - 2);
    return mine + other.get();
}

TEST_P(async, async_nests) {
    EXPECT_EQ(runtime.run([] { return fibonacci(16); }), 987);
}

} // namespace
