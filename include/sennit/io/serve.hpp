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
// this. Errors: an io::error of a handler ends its connection only, because resets are daily;
// `on_error` hears of it. Any other exception of a handler cancels all connections, and serve
// throws it. Where the process has no more descriptors or memory, serve accepts again after 5 ms,
// up to 1 s, so that no processor spins.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/io/error.hpp"
#include "sennit/io/handle.hpp"
#include "sennit/nursery.hpp"
#include "sennit/this_fiber.hpp"
#include "sennit/with_timeout.hpp"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <utility>

namespace sennit::io {

struct serve_options {
    // Connections at a time. Further ones wait in the backlog.
    std::size_t most_clients = SIZE_MAX;
    // The longest wait of one call on a connection: see handle::timeout. Zero: no limit.
    std::chrono::nanoseconds idle{0};
    // How long handlers may continue after the end of accepting.
    std::chrono::nanoseconds drain = std::chrono::seconds(5);
    // Called in the fiber of the connection. Must not throw.
    std::function<void(const error&)> on_error{};
    // A request to stop closes the listener, which begins to drain. Handlers that wait for a next
    // request may look at the same token.
    std::stop_token stop{};
};

namespace detail {
// True if accepting failed because the process has no more descriptors or memory at present.
bool is_shortage(const std::error_code& failed) noexcept;
// True if `close` or `cancel` has ended accepting.
bool is_end(const std::error_code& failed) noexcept;

inline constexpr std::chrono::milliseconds first_pause{5}, longest_pause{1000};
} // namespace detail

template <class Listener, class F>
    requires std::invocable<F&, typename Listener::stream_type&>
void serve(Listener& listener, const serve_options& options, F handler) {
    const std::stop_callback on_stop(options.stop, [&listener]() noexcept { listener.close(); });
    nursery clients({.limit = options.most_clients});
    auto pause = detail::first_pause;
    for (;;) {
        std::error_code failed;
        auto peer = listener.accept(failed);
        if (detail::is_end(failed)) break;
        if (detail::is_shortage(failed)) {
            this_fiber::sleep_for(pause);
            pause = std::min(2 * pause, detail::longest_pause);
            continue;
        }
        if (failed) throw error(failed, "accept", listener.local().to_string());
        pause = detail::first_pause;
        if (options.idle.count() != 0) peer.timeout(options.idle);
        clients.start([&handler, &options, peer = std::move(peer)]() mutable {
            try {
                handler(peer);
            } catch (const error& lost) {
                if (options.on_error) options.on_error(lost);
            }
        });
    }
    try {
        with_timeout(options.drain, [&] { clients.join(); });
    } catch (const timed_out&) {
        clients.cancel();
        clients.join();
    }
}

} // namespace sennit::io
