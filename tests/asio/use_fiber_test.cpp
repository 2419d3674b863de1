// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

namespace {

struct use_fiber_in : with_workers {};
INSTANTIATE_TEST_SUITE_P(workers, use_fiber_in, testing::Values(1u, 3u));

TEST_P(use_fiber_in, a_timer_ends_the_wait) {
    runtime.run([] {
        sennit::asio::context world;
        net::steady_timer timer(world, 1ms);
        timer.async_wait(use_fiber);
        EXPECT_LE(timer.expiry(), std::chrono::steady_clock::now());
    });
}

TEST_P(use_fiber_in, a_post_returns_nothing) {
    runtime.run([] {
        sennit::asio::context world;
        net::post(world.get_executor(), use_fiber);
        net::post(world.io_executor(), use_fiber);
        net::post(world.get_executor(), use_fiber.in_executor());
        static_assert(std::is_void_v<decltype(net::post(world.get_executor(), use_fiber))>);
        net::post(use_fiber); // In the threads of Asio's system executor.
    });
}

TEST_P(use_fiber_in, an_operation_of_composed_steps_transfers_all_bytes) {
    runtime.run([] {
        sennit::asio::context world;
        connected pair(world);
        const std::string sent(300'000, 'x');
        sennit::fiber writer([&] {
            EXPECT_EQ(net::async_write(pair.mine, net::buffer(sent), use_fiber), sent.size());
            pair.mine.shutdown(tcp::socket::shutdown_send);
        });
        std::string got;
        error_code failed;
        net::async_read(pair.theirs, net::dynamic_buffer(got), use_fiber[failed]);
        EXPECT_EQ(failed, net::error::eof);
        EXPECT_EQ(got, sent);
        writer.join();
    });
}

TEST_P(use_fiber_in, many_fibers_echo_at_once) {
    static constexpr int clients = 40, rounds = 10;
    runtime.run([] {
        sennit::asio::context world;
        tcp::acceptor door = listening(world);
        sennit::nursery all;
        all.start([&] {
            for (int i = 0; i < clients; ++i)
                all.start([peer = std::make_shared<tcp::socket>(door.async_accept(use_fiber))] {
                    std::array<char, 64> data;
                    error_code failed;
                    while (std::size_t n =
                               peer->async_read_some(net::buffer(data), use_fiber[failed]))
                        net::async_write(*peer, net::buffer(data, n), use_fiber);
                    EXPECT_EQ(failed, net::error::eof);
                });
        });
        std::atomic<int> echoed{0};
        for (int i = 0; i < clients; ++i)
            all.start([&, i] {
                tcp::socket own(world);
                own.async_connect(door.local_endpoint(), use_fiber);
                for (int round = 0; round < rounds; ++round) {
                    const std::string text = std::to_string(i * rounds + round);
                    net::async_write(own, net::buffer(text), use_fiber);
                    std::string answer(text.size(), '?');
                    net::async_read(own, net::buffer(answer), use_fiber);
                    if (answer == text) ++echoed;
                }
            });
        all.join();
        EXPECT_EQ(echoed, clients * rounds);
    });
}

TEST_P(use_fiber_in, a_reader_and_a_writer_share_a_socket) {
    runtime.run([] {
        sennit::asio::context world;
        connected pair(world);
        const auto exchange = [](tcp::socket& own) {
            sennit::nursery both;
            both.start([&] {
                for (int i = 0; i < 50; ++i)
                    net::async_write(own, net::buffer("12345", 5), use_fiber.in_executor());
            });
            both.start([&] {
                std::array<char, 250> got;
                EXPECT_EQ(net::async_read(own, net::buffer(got), use_fiber.in_executor()), 250u);
            });
            both.join();
        };
        sennit::fiber theirs([&] { exchange(pair.theirs); });
        exchange(pair.mine);
        theirs.join();
    });
}

TEST_P(use_fiber_in, an_error_is_thrown_or_stored) {
    runtime.run([] {
        sennit::asio::context world;
        tcp::endpoint nobody;
        {
            tcp::acceptor door = listening(world);
            nobody = door.local_endpoint();
        }
        tcp::socket own(world);
        try {
            own.async_connect(nobody, use_fiber);
            FAIL() << "connected to a closed port";
        } catch (const system_error& failed) {
            EXPECT_EQ(failed.code(), net::error::connection_refused);
        }
        tcp::socket other(world);
        error_code failed;
        other.async_connect(nobody, use_fiber[failed]);
        EXPECT_EQ(failed, net::error::connection_refused);
        net::steady_timer timer(world, 0ms);
        timer.async_wait(use_fiber[failed]);
        EXPECT_FALSE(failed);
    });
}

TEST_P(use_fiber_in, an_exception_of_a_coroutine_is_rethrown) {
    runtime.run([] {
        sennit::asio::context world;
        const auto answer = [](bool good) -> net::awaitable<std::unique_ptr<int>> {
            net::steady_timer timer(co_await net::this_coro::executor, 1ms);
            co_await timer.async_wait(net::use_awaitable);
            if (!good) throw std::runtime_error("no answer");
            co_return std::make_unique<int>(42);
        };
        EXPECT_EQ(*net::co_spawn(world, answer(true), use_fiber), 42);
        try {
            (void)net::co_spawn(world, answer(false), use_fiber);
            FAIL() << "the exception is lost";
        } catch (const std::runtime_error& thrown) {
            EXPECT_STREQ(thrown.what(), "no answer");
        }
    });
}

TEST_P(use_fiber_in, several_values_come_as_a_tuple) {
    runtime.run([] {
        const auto [text, number] = async_custom<void(error_code, std::string, int)>(
            [](auto handler) { handler(error_code(), "seven", 7); }, use_fiber);
        EXPECT_EQ(text, "seven");
        EXPECT_EQ(number, 7);
        const std::string one =
            async_custom<void(std::string)>([](auto handler) { handler("one"); }, use_fiber);
        EXPECT_EQ(one, "one");
    });
}

TEST_P(use_fiber_in, a_thread_that_is_no_worker_may_wait) {
    sennit::asio::context world(runtime);
    net::steady_timer timer(world, 1ms);
    timer.async_wait(use_fiber);
    connected pair(world);
    net::async_write(pair.mine, net::buffer("abc", 3), use_fiber);
    std::array<char, 3> got;
    EXPECT_EQ(net::async_read(pair.theirs, net::buffer(got), use_fiber), 3u);
}

TEST_P(use_fiber_in, a_forked_child_and_a_task_may_wait) {
    runtime.run([] {
        sennit::asio::context world;
        const auto wait = [&] {
            net::steady_timer timer(world, 1ms);
            timer.async_wait(use_fiber);
            return 1;
        };
        const auto [a, b] = sennit::fork_join(wait, wait);
        EXPECT_EQ(a + b, 2);
        EXPECT_EQ(
            sennit::block_on([](auto& inner) -> sennit::task<int> { co_return inner(); }(wait)), 1);
    });
}

TEST_P(use_fiber_in, a_cancelled_nursery_ends_the_operation_and_loses_no_byte) {
    runtime.run([] {
        sennit::asio::context world;
        connected pair(world);
        std::array<char, 8> got;
        sennit::nursery readers;
        sennit::event begins;
        std::atomic<bool> was_cancelled{false};
        readers.start([&] {
            begins.set();
            try {
                pair.mine.async_read_some(net::buffer(got), use_fiber);
            } catch (const sennit::cancelled&) {
                was_cancelled = true;
                throw;
            }
        });
        begins.wait();
        readers.cancel();
        readers.join();
        EXPECT_TRUE(was_cancelled);
        net::async_write(pair.theirs, net::buffer("later", 5), use_fiber);
        EXPECT_EQ(pair.mine.async_read_some(net::buffer(got), use_fiber), 5u);
    });
}

TEST_P(use_fiber_in, a_time_limit_ends_each_kind_of_operation) {
    runtime.run([] {
        sennit::asio::context world;
        connected pair(world);
        std::array<char, 8> got;
        error_code failed;
        const auto times_out = [](auto&& operation) {
            EXPECT_THROW(sennit::with_timeout(1ms, operation), sennit::timed_out);
        };
        times_out([&] { pair.mine.async_read_some(net::buffer(got), use_fiber); });
        times_out([&] { pair.mine.async_read_some(net::buffer(got), use_fiber[failed]); });
        times_out([&] { net::async_read(pair.mine, net::buffer(got), use_fiber); });
        times_out([&] { net::async_read(pair.mine, net::buffer(got), use_fiber.in_executor()); });
        tcp::acceptor door = listening(world);
        times_out([&] { (void)door.async_accept(use_fiber); });
        net::steady_timer timer(world, 1h);
        times_out([&] { timer.async_wait(use_fiber); });
        // In an expired scope, an operation begins and is cancelled.
        times_out([&] {
            try {
                timer.async_wait(use_fiber);
            } catch (const sennit::cancelled&) {
                timer.async_wait(use_fiber);
            }
        });
    });
}

TEST_P(use_fiber_in, a_coroutine_is_cancelled_with_its_waiter) {
    runtime.run([] {
        sennit::asio::context world;
        std::atomic<bool> unwound{false};
        struct note {
            std::atomic<bool>& flag;
            ~note() { flag = true; }
        };
        const auto forever = [&]() -> net::awaitable<void> {
            const note at_end{unwound};
            net::steady_timer timer(co_await net::this_coro::executor, 1h);
            co_await timer.async_wait(net::use_awaitable);
        };
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { net::co_spawn(world, forever(), use_fiber); }),
                     sennit::timed_out);
        EXPECT_TRUE(unwound);
    });
}

// The operation ignores the cancellation and completes later.
TEST_P(use_fiber_in, a_result_that_comes_in_spite_of_cancellation_is_delivered) {
    runtime.run([] {
        sennit::nursery waiters;
        sennit::promise<std::function<void(int)>> begun;
        auto complete = begun.get_future();
        std::atomic<int> delivered{0};
        std::atomic<bool> cancelled_afterwards{false};
        waiters.start([&] {
            delivered = async_custom<void(int)>(
                [&](auto handler) { begun.set_value(std::move(handler)); }, use_fiber);
            try {
                sennit::this_fiber::checkpoint();
            } catch (const sennit::cancelled&) {
                cancelled_afterwards = true;
                throw;
            }
        });
        const auto handler = complete.get();
        waiters.cancel();
        sennit::this_fiber::yield();
        handler(5);
        waiters.join();
        EXPECT_EQ(delivered, 5);
        EXPECT_TRUE(cancelled_afterwards);
    });
}

// Each byte that the peer sends arrives exactly once, however many reads are cut short.
TEST_P(use_fiber_in, reads_that_are_cut_short_at_any_moment_lose_nothing) {
    static constexpr std::size_t total = 20'000;
    runtime.run([] {
        sennit::asio::context world;
        connected pair(world);
        sennit::event once_cut_short;
        sennit::fiber writer([&] {
            once_cut_short.wait();
            for (std::size_t sent = 0; sent < total; sent += 100) {
                const std::string part(100, static_cast<char>('a' + sent / 100 % 26));
                net::async_write(pair.theirs, net::buffer(part), use_fiber);
            }
        });
        std::size_t got = 0;
        std::array<char, 70> data;
        for (unsigned round = 0; got < total; ++round) {
            try {
                got += sennit::with_timeout(std::chrono::microseconds(round % 40), [&] {
                    return pair.mine.async_read_some(net::buffer(data), use_fiber);
                });
            } catch (const sennit::timed_out&) {
                once_cut_short.set();
            }
        }
        EXPECT_EQ(got, total);
        writer.join();
    });
}

// An io_context of the program, with two threads: the steps of an operation and its cancellation
// must not meet.
TEST_P(use_fiber_in, operations_of_another_io_context_are_cancelled_safely) {
    runtime.run([] {
        net::io_context other;
        auto keep = net::make_work_guard(other);
        std::thread first([&] { other.run(); }), second([&] { other.run(); });
        {
            tcp::acceptor door(other, tcp::endpoint(net::ip::address_v4::loopback(), 0));
            tcp::socket mine(other), theirs(other);
            mine.async_connect(door.local_endpoint(), use_fiber);
            theirs = door.async_accept(use_fiber);
            sennit::fiber writer([&] {
                for (int i = 0; i < 200; ++i)
                    net::async_write(theirs, net::buffer("x", 1), use_fiber);
                theirs.shutdown(tcp::socket::shutdown_send);
            });
            std::size_t got = 0;
            std::array<char, 1000> data;
            error_code failed;
            for (unsigned round = 0; failed != net::error::eof; ++round) {
                try {
                    sennit::with_timeout(std::chrono::microseconds(round % 60), [&] {
                        // It takes a step for each part that has come, until it is cut short.
                        got += net::async_read(mine, net::buffer(data), use_fiber[failed]);
                    });
                } catch (const sennit::timed_out&) {
                    failed.clear();
                }
            }
            EXPECT_EQ(got, 200u);
            writer.join();
        }
        keep.reset();
        first.join();
        second.join();
    });
}

TEST_P(use_fiber_in, a_handler_that_is_dropped_ends_the_wait) {
    runtime.run([] {
        try {
            async_custom<void(int)>([](auto) {}, use_fiber);
            FAIL() << "no value was given";
        } catch (const system_error& failed) {
            EXPECT_EQ(failed.code(), net::error::operation_aborted);
            EXPECT_NE(std::string(failed.what()).find("[SNT-481]"), std::string::npos);
        }
        error_code failed;
        async_custom<void(error_code, int)>([](auto) {}, use_fiber[failed]);
        EXPECT_EQ(failed, net::error::operation_aborted);
    });
}

TEST_P(use_fiber_in, an_exception_of_the_initiation_reaches_the_caller) {
    runtime.run([] {
        sennit::asio::context world;
        const auto refuses = [](auto) -> void { throw std::runtime_error("refused"); };
        EXPECT_THROW((async_custom<void(int)>(refuses, use_fiber)), std::runtime_error);
    });
}

TEST_P(use_fiber_in, other_tokens_build_on_it) {
    runtime.run([] {
        sennit::asio::context world;
        net::steady_timer timer(world, 0ms);
        error_code failed = net::error::eof;
        timer.async_wait(net::redirect_error(use_fiber, failed));
        EXPECT_FALSE(failed);
    });
}

TEST(use_fiber_death_test, the_thread_of_a_context_must_not_wait) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            sennit::asio::context world;
            net::steady_timer timer(world, 1ms);
            net::post(world.io_executor(), [&] { timer.async_wait(use_fiber); });
            net::post(world.io_executor(), use_fiber);
        },
        "SNT-482");
}

} // namespace
