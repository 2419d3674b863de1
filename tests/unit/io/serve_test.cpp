// SPDX-License-Identifier: Apache-2.0
// Servers: io::serve, its limits, and a process without descriptors.
#include "support.hpp"

#include "../../support/child_process.hpp"

#include <sennit/latch.hpp>

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <vector>

namespace {

using namespace std::chrono_literals;

class servers : public with_workers {};
SENNIT_IO_FOR_WORKERS(servers);

void echo(io::tcp_stream& peer) {
    std::array<std::byte, 256> buffer{};
    while (const std::size_t n = peer.read_some(buffer)) peer.write(std::span(buffer).first(n));
}

TEST_P(servers, many_clients_get_their_bytes_back) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        all.start([&] { io::serve(door, {}, echo); });
        {
            sennit::nursery clients;
            for (int i = 0; i < 40; ++i)
                clients.start([&, i] {
                    io::tcp_stream one = io::tcp_stream::connect(door.local());
                    for (int k = 0; k < 20; ++k) {
                        const std::string text = std::to_string(i * 1000 + k);
                        one.write(text);
                        EXPECT_EQ(read_text(one, text.size()), text);
                    }
                });
            clients.join();
        }
        door.close();
        all.join();
    });
}

TEST_P(servers, limit_of_clients_holds) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::atomic<int> now{0}, most{0};
        sennit::nursery all;
        all.start([&] {
            io::serve(door, {.most_clients = 3}, [&](io::tcp_stream& peer) {
                const int mine = ++now;
                for (int seen = most; seen < mine && !most.compare_exchange_weak(seen, mine);) {
                }
                echo(peer);
                --now;
            });
        });
        sennit::nursery clients;
        for (int i = 0; i < 20; ++i)
            clients.start([&] {
                io::tcp_stream one = io::tcp_stream::connect(door.local());
                one.write("x");
                EXPECT_EQ(read_text(one, 1), "x");
            });
        clients.join();
        door.close();
        all.join();
        EXPECT_LE(most, 3);
    });
}

TEST_P(servers, idle_client_is_ended_and_reported) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::atomic<int> ended{0};
        sennit::nursery all;
        all.start([&] {
            io::serve(door,
                      {.idle = 1ms,
                       .on_error =
                           [&](const io::error& why) {
                               EXPECT_EQ(why.code(), std::errc::timed_out);
                               ++ended;
                           }},
                      echo);
        });
        io::tcp_stream silent = io::tcp_stream::connect(door.local());
        EXPECT_EQ(read_rest(silent), "");
        door.close();
        all.join();
        EXPECT_EQ(ended, 1);
    });
}

TEST_P(servers, drain_cancels_the_handlers_that_are_left) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::latch begun(1);
        sennit::nursery all;
        all.start([&] {
            io::serve(door, {.drain = 1ms}, [&](io::tcp_stream& peer) {
                begun.count_down();
                echo(peer);
            });
        });
        io::tcp_stream silent = io::tcp_stream::connect(door.local());
        begun.wait();
        door.close();
        all.join();
        EXPECT_EQ(read_rest(silent), "");
    });
}

// The limit is the handler's own. The server serves the next connection.
TEST_P(servers, time_limit_of_a_handler_ends_its_connection_only) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::atomic<int> ended{0};
        sennit::nursery all;
        all.start([&] {
            io::serve(door,
                      {.on_error =
                           [&](const io::error& why) {
                               EXPECT_EQ(why.code(), std::errc::timed_out);
                               EXPECT_STREQ(why.operation(), "with_timeout");
                               ++ended;
                           }},
                      [](io::tcp_stream& peer) { sennit::with_timeout(1ms, [&] { echo(peer); }); });
        });
        for (int i = 1; i <= 2; ++i) {
            io::tcp_stream silent = io::tcp_stream::connect(door.local());
            EXPECT_EQ(read_rest(silent), "");
        }
        EXPECT_TRUE(door.is_open());
        door.close();
        all.join();
        EXPECT_EQ(ended, 2);
    });
}

TEST_P(servers, other_exception_of_a_handler_ends_the_server) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        all.start([&] {
            EXPECT_THROW(io::serve(door, {},
                                   [&](io::tcp_stream&) {
                                       door.close();
                                       throw std::runtime_error("broken");
                                   }),
                         std::runtime_error);
        });
        io::tcp_stream one = io::tcp_stream::connect(door.local());
        all.join();
    });
}

// The handler does not close the listener.
TEST_P(servers, exception_of_a_handler_ends_accepting) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        all.start([&] {
            EXPECT_THROW(
                io::serve(door, {}, [&](io::tcp_stream&) { throw std::runtime_error("broken"); }),
                std::runtime_error);
        });
        io::tcp_stream one = io::tcp_stream::connect(door.local());
        all.join();
        EXPECT_FALSE(door.is_open());
    });
}

// The limit of connections is reached. `close` of the listener begins to drain nevertheless.
TEST_P(servers, server_at_its_limit_drains) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        all.start([&] { io::serve(door, {.most_clients = 1, .drain = 1ms}, echo); });
        io::tcp_stream one = io::tcp_stream::connect(door.local());
        one.write("x");
        EXPECT_EQ(read_text(one, 1), "x");
        io::tcp_stream waits = io::tcp_stream::connect(door.local());
        door.close();
        all.join();
        EXPECT_EQ(read_rest(one), "");
    });
}

TEST_P(servers, cancelled_nursery_ends_server) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        all.start([&] { io::serve(door, {}, echo); });
        sennit::this_fiber::yield();
        all.cancel();
        all.join();
    });
}

TEST_P(servers, refused_connection_is_an_error) {
    runtime.run([] {
        io::endpoint gone = any_port().local();
        std::error_code failed;
        io::tcp_stream none = io::tcp_stream::connect(gone, failed);
        EXPECT_EQ(failed, std::errc::connection_refused);
        EXPECT_FALSE(none.is_open());
        EXPECT_THROW(io::tcp_stream::connect(gone), io::error);
    });
}

TEST_P(servers, unix_listener_removes_its_path) {
    const io::endpoint at("unix:/tmp/sennit-io-test-" + std::to_string(GetParam()));
    runtime.run([&] {
        for (int i = 0; i < 2; ++i) {
            io::unix_listener door(at);
            io::unix_stream client = io::unix_stream::connect(at);
            io::unix_stream peer = door.accept();
            peer.write("hi");
            EXPECT_EQ(read_text(client, 2), "hi");
        }
        std::error_code failed;
        (void)io::unix_stream::connect(at, failed);
        EXPECT_EQ(failed, std::errc::no_such_file_or_directory);
    });
}

// The process may open no more descriptors. The server pauses instead of spinning, and accepts
// again when a descriptor is free.
TEST(servers_without_descriptors, server_survives_shortage) {
    EXPECT_EQ(status_of_child_in_time([] {
                  sennit::runtime one({.workers = 1});
                  int answered = 0;
                  one.run([&] {
                      io::tcp_listener door = any_port();
                      sennit::nursery all;
                      all.start([&] { io::serve(door, {}, echo); });
                      std::vector<io::tcp_stream> held;
                      {
                          rlimit limit{};
                          ::getrlimit(RLIMIT_NOFILE, &limit);
                          limit.rlim_cur = 40;
                          ::setrlimit(RLIMIT_NOFILE, &limit);
                      }
                      for (;;) {
                          std::error_code failed;
                          io::tcp_stream next = io::tcp_stream::connect(door.local(), failed);
                          if (failed == std::errc::too_many_files_open) break;
                          held.push_back(std::move(next));
                      }
                      sennit::this_fiber::sleep_for(30ms); // The server meets the shortage.
                      io::tcp_stream last = std::move(held.back());
                      held.clear();
                      last.write("x");
                      answered = read_text(last, 1) == "x";
                      last.close();
                      door.close();
                      all.join();
                  });
                  return answered == 1 ? 0 : 1;
              }),
              0);
}

} // namespace
