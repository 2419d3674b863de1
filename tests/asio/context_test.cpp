// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace {

using sennit::asio::executor;
namespace execution = net::execution;

static_assert(execution::is_executor<executor>::value);
static_assert(std::is_constructible_v<net::any_io_executor, executor>);
static_assert(net::can_require<executor, execution::blocking_t::never_t>::value);
static_assert(net::can_require<executor, execution::blocking_t::possibly_t>::value);
static_assert(net::can_prefer<executor, execution::relationship_t::continuation_t>::value);
static_assert(net::can_prefer<executor, execution::outstanding_work_t::tracked_t>::value);
static_assert(net::can_query<executor, execution::context_t>::value);
static_assert(std::is_nothrow_copy_constructible_v<executor>);

struct context_in : with_workers {};
INSTANTIATE_TEST_SUITE_P(workers, context_in, testing::Values(1u, 3u));

TEST_P(context_in, properties_are_kept) {
    sennit::asio::context world(runtime);
    const executor plain = world.get_executor();
    EXPECT_EQ(net::query(plain, execution::blocking), execution::blocking.possibly);
    const auto never = net::require(plain, execution::blocking.never);
    EXPECT_EQ(net::query(never, execution::blocking), execution::blocking.never);
    EXPECT_NE(never, plain);
    EXPECT_EQ(net::require(never, execution::blocking.possibly), plain);
    const auto next = net::prefer(plain, execution::relationship.continuation);
    EXPECT_EQ(net::query(next, execution::relationship), execution::relationship.continuation);
    const auto tracked = net::prefer(plain, execution::outstanding_work.tracked);
    EXPECT_EQ(net::query(tracked, execution::outstanding_work),
              execution::outstanding_work.tracked);
    EXPECT_EQ(&net::query(plain, execution::context), static_cast<net::execution_context*>(&world));
    const net::any_io_executor any(plain);
    EXPECT_NE(any.target<executor>(), nullptr);
    EXPECT_EQ(net::any_io_executor(world.get_executor()), any);
}

TEST_P(context_in, handlers_run_on_workers_of_the_runtime) {
    sennit::asio::context world(runtime);
    std::latch done(3);
    std::atomic<int> on_workers{0};
    const auto note = [&](auto&&...) {
        on_workers += sennit::sched::current_runtime() == &runtime.core();
        done.count_down();
    };
    net::post(world, note);
    net::dispatch(world, note);
    net::steady_timer timer(world, 1ms);
    timer.async_wait(note);
    done.wait();
    EXPECT_EQ(on_workers, 3);
}

TEST_P(context_in, dispatch_on_a_worker_is_a_call_and_post_is_not) {
    runtime.run([] {
        sennit::asio::context world;
        bool dispatched = false;
        net::dispatch(world, [&, here = sennit::this_fiber::get_id()] {
            dispatched = here == sennit::this_fiber::get_id();
        });
        EXPECT_TRUE(dispatched);
        sennit::mutex held;
        sennit::event posted;
        held.lock();
        net::post(world, [&] { // Would be a deadlock inside post.
            held.lock();
            held.unlock();
            posted.set();
        });
        held.unlock();
        posted.wait();
    });
}

TEST_P(context_in, handlers_may_block) {
    runtime.run([] {
        sennit::asio::context world;
        sennit::channel<int> numbers;
        std::atomic<int> sum{0};
        for (int i = 0; i < 50; ++i) net::post(world, [&] { sum += numbers.pop().value(); });
        for (int i = 0; i < 50; ++i) numbers.push(i);
        world.join();
        EXPECT_EQ(sum, 49 * 50 / 2);
    });
}

TEST_P(context_in, a_strand_runs_one_handler_at_a_time) {
    runtime.run([] {
        sennit::asio::context world;
        net::strand<executor> one_at_a_time(world.get_executor());
        int plain = 0; // Without a lock: ThreadSanitizer looks.
        sennit::nursery posters;
        for (int i = 0; i < 4; ++i)
            posters.start([&] {
                for (int j = 0; j < 250; ++j) net::post(one_at_a_time, [&] { ++plain; });
            });
        posters.join();
        net::post(one_at_a_time, use_fiber);
        EXPECT_EQ(plain, 1000);
    });
}

TEST_P(context_in, io_executor_runs_on_one_thread) {
    runtime.run([] {
        sennit::asio::context world;
        std::set<std::thread::id> threads;
        for (int i = 0; i < 100; ++i)
            net::post(world.io_executor(), [&] { threads.insert(std::this_thread::get_id()); });
        net::post(world.io_executor(), use_fiber);
        EXPECT_EQ(threads.size(), 1u);
        // A library that insists on an io_context gets the same executor.
        net::io_context& base = world;
        EXPECT_EQ(base.get_executor(), world.io_executor());
    });
}

TEST_P(context_in, coroutines_of_asio_run_on_the_workers) {
    runtime.run([&] {
        sennit::asio::context world;
        sennit::channel<int> numbers;
        const auto wait_and_add = [&](int count) -> net::awaitable<int> {
            net::steady_timer timer(co_await net::this_coro::executor, 1ms);
            co_await timer.async_wait(net::use_awaitable);
            int sum = 0;
            for (int i = 0; i < count; ++i) sum += numbers.pop().value(); // Blocks.
            EXPECT_EQ(sennit::sched::current_runtime(), &runtime.core());
            co_return sum;
        };
        std::atomic<int> sum{0};
        for (int i = 0; i < 10; ++i)
            net::co_spawn(world, wait_and_add(10), [&](std::exception_ptr failed, int added) {
                EXPECT_FALSE(failed);
                sum += added;
            });
        for (int i = 0; i < 100; ++i) numbers.push(1);
        world.join();
        EXPECT_EQ(sum, 100);
    });
}

TEST_P(context_in, join_waits_for_operations_and_tracked_work) {
    sennit::asio::context world(runtime);
    net::steady_timer timer(world, 2ms);
    std::atomic<bool> ended{false};
    timer.async_wait([&](error_code) { ended = true; });
    auto keep = std::make_unique<net::any_io_executor>(net::prefer(
        net::any_io_executor(world.get_executor()), execution::outstanding_work.tracked));
    std::thread later([&] {
        while (!ended) std::this_thread::yield();
        keep.reset();
    });
    world.join();
    EXPECT_TRUE(ended);
    EXPECT_EQ(keep, nullptr);
    later.join();
}

TEST_P(context_in, the_end_drops_the_handlers_of_operations) {
    runtime.run([] {
        const auto value = std::make_shared<int>(1);
        bool called = false;
        {
            sennit::asio::context world;
            net::steady_timer timer(world, 1h);
            timer.async_wait([&, value](error_code) { called = true; });
            auto own = std::make_unique<net::steady_timer>(world, 1h);
            auto& kept = *own;
            // Its handler owns the object, as handlers often do.
            kept.async_wait([&, value, own = std::move(own)](error_code) { called = true; });
            EXPECT_EQ(value.use_count(), 3);
            timer.expires_at(net::steady_timer::time_point::max()); // Cancels the first.
        }
        EXPECT_EQ(value.use_count(), 1);
        (void)called;
    });
}

TEST_P(context_in, a_resolver_and_signals_work) {
    runtime.run([] {
        sennit::asio::context world;
        tcp::resolver names(world);
        const auto found = names.async_resolve("127.0.0.1", "80", use_fiber);
        EXPECT_EQ(found.begin()->endpoint().port(), 80);
        net::signal_set wanted(world, SIGUSR1);
        sennit::fiber waits([&] { EXPECT_EQ(wanted.async_wait(use_fiber), SIGUSR1); });
        std::raise(SIGUSR1);
        waits.join();
    });
}

TEST(context_death_test, an_exception_of_a_handler_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run = [](auto executor_of) {
        sennit::asio::context world;
        net::post(executor_of(world), [] { throw std::runtime_error("spilt milk"); });
        world.join();
        net::post(world.io_executor(), use_fiber);
    };
    EXPECT_DEATH(run([](auto& world) { return world.get_executor(); }), "SNT-480.*spilt milk");
    EXPECT_DEATH(run([](auto& world) { return world.io_executor(); }), "SNT-480.*spilt milk");
}

} // namespace
