// SPDX-License-Identifier: Apache-2.0
// Servers whose connections wait without a stack: io::serve_when_readable.
#include "support.hpp"

#include <sennit/latch.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using io::served;

class readable_servers : public with_workers {};
SENNIT_IO_FOR_WORKERS(readable_servers);

served echo_once(io::tcp_stream& peer) {
    std::array<std::byte, 16> buffer{};
    const std::size_t n = peer.read_some(buffer);
    if (n == 0) return served::close;
    peer.write(std::span(buffer).first(n));
    return served::keep;
}

void ask(io::tcp_stream& peer, const std::string& text) {
    peer.write(text);
    EXPECT_EQ(read_text(peer, text.size()), text);
}

// A server in the nursery `all` until `door` is closed.
template <class Listener, class F>
void start_server(sennit::nursery& all, Listener& door, io::serve_options options, F handler) {
    all.start([&door, options = std::move(options), handler = std::move(handler)] {
        io::serve_when_readable(door, options, handler);
    });
}

TEST_P(readable_servers, many_clients_get_their_bytes_back) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        start_server(all, door, {}, echo_once);
        {
            sennit::nursery clients;
            for (int i = 0; i < 40; ++i)
                clients.start([&, i] {
                    io::tcp_stream one = io::tcp_stream::connect(door.local());
                    // Longer than the buffer of the server, now and then.
                    for (int k = 0; k < 20; ++k)
                        ask(one, std::string(static_cast<std::size_t>(k * 3 + 1),
                                             static_cast<char>('a' + (i + k) % 26)));
                });
            clients.join();
        }
        door.close();
        all.join();
    });
}

// Each call of the handler is a fiber of its own, and none is left while the connections wait.
TEST_P(readable_servers, connection_that_waits_has_no_fiber) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        std::atomic<int> inside{0};
        start_server(all, door, {}, [&](io::tcp_stream& peer) {
            ++inside;
            const served next = echo_once(peer);
            --inside;
            return next;
        });
        std::vector<io::tcp_stream> clients;
        for (int i = 0; i < 10; ++i) {
            clients.push_back(io::tcp_stream::connect(door.local()));
            ask(clients.back(), "a");
        }
        for (io::tcp_stream& one : clients) ask(one, "b");
        while (inside != 0) sennit::this_fiber::yield();
        clients.clear();
        door.close();
        all.join();
        EXPECT_EQ(inside, 0);
    });
}

// One worker finds all requests in one look. The fibers of the requests begin in the order of their
// arrival. In the opposite order, a connection would wait behind all later requests of the others.
TEST(readable_server, serves_requests_in_order_of_arrival) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    runtime.run([] {
        io::unix_listener door(io::endpoint("unix:/tmp/sennit-order-" + std::to_string(getpid())));
        sennit::nursery all;
        std::string order;
        start_server(all, door, {}, [&](io::unix_stream& peer) {
            std::array<char, 1> request{};
            if (peer.read_some(std::as_writable_bytes(std::span(request))) == 0)
                return served::close;
            order += request[0];
            peer.write(std::string_view(request.data(), 1));
            return served::keep;
        });
        const std::string names = "abcdefgh";
        std::vector<io::unix_stream> clients;
        for (std::size_t i = 0; i < names.size(); ++i) {
            clients.push_back(io::unix_stream::connect(door.local()));
            clients.back().write("-");
            EXPECT_EQ(read_text(clients.back(), 1), "-"); // The connection waits afterwards.
        }
        // A new worker begins with a request for work, which it answers with half of its first
        // queue. The first round is therefore left out.
        for (int round = 0; round < 3; ++round) {
            order.clear();
            for (std::size_t i = 0; i < names.size(); ++i) clients[i].write(names.substr(i, 1));
            for (std::size_t i = 0; i < names.size(); ++i)
                EXPECT_EQ(read_text(clients[i], 1), names.substr(i, 1));
        }
        EXPECT_EQ(order, names);
        clients.clear();
        door.close();
        all.join();
    });
}

TEST_P(readable_servers, limit_of_clients_holds) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::atomic<int> most{0}, now{0};
        struct counted {
            std::atomic<int>* in = nullptr;
            ~counted() {
                if (in) --*in;
            }
        };
        sennit::nursery all;
        all.start([&] {
            io::serve_when_readable<counted>(
                door, {.most_clients = 3}, [&](io::tcp_stream& peer, counted& mine) {
                    if (!mine.in) {
                        mine.in = &now;
                        const int count = ++now;
                        for (int seen = most;
                             seen < count && !most.compare_exchange_weak(seen, count);) {
                        }
                    }
                    return echo_once(peer);
                });
        });
        sennit::nursery clients;
        for (int i = 0; i < 20; ++i)
            clients.start([&] {
                io::tcp_stream one = io::tcp_stream::connect(door.local());
                ask(one, "x");
                ask(one, "y");
            });
        clients.join();
        door.close();
        all.join();
        EXPECT_LE(most, 3);
        EXPECT_EQ(now, 0);
    });
}

// The limit of connections is reached. `close` of the listener ends the server nevertheless.
TEST_P(readable_servers, server_at_its_limit_ends) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        start_server(all, door, {.most_clients = 1}, echo_once);
        io::tcp_stream one = io::tcp_stream::connect(door.local());
        ask(one, "x");
        sennit::this_fiber::yield();
        door.close();
        all.join();
        EXPECT_EQ(read_rest(one), "");
    });
}

TEST_P(readable_servers, idle_client_is_ended_and_reported) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::atomic<int> ended{0};
        sennit::nursery all;
        start_server(all, door,
                     {.idle = 1ms,
                      .on_error =
                          [&](const io::error& why) {
                              EXPECT_EQ(why.code(), std::errc::timed_out);
                              EXPECT_STREQ(why.operation(), "serve_when_readable");
                              ++ended;
                          }},
                     echo_once);
        std::vector<io::tcp_stream> silent;
        for (int i = 0; i < 5; ++i) silent.push_back(io::tcp_stream::connect(door.local()));
        for (io::tcp_stream& one : silent) EXPECT_EQ(read_rest(one), "");
        door.close();
        all.join();
        EXPECT_EQ(ended, 5);
    });
}

// A client that speaks in time is not ended by the limit of an earlier wait.
TEST_P(readable_servers, limit_begins_anew_with_each_wait) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::atomic<bool> late{false};
        sennit::nursery all;
        start_server(all, door, {.idle = 1h, .on_error = [&](const io::error&) { late = true; }},
                     echo_once);
        io::tcp_stream one = io::tcp_stream::connect(door.local());
        for (int i = 0; i < 50; ++i) ask(one, "x");
        one.close();
        door.close();
        all.join();
        EXPECT_FALSE(late);
    });
}

TEST_P(readable_servers, end_closes_the_clients_that_wait) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        start_server(all, door, {.drain = 1h}, echo_once);
        std::vector<io::tcp_stream> silent;
        for (int i = 0; i < 5; ++i) {
            silent.push_back(io::tcp_stream::connect(door.local()));
            ask(silent.back(), "x");
        }
        door.close();
        all.join();
        for (io::tcp_stream& one : silent) EXPECT_EQ(read_rest(one), "");
    });
}

TEST_P(readable_servers, request_to_stop_lets_the_handlers_end) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        const io::endpoint at = door.local();
        std::stop_source stop;
        sennit::latch begun(1), go_on(1);
        sennit::nursery all;
        start_server(all, door, {.drain = 1h, .stop = stop.get_token()}, [&](io::tcp_stream& peer) {
            begun.count_down();
            go_on.wait();
            return echo_once(peer);
        });
        io::tcp_stream one = io::tcp_stream::connect(at);
        one.write("x");
        begun.wait();
        stop.request_stop();
        go_on.count_down();
        all.join();
        EXPECT_EQ(read_rest(one), "x");
    });
}

TEST_P(readable_servers, drain_cancels_the_handlers_that_are_left) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::latch begun(1);
        sennit::nursery all;
        start_server(all, door, {.drain = 1ms}, [&](io::tcp_stream& peer) {
            begun.count_down();
            for (;;) (void)echo_once(peer);
            return served::keep;
        });
        io::tcp_stream one = io::tcp_stream::connect(door.local());
        ask(one, "x");
        begun.wait();
        door.close();
        all.join();
        EXPECT_EQ(read_rest(one), "");
    });
}

TEST_P(readable_servers, cancelled_nursery_ends_server) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        start_server(all, door, {.drain = 1h}, echo_once);
        io::tcp_stream waits = io::tcp_stream::connect(door.local());
        ask(waits, "x");
        all.cancel();
        all.join();
        EXPECT_EQ(read_rest(waits), "");
    });
}

TEST_P(readable_servers, other_exception_of_a_handler_ends_the_server) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        all.start([&] {
            EXPECT_THROW(io::serve_when_readable(door, {},
                                                 [&](io::tcp_stream&) -> served {
                                                     throw std::runtime_error("broken");
                                                 }),
                         std::runtime_error);
        });
        io::tcp_stream waits = io::tcp_stream::connect(door.local());
        io::tcp_stream one = io::tcp_stream::connect(door.local());
        one.write("x");
        all.join();
        EXPECT_FALSE(door.is_open());
    });
}

TEST_P(readable_servers, error_of_a_stream_ends_its_connection_only) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::atomic<int> errors{0};
        sennit::nursery all;
        start_server(all, door, {.on_error = [&](const io::error&) { ++errors; }},
                     [&](io::tcp_stream& peer) -> served {
                         std::array<std::byte, 2> both{};
                         peer.read(both); // The first client sends one byte and its end.
                         peer.write(both);
                         return served::keep;
                     });
        io::tcp_stream good = io::tcp_stream::connect(door.local());
        ask(good, "ab");
        io::tcp_stream bad = io::tcp_stream::connect(door.local());
        bad.write("a");
        bad.shutdown_write();
        EXPECT_EQ(read_rest(bad), "");
        ask(good, "cd");
        good.close();
        door.close();
        all.join();
        EXPECT_GE(errors, 1);
    });
}

// The client has reset the connection while it waited.
TEST_P(readable_servers, reset_is_reported) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::latch reported(1);
        sennit::nursery all;
        start_server(all, door,
                     {.on_error =
                          [&](const io::error& why) {
                              EXPECT_EQ(why.code(), std::errc::connection_reset);
                              reported.count_down();
                          }},
                     echo_once);
        io::tcp_stream one = io::tcp_stream::connect(door.local());
        ask(one, "x");
        one.abort();
        reported.wait();
        door.close();
        all.join();
    });
}

// A handler that shows its stream.
struct showing_echo {
    std::atomic<io::tcp_stream*>& last;
    served operator()(io::tcp_stream& peer) const {
        const served next = echo_once(peer);
        if (next == served::keep) last = &peer;
        return next;
    }
};

TEST_P(readable_servers, cancel_ends_a_wait) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::atomic<io::tcp_stream*> last{nullptr};
        std::atomic<bool> reported{false};
        sennit::latch go_on(1);
        sennit::nursery all;
        start_server(all, door,
                     {.on_error =
                          [&](const io::error& why) {
                              EXPECT_EQ(why.code(), std::errc::operation_canceled);
                              reported = true;
                              go_on.wait(); // The stream lives until then.
                          }},
                     showing_echo{last});
        io::tcp_stream one = io::tcp_stream::connect(door.local());
        ask(one, "x");
        while (!last) sennit::this_fiber::yield();
        while (!reported) { // The connection may be about to wait.
            last.load()->cancel();
            sennit::this_fiber::yield();
        }
        go_on.count_down();
        EXPECT_EQ(read_rest(one), "");
        door.close();
        all.join();
    });
}

TEST_P(readable_servers, close_by_another_thread_ends_a_wait) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::atomic<io::tcp_stream*> last{nullptr};
        sennit::nursery all;
        start_server(all, door, {}, showing_echo{last});
        for (int i = 0; i < 5; ++i) {
            io::tcp_stream one = io::tcp_stream::connect(door.local());
            ask(one, "x");
            while (!last) sennit::this_fiber::yield();
            std::jthread outside([their = last.exchange(nullptr)] { their->close(); });
            EXPECT_EQ(read_rest(one), "");
        }
        door.close();
        all.join();
    });
}

// The stream is readable all the time, and the handler takes one byte of it at a time: other fibers
// have their turns.
TEST_P(readable_servers, busy_connection_lets_others_run) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery all;
        std::atomic<bool> go_on{true};
        start_server(all, door, {}, [&](io::tcp_stream& peer) {
            std::array<std::byte, 1> one{};
            if (go_on) return served::keep; // Takes nothing.
            return peer.read_some(one) == 0 ? served::close : served::keep;
        });
        io::tcp_stream loud = io::tcp_stream::connect(door.local());
        loud.write("x");
        for (int i = 0; i < 100; ++i) sennit::this_fiber::yield();
        go_on = false;
        loud.close();
        door.close();
        all.join();
    });
}

} // namespace
