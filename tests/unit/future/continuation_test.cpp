// SPDX-License-Identifier: Apache-2.0
// Continuations: then, and the unwrapping of nested futures.
#include "support.hpp"

#include <sennit/this_fiber.hpp>

#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using sennit::future;
using sennit::promise;
using sennit::shared_future;

class then : public with_workers {};
SENNIT_FOR_WORKERS(then);

TEST_P(then, then_gets_the_ready_future_and_gives_future_of_the_result) {
    runtime.run([] {
        promise<int> made;
        future<int> source = made.get_future();
        future<int> result = source.then([](future<int> ready) {
            EXPECT_EQ(ready.wait_for(std::chrono::seconds(0)), sennit::future_status::ready);
            return ready.get() + 1;
        });
        EXPECT_FALSE(source.valid());
        EXPECT_EQ(result.wait_for(std::chrono::seconds(0)), sennit::future_status::timeout);
        made.set_value(1);
        EXPECT_EQ(result.get(), 2);
        EXPECT_EQ(sennit::make_ready_future(5)
                      .then([](future<int> ready) { return ready.get() * 2; })
                      .get(),
                  10);
    });
}

TEST_P(then, continuation_runs_in_its_own_fiber_in_the_runtime_where_it_was_attached) {
    promise<void> made;
    using seen = std::pair<sennit::fiber::id, sennit::sched::runtime_core*>;
    sennit::fiber::id attacher;
    future<seen> result = runtime.run([&] {
        attacher = sennit::this_fiber::get_id();
        return made.get_future().then([](future<void>) {
            return seen(sennit::this_fiber::get_id(), sennit::sched::current_runtime());
        });
    });
    made.set_value(); // on a thread that is no worker
    const auto [id, core] = result.get();
    EXPECT_EQ(core, &runtime.core());
    EXPECT_NE(id, attacher);
    EXPECT_NE(id, sennit::this_fiber::get_id());
}

TEST(then_outside, continuation_runs_in_the_default_runtime) {
    sennit::sched::runtime_core* where =
        sennit::make_ready_future()
            .then([](future<void>) { return sennit::sched::current_runtime(); })
            .get();
    EXPECT_EQ(where, &sennit::default_runtime().core());
}

TEST_P(then, then_passes_errors_on) {
    runtime.run([] {
        auto thrown = sennit::make_ready_future().then(
            [](future<void>) -> int { throw std::runtime_error("x"); });
        EXPECT_THROW(thrown.get(), std::runtime_error);
        auto rethrown =
            sennit::make_exceptional_future<int>(3).then([](future<int> f) { return f.get(); });
        EXPECT_THROW(rethrown.get(), int);
        future<std::error_code> broken;
        {
            promise<int> made;
            broken =
                made.get_future().then([](future<int> f) { return code_of([&] { f.get(); }); });
        }
        EXPECT_EQ(broken.get(), broken_promise);
    });
}

TEST_P(then, then_carries_void_references_and_move_only_types) {
    runtime.run([] {
        int there = 0;
        int& referred = sennit::make_ready_future()
                            .then([&there](future<void>) -> int& { return there; })
                            .then([](future<int&> f) -> int& { return f.get(); })
                            .get();
        EXPECT_EQ(&referred, &there);
        auto moved = sennit::make_ready_future(std::make_unique<int>(3))
                         .then([own = std::make_unique<int>(4)](future<std::unique_ptr<int>> f) {
                             return std::make_unique<int>(*f.get() + *own);
                         });
        EXPECT_EQ(*moved.get(), 7);
        sennit::make_ready_future(counted(1)).then([kept = counted(2)](future<counted>) {}).get();
        EXPECT_EQ(counted::alive(), 0); // all are destroyed before the result is ready
    });
}

TEST_P(then, then_leaves_shared_future_valid) {
    runtime.run([] {
        promise<int> made;
        const shared_future<int> source = made.get_future();
        std::vector<future<int>> results;
        for (int i = 0; i < 10; ++i)
            results.push_back(
                source.then([i](shared_future<int> ready) { return ready.get() + i; }));
        EXPECT_TRUE(source.valid());
        made.set_value(100);
        for (int i = 0; i < 10; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), 100 + i);
        EXPECT_EQ(source.get(), 100);
    });
}

TEST_P(then, then_unwraps_future_of_future) {
    runtime.run([] {
        promise<int> late;
        auto waiting =
            sennit::make_ready_future().then([&](future<void>) { return late.get_future(); });
        static_assert(std::is_same_v<decltype(waiting), future<int>>);
        EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(1)), sennit::future_status::timeout);
        late.set_value(3);
        EXPECT_EQ(waiting.get(), 3);

        const auto of = [](auto made) {
            return [made = std::move(made)](future<void>) mutable { return std::move(made); };
        };
        EXPECT_THROW(
            sennit::make_ready_future().then(of(sennit::make_exceptional_future<int>(1.5))).get(),
            double);
        EXPECT_EQ(code_of([&] { sennit::make_ready_future().then(of(future<int>())).get(); }),
                  broken_promise);
        sennit::make_ready_future().then(of(sennit::make_ready_future())).get();
        int there = 0;
        EXPECT_EQ(
            &sennit::make_ready_future().then(of(sennit::make_ready_future(std::ref(there)))).get(),
            &there);
        auto thrown =
            sennit::make_ready_future().then([](future<void>) -> future<int> { throw 'x'; });
        EXPECT_THROW(thrown.get(), char);
    });
}

TEST_P(then, then_unwraps_one_level_and_the_constructor_another) {
    runtime.run([] {
        auto nested = sennit::make_ready_future().then(
            [](future<void>) { return sennit::make_ready_future(sennit::make_ready_future(4)); });
        static_assert(std::is_same_v<decltype(nested), future<future<int>>>);
        future<int> flat(std::move(nested));
        EXPECT_FALSE(nested.valid());
        EXPECT_EQ(flat.get(), 4);
    });
}

TEST_P(then, then_makes_chains_of_any_length) {
    constexpr int links = 20'000;
    runtime.run([&] {
        promise<int> made;
        future<int> last = made.get_future();
        for (int i = 0; i < links; ++i) last = last.then([](future<int> f) { return f.get() + 1; });
        made.set_value(0);
        EXPECT_EQ(last.get(), links);
    });
}

future<counted> count_down(int from) {
    if (from == 0) return sennit::make_ready_future(counted(42));
    return sennit::make_ready_future().then([from](future<void>) { return count_down(from - 1); });
}

// Each link waits for the next link. The links hold no stacks, and their calls do not nest when the
// last link becomes ready.
TEST_P(then, then_unwraps_recursion_of_any_depth_and_holds_no_stacks) {
    runtime.run([] { EXPECT_EQ(count_down(50'000).get().value, 42); });
    EXPECT_LE(runtime.metrics().stacks_live, 2 * GetParam() + 1);
}

TEST_P(then, continuation_runs_although_its_future_is_dropped) {
    promise<void> ran;
    runtime.run([&] {
        promise<int> made;
        (void)made.get_future().then([&ran, kept = counted()](future<int> f) {
            EXPECT_EQ(f.get(), 1);
            ran.set_value();
        });
        made.set_value(1);
    });
    ran.get_future().get();
}

TEST_P(then, continuation_attached_while_the_value_is_set_runs_once) {
    for (int round = 0; round < 3000; ++round) {
        promise<int> made;
        future<int> source = made.get_future();
        std::atomic<int> ran{0};
        runtime.run([&] {
            sennit::fiber setter([&] { made.set_value(round); });
            if (round % 2) sennit::sched::yield();
            EXPECT_EQ(source.then([&](future<int> f) { return ++ran, f.get(); }).get(), round);
            setter.join();
        });
        ASSERT_EQ(ran, 1);
    }
}

} // namespace
