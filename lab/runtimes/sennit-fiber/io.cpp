// SPDX-License-Identifier: Apache-2.0
// Sennit's servers of the family `io`: io::serve, a fiber for each connection. With
// SENNIT_LAB_SERVE=readable: io::serve_when_readable, a fiber for each request. The limit of
// `io-limit` is that of the connection's waits, or with SENNIT_LAB_LIMIT=with_timeout a
// with_timeout around each read.
#include "../sennit/serve_until_told.hpp"
#include "io/server.hpp"
#include "main.hpp"

#include <sennit/blocking.hpp>
#include <sennit/fork_reduce.hpp>
#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
#include <sennit/with_timeout.hpp>

#include <array>
#include <cstdlib>
#include <functional>
#include <string_view>

namespace {

using namespace lab::io;
namespace net = sennit::io;

bool is_set(const char* variable, std::string_view to) {
    const char* const value = std::getenv(variable);
    return value && value == to;
}

message reply_with_forks(message request) {
    request[1] = sennit::fork_reduce(leaves, std::uint64_t{0}, std::plus<>{},
                                     [&](std::size_t i) { return leaf(request, i); });
    return request;
}

// A long computation leaves the worker for a thread of the pool of blocking calls.
message reply_aside(message request) {
    if (request[0] == 0) return request;
    return sennit::blocking([&] { return reply_of_mixed(request); });
}

// Each serves one request, and returns false at the end of the stream.
bool echo(net::tcp_stream& peer) {
    std::array<std::byte, 4096> buffer;
    const std::size_t n = peer.read_some(buffer);
    if (n != 0) peer.write(std::span(buffer).first(n));
    return n != 0;
}
// A read in a with_timeout, which is also a limit of calls that do not wait.
bool echo_in_scope(net::tcp_stream& peer) {
    std::array<std::byte, 4096> buffer;
    const std::size_t n = sennit::with_timeout(read_limit, [&] { return peer.read_some(buffer); });
    if (n != 0) peer.write(std::span(buffer).first(n));
    return n != 0;
}
// excerpt serve
template <message (*Reply)(message)>
bool answer(net::tcp_stream& peer) {
    message request;
    std::error_code failed;
    const std::size_t n = peer.read(std::as_writable_bytes(std::span(request)), failed);
    if (n != sizeof request) return false;
    request = Reply(request);
    peer.write(std::as_bytes(std::span(request)));
    return true;
}

template <bool (*Handle)(net::tcp_stream&)>
void accept_from(net::tcp_listener& door, const net::serve_options& options = {}) {
    if (is_set("SENNIT_LAB_SERVE", "readable"))
        net::serve_when_readable(door, options, [](net::tcp_stream& peer) {
            return Handle(peer) ? net::served::keep : net::served::close;
        });
    else
        net::serve(door, options, [](net::tcp_stream& peer) {
            while (Handle(peer)) {
            }
        });
}
// excerpt end

bool serve(service which, unsigned threads) {
    // sennit-http and sennit-tls have these.
    if (which == service::http || which == service::tls_echo) return false;
    serve_until_told(threads, [&](net::tcp_listener& door, sennit::nursery& clients) {
        clients.start([&] {
            if (which == service::echo) return accept_from<echo>(door);
            // excerpt limit
            if (which == service::limited_echo) {
                if (is_set("SENNIT_LAB_LIMIT", "with_timeout"))
                    return accept_from<echo_in_scope>(door);
                return accept_from<echo>(door, {.idle = read_limit});
            }
            // excerpt end
            if (which == service::mixed) return accept_from<answer<reply_of_mixed>>(door);
            if (which == service::mixed_aside) return accept_from<answer<reply_aside>>(door);
            accept_from<answer<reply_with_forks>>(door);
        });
    });
    return true;
}

} // namespace

std::optional<int> lab::run_io(const std::string& name, const std::string& size, unsigned threads) {
    return servers<&serve>::run(name, size, threads);
}
