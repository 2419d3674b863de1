// SPDX-License-Identifier: Apache-2.0
// Sennit's servers of the family `io` in tasks: a task for each connection, and the async_ calls of
// its stream. The forks of `io-fork` are async_fork_each.
#include "../sennit/serve_until_told.hpp"
#include "io/server.hpp"
#include "main.hpp"

#include <sennit/io.hpp>
#include <sennit/task.hpp>

#include <array>
#include <span>

namespace {

using namespace lab::io;
using sennit::task;
namespace net = sennit::io;

task<> echo(net::tcp_stream& peer) {
    std::array<std::byte, 4096> buffer;
    while (const std::size_t n = co_await peer.async_read_some(buffer))
        co_await peer.async_write(std::span(buffer).first(n));
}

task<> limited_echo(net::tcp_stream& peer) {
    peer.timeout(read_limit);
    co_await echo(peer);
}

task<message> mixed(message request) {
    co_return reply_of_mixed(request);
}
task<message> fork(message request) {
    std::array<std::uint64_t, leaves> results;
    co_await sennit::async_fork_each(leaves, [&](std::size_t i) {
        return [](const message& of, std::size_t number, std::uint64_t& result) -> task<> {
            result = leaf(of, number);
            co_return;
        }(request, i, results[i]);
    });
    request[1] = 0;
    for (const std::uint64_t one : results) request[1] += one;
    co_return request;
}

template <task<message> (*Reply)(message)>
task<> answer(net::tcp_stream& peer) {
    for (message request;;) {
        co_await peer.async_read(std::as_writable_bytes(std::span(request)));
        request = co_await Reply(request);
        co_await peer.async_write(std::as_bytes(std::span(request)));
    }
}

template <task<> (*Handle)(net::tcp_stream&)>
task<> serve_client(net::tcp_stream peer) {
    try {
        co_await Handle(peer);
    } catch (const net::error&) { // The client has ended the stream.
    }
}

// Accepts until the listener is closed.
template <task<> (*Handle)(net::tcp_stream&)>
task<> accept_from(net::tcp_listener& door, sennit::nursery& clients) {
    try {
        for (;;) clients.start(serve_client<Handle>(co_await door.async_accept()));
    } catch (const net::error&) {
    }
}

task<> accept_for(service which, net::tcp_listener& door, sennit::nursery& clients) {
    if (which == service::echo) return accept_from<echo>(door, clients);
    if (which == service::limited_echo) return accept_from<limited_echo>(door, clients);
    if (which == service::mixed) return accept_from<answer<mixed>>(door, clients);
    return accept_from<answer<fork>>(door, clients);
}

// A task has no twin of `blocking`, which would block its worker here.
bool serve(service which, unsigned threads) {
    if (which == service::mixed_aside || which == service::http || which == service::tls_echo)
        return false;
    serve_until_told(threads, [&](net::tcp_listener& door, sennit::nursery& clients) {
        clients.start(accept_for(which, door, clients));
    });
    return true;
}

} // namespace

std::optional<int> lab::run_io(const std::string& name, const std::string& size, unsigned threads) {
    return servers<&serve>::run(name, size, threads);
}
