// SPDX-License-Identifier: Apache-2.0
// io::serve: accepts connections and calls a function for each, in a fiber of its own, within
// limits.
//
//     sennit::io::tcp_listener door(sennit::io::endpoint("0.0.0.0:8080"));
//     sennit::io::serve(door, {.most_clients = 1000, .idle = 30s}, [](sennit::io::tcp_stream& peer)
//     {
//         std::array<std::byte, 4096> buffer;
//         while (std::size_t n = peer.read_some(buffer)) peer.write(std::span(buffer).first(n));
//     });
//
// Use it for a server that must survive bad clients. The end has three steps. First, serve stops
// accepting: after `door.close()` or `door.cancel()`, or when `options.stop` requests it. Second,
// the connections drain: their handlers have the time `options.drain` to end. Third, the handlers
// that are left are cancelled, and serve returns when they have ended. In a cancelled nursery serve
// cancels the handlers at once, and throws `cancelled`. signals.hpp has the signals that begin
// this. Errors: an io::error of a handler ends its connection only, because resets are daily, and
// so does the `timed_out` of a with_timeout in the handler, because slow clients are, too;
// `on_error` hears of both. Any other exception of a handler closes the listener and cancels all
// connections, and serve throws it. Where the process has no more descriptors or memory, serve
// accepts again after 5 ms, up to 1 s, so that no processor spins. A connection that waits for a
// request holds the stack of its handler. Where most connections wait most of the time, use
// serve_when_readable, whose connections wait without a stack.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/io/detail/client_count.hpp"
#include "sennit/io/error.hpp"
#include "sennit/io/handle.hpp"
#include "sennit/nursery.hpp"
#include "sennit/this_fiber.hpp"
#include "sennit/with_timeout.hpp"

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <system_error>
#include <utility>

namespace sennit::io {

struct serve_options {
    // Connections at a time, at least 1. Further ones wait in the backlog.
    std::size_t most_clients = SIZE_MAX;
    // The longest wait of one call on a connection: see handle::timeout. Zero: no limit.
    std::chrono::nanoseconds idle{0};
    // How long handlers may continue after the end of accepting.
    std::chrono::nanoseconds drain = std::chrono::seconds(5);
    // Called in the fiber of the connection. A `timed_out` comes as an error with the code
    // std::errc::timed_out. Must not throw.
    std::function<void(const error&)> on_error{};
    // A request to stop closes the listener, which begins to drain. Handlers that wait for a next
    // request may look at the same token.
    std::stop_token stop{};
};

namespace detail {
// True if accepting failed because the process has no more descriptors or memory at present.
bool is_shortage(const std::error_code& failed) noexcept;
// In a catch block. Reports the exception, and returns true, if it ends only its connection. Not
// inline: the frame of a connection stays small.
bool ends_connection_only(const serve_options& options);
// True if `close` or `cancel` has ended accepting.
bool is_end(const std::error_code& failed) noexcept;

inline constexpr std::chrono::milliseconds first_pause{5}, longest_pause{1000};

// Accepts connections for as long as the listener accepts, and calls `begin(stream)` for each.
template <class Listener, class F>
void accept_all(Listener& listener, client_count& clients, F begin) {
    auto pause = first_pause;
    for (;;) {
        std::error_code failed;
        typename Listener::stream_type peer;
        clients.wait_for_place(failed);
        if (!failed) peer = listener.accept(failed);
        if (is_end(failed)) return;
        if (is_shortage(failed)) {
            this_fiber::sleep_for(pause);
            pause = std::min(2 * pause, longest_pause);
            continue;
        }
        if (failed) throw error(failed, "accept", listener.local().to_string());
        pause = first_pause;
        begin(std::move(peer));
    }
}

// Calls `handle()` in the fiber of a connection.
template <class Listener, class F>
void handle_client(Listener& listener, const serve_options& options, const nursery& clients,
                   F&& handle) {
    try {
        handle();
    } catch (...) {
        if (ends_connection_only(options)) return;
        // The server ends. If it ends already, the listener is the program's.
        if (!clients.cancelled()) listener.close();
        throw;
    }
}

} // namespace detail

template <class Listener, class F>
    requires std::invocable<F&, typename Listener::stream_type&>
void serve(Listener& listener, const serve_options& options, F handler) {
    const std::stop_callback on_stop(options.stop, [&listener]() noexcept { listener.close(); });
    detail::client_count count(listener, options.most_clients);
    nursery clients;
    detail::accept_all(listener, count, [&](typename Listener::stream_type peer) {
        if (options.idle.count() != 0) peer.timeout(options.idle);
        clients.start(
            [&, counted = detail::counted_client(count), peer = std::move(peer)]() mutable {
                detail::handle_client(listener, options, clients, [&] { handler(peer); });
            });
    });
    try {
        with_timeout(options.drain, [&] { clients.join(); });
    } catch (const timed_out&) {
        clients.cancel();
        clients.join();
    }
}

} // namespace sennit::io
