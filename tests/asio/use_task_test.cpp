// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace {

struct use_task_in : with_workers {};
INSTANTIATE_TEST_SUITE_P(workers, use_task_in, testing::Values(1u, 3u));

sennit::task<> echo(tcp::socket peer) {
    std::array<char, 64> data;
    error_code failed;
    while (std::size_t n = co_await peer.async_read_some(net::buffer(data), use_task[failed]))
        co_await net::async_write(peer, net::buffer(data, n), use_task);
    EXPECT_EQ(failed, net::error::eof);
}

sennit::task<int> ask(sennit::asio::context& world, tcp::endpoint where, int rounds) {
    tcp::socket own(world);
    co_await own.async_connect(where, use_task);
    int right = 0;
    for (int i = 0; i < rounds; ++i) {
        const std::string text = std::to_string(i);
        co_await net::async_write(own, net::buffer(text), use_task);
        std::string answer(text.size(), '?');
        co_await net::async_read(own, net::buffer(answer), use_task.in_executor());
        right += answer == text;
    }
    co_return right;
}

TEST_P(use_task_in, many_tasks_echo_at_once) {
    static constexpr int clients = 40, rounds = 10;
    runtime.run([] {
        sennit::asio::context world;
        tcp::acceptor door = listening(world);
        sennit::nursery servers;
        const auto accept_all = [&]() -> sennit::task<> {
            for (int i = 0; i < clients; ++i)
                servers.start(echo(co_await door.async_accept(use_task)));
        };
        servers.start(accept_all());
        std::vector<sennit::future<int>> right;
        for (int i = 0; i < clients; ++i)
            right.push_back(sennit::spawn(ask, std::ref(world), door.local_endpoint(), rounds));
        int sum = 0;
        for (auto& each : right) sum += each.get();
        EXPECT_EQ(sum, clients * rounds);
        servers.join();
    });
}

TEST_P(use_task_in, results_and_errors_are_those_of_use_fiber) {
    const auto body = [](sennit::runtime& where) -> sennit::task<> {
        sennit::asio::context world(where);
        const auto [text, number] = co_await async_custom<void(error_code, std::string, int)>(
            [](auto handler) { handler(error_code(), "seven", 7); }, use_task);
        EXPECT_EQ(text, "seven");
        EXPECT_EQ(number, 7);
        bool thrown = false;
        try {
            (void)co_await async_custom<void(error_code, int)>(
                [](auto handler) { handler(net::error::eof, 0); }, use_task);
        } catch (const system_error& failed) {
            thrown = failed.code() == net::error::eof;
        }
        EXPECT_TRUE(thrown);
        const auto fails = []() -> net::awaitable<int> {
            throw std::runtime_error("no answer");
            co_return 0;
        };
        thrown = false;
        try {
            (void)co_await net::co_spawn(world, fails(), use_task);
        } catch (const std::runtime_error&) {
            thrown = true;
        }
        EXPECT_TRUE(thrown);
        thrown = false;
        try {
            co_await async_custom<void(int)>([](auto) {}, use_task);
        } catch (const system_error& failed) {
            thrown = failed.code() == net::error::operation_aborted;
        }
        EXPECT_TRUE(thrown);
    };
    runtime.run([&] { sennit::block_on(body(runtime)); });
    sennit::block_on(body(runtime)); // On a thread that is no worker.
}

// A task that is not awaited begins no operation.
TEST_P(use_task_in, an_operation_begins_when_its_task_does) {
    runtime.run([] {
        bool begun = false;
        {
            sennit::task<int> never = async_custom<void(int)>(
                [&](auto handler) {
                    begun = true;
                    handler(1);
                },
                use_task);
            EXPECT_TRUE(never.valid());
        }
        EXPECT_FALSE(begun);
    });
}

TEST_P(use_task_in, a_time_limit_cancels_the_operation_and_loses_no_byte) {
    const auto body = []() -> sennit::task<> {
        sennit::asio::context world;
        connected pair(world);
        std::array<char, 8> got;
        bool timed_out = false;
        try {
            co_await sennit::with_timeout(1ms,
                                          pair.mine.async_read_some(net::buffer(got), use_task));
        } catch (const sennit::timed_out&) {
            timed_out = true;
        }
        EXPECT_TRUE(timed_out);
        co_await net::async_write(pair.theirs, net::buffer("later", 5), use_task);
        EXPECT_EQ(co_await pair.mine.async_read_some(net::buffer(got), use_task), 5u);
    };
    runtime.run([&] { sennit::block_on(body()); });
}

TEST_P(use_task_in, a_cancelled_nursery_ends_the_operations_of_its_tasks) {
    runtime.run([] {
        sennit::asio::context world;
        sennit::nursery waiters;
        sennit::counting_semaphore<> begun(0);
        const auto wait = [&]() -> sennit::task<> {
            net::steady_timer timer(world, 1h);
            begun.release();
            co_await timer.async_wait(use_task);
        };
        for (int i = 0; i < 20; ++i) waiters.start(wait);
        for (int i = 0; i < 20; ++i) begun.acquire();
        waiters.cancel();
        waiters.join();
        world.join(); // No operation is left.
    });
}

} // namespace
