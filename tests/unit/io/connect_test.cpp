// SPDX-License-Identifier: Apache-2.0
// Names: io::resolve, connections by name, and the race among addresses.
// tests/fault/lookup_test.cpp has the tests with a resolver that is slow or fails.
#include "support.hpp"

#include <sennit/io.hpp>
#include <sennit/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class names : public with_workers {};
SENNIT_IO_FOR_WORKERS(names);

// An address whose listener answers no further connection attempt: its backlog is full.
class silent_address {
public:
    silent_address() : door_(io::endpoint("127.0.0.1:0"), {.backlog = 0}) {
        for (int i = 0; i < 2; ++i) {
            sennit::nursery filling;
            filling.start([&] {
                std::error_code failed;
                held_.push_back(io::tcp_stream::connect(at(), failed));
            });
            try {
                sennit::with_timeout(50ms, [&] { filling.join(); });
            } catch (const sennit::timed_out&) {
                filling.cancel();
                filling.join();
            }
        }
    }
    io::endpoint at() const { return door_.local(); }

private:
    io::tcp_listener door_;
    std::vector<io::tcp_stream> held_;
};

io::endpoint closed_address() {
    return any_port().local(); // The listener has ended.
}

TEST_P(names, numbers_need_no_lookup) {
    runtime.run([] {
        EXPECT_EQ(io::resolve("127.0.0.1", "80"), std::vector{io::endpoint("127.0.0.1:80")});
        EXPECT_EQ(io::resolve("::1", "80"), std::vector{io::endpoint("[::1]:80")});
        EXPECT_EQ(sennit::block_on(io::async_resolve("10.0.0.1", "1")),
                  std::vector{io::endpoint("10.0.0.1:1")});
    });
}

TEST_P(names, localhost_has_an_address_of_this_machine) {
    runtime.run([] {
        const io::resolve_options v4{.family = io::address_family::ipv4};
        const std::vector wanted{io::endpoint("127.0.0.1:80")};
        EXPECT_EQ(io::resolve("localhost", "80", v4), wanted);
        EXPECT_EQ(sennit::block_on(io::async_resolve("localhost", "80", v4)), wanted);
    });
    EXPECT_FALSE(io::resolve("localhost", "80").empty()); // A thread of the system.
}

TEST_P(names, empty_passive_host_is_all_networks) {
    runtime.run([] {
        const auto all = io::resolve("", "8080", {.passive = true});
        EXPECT_NE(std::find(all.begin(), all.end(), io::endpoint("0.0.0.0:8080")), all.end());
    });
}

TEST_P(names, unknown_service_is_an_error) {
    runtime.run([] {
        std::error_code failed;
        EXPECT_TRUE(io::resolve("localhost", "no-such-service", {}, failed).empty());
        EXPECT_EQ(failed, io::errc::service_not_found);
        EXPECT_THROW((void)io::resolve("localhost", "no-such-service"), io::error);
    });
}

TEST_P(names, connects_by_name) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        const std::uint16_t port = door.local().port();
        for (int i = 0; i < 3; ++i) {
            io::tcp_stream client;
            if (i == 0) client = io::tcp_stream::connect("localhost", port);
            if (i == 1) client = io::tcp_stream::connect("127.0.0.1", std::to_string(port));
            if (i == 2)
                client = sennit::block_on(
                    io::tcp_stream::async_connect("localhost", std::to_string(port)));
            io::tcp_stream peer = door.accept();
            peer.write("hi");
            EXPECT_EQ(read_text(client, 2), "hi");
        }
    });
}

TEST_P(names, listens_at_all_networks_and_by_name) {
    runtime.run([] {
        io::tcp_listener all(std::uint16_t{0});
        auto one = io::tcp_stream::connect("127.0.0.1", all.local().port());
        all.accept().write("a");
        EXPECT_EQ(read_text(one, 1), "a");

        io::tcp_listener named("localhost", "0");
        auto two = io::tcp_stream::connect(named.local());
        named.accept().write("b");
        EXPECT_EQ(read_text(two, 1), "b");
        EXPECT_THROW(io::tcp_listener("localhost", "no-such-service"), io::error);
    });
}

TEST_P(names, refused_address_is_followed_by_the_next_without_delay) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        const std::vector to{closed_address(), door.local()};
        // The test would last for hours if the second attempt waited for the delay.
        auto client = io::tcp_stream::connect_first(to, {.attempt_delay = 24h});
        EXPECT_EQ(client.remote(), door.local());
    });
}

TEST_P(names, silent_address_loses_against_a_later_one) {
    runtime.run([] {
        const silent_address silent;
        io::tcp_listener door = any_port();
        const std::vector to{silent.at(), silent.at(), door.local()};
        auto client = io::tcp_stream::connect_first(to, {.attempt_delay = 1ms});
        EXPECT_EQ(client.remote(), door.local());
        auto peer = door.accept();
        client.write("x");
        EXPECT_EQ(read_text(peer, 1), "x");
    });
}

TEST_P(names, losers_of_a_race_are_closed) {
    runtime.run([] {
        io::tcp_listener first = any_port(), second = any_port();
        const std::vector to{first.local(), second.local()};
        auto client = io::tcp_stream::connect_first(to, {.attempt_delay = 0ns});
        const bool first_won = client.remote() == first.local();
        io::tcp_listener& lost = first_won ? second : first;
        // Either the loser never came, or its stream ends at once.
        std::error_code failed;
        lost.timeout(1ms);
        io::tcp_stream loser = lost.accept(failed);
        EXPECT_EQ(failed ? "" : read_rest(loser), "");
    });
}

TEST_P(names, error_names_all_attempts) {
    runtime.run([] {
        const std::vector to{closed_address(), closed_address()};
        try {
            (void)io::tcp_stream::connect_first(to);
            FAIL();
        } catch (const io::error& lost) {
            EXPECT_EQ(lost.code(), std::errc::connection_refused);
            const std::string text = lost.what();
            for (const io::endpoint& one : to)
                EXPECT_NE(text.find(one.to_string()), std::string::npos) << text;
        }
        std::error_code failed;
        const auto none =
            io::tcp_stream::connect("127.0.0.1", std::to_string(to[0].port()), {}, failed);
        EXPECT_FALSE(none.is_open());
        EXPECT_EQ(failed, std::errc::connection_refused);
        EXPECT_THROW((void)io::tcp_stream::connect_first({}), io::error);
    });
}

TEST_P(names, cancelled_and_timed_out_races_end) {
    runtime.run([] {
        const silent_address silent;
        const std::vector to{silent.at(), silent.at()};
        EXPECT_THROW(
            sennit::with_timeout(
                1ms, [&] { (void)io::tcp_stream::connect_first(to, {.attempt_delay = 0ns}); }),
            sennit::timed_out);
        sennit::nursery all;
        all.start([&] { (void)io::tcp_stream::connect_first(to); });
        all.start(io::tcp_stream::async_connect_first(to));
        sennit::this_fiber::yield();
        all.cancel();
        all.join();
    });
}

TEST_P(names, thread_of_the_system_connects_by_name) {
    io::tcp_listener door = any_port();
    io::tcp_stream client = io::tcp_stream::connect("localhost", door.local().port());
    io::tcp_stream peer = door.accept();
    client.write("x");
    EXPECT_EQ(read_text(peer, 1), "x");
}

} // namespace
