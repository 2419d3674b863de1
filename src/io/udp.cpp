// SPDX-License-Identifier: Apache-2.0
#include "sennit/io/udp.hpp"

#include "io/access.hpp"
#include "io/async_run.hpp"
#include "io/runtime/io_datagram.hpp"

#include <algorithm>

namespace sennit::io {

using detail::address_of, detail::open_record, detail::require;
using detail::endpoint_access;
using detail::handle_access;

namespace {

sched::io_datagram datagram_of(const_bytes what, const endpoint& to) noexcept {
    // SAFETY: sending only reads the bytes.
    return {const_cast<std::byte*>(what.data()), what.size(), endpoint_access::to(to)};
}
datagram result_of(std::ptrdiff_t n, const sched::io_datagram& got) noexcept {
    const auto sent = static_cast<std::size_t>(n);
    return {std::min(sent, got.size), sent, endpoint_access::from(got.address)};
}
datagram_socket opened(const endpoint& like, const char* operation) {
    const int made = sys::open_datagram_socket(endpoint_access::to(like));
    require(made, operation, like);
    return handle_access::make<datagram_socket>(made, false);
}

} // namespace

datagram_socket::datagram_socket(const endpoint& at, const datagram_options& how)
    : datagram_socket(opened(at, "bind")) {
    const int descriptor = native_handle();
    if (how.reuse_port)
        require(sys::set_option(descriptor, sys::socket_option::reuse_port, 1), "bind", at);
    if (how.broadcast) require(sys::allow_broadcast(descriptor), "bind", at);
    require(sys::bind_socket(descriptor, endpoint_access::to(at)), "bind", at);
}

datagram_socket datagram_socket::connected(const endpoint& to) {
    datagram_socket made = opened(to, "connect");
    made.connect(to);
    return made;
}
void datagram_socket::connect(const endpoint& to) {
    require(sys::connect_socket(native_handle(), endpoint_access::to(to)), "connect", to);
}

void datagram_socket::send_to(const_bytes what, const endpoint& to, std::error_code& failed) {
    sched::io_datagram one = datagram_of(what, to);
    (void)detail::run(*this, sched::send_datagram(one), failed);
}
void datagram_socket::send_to(const_bytes what, const endpoint& to) {
    std::error_code failed;
    send_to(what, to, failed);
    detail::check(failed, "send_to", *this);
}
task<void> datagram_socket::async_send_to(const_bytes what, endpoint to) {
    sched::io_datagram one = datagram_of(what, to);
    (void)co_await detail::async_run(open_record(*this, "async_send_to"), sched::send_datagram(one),
                                     "async_send_to", *this);
}

datagram datagram_socket::receive_from(bytes into, std::error_code& failed) {
    sched::io_datagram one{into.data(), into.size()};
    const std::ptrdiff_t n = detail::run(*this, sched::receive_datagram(one), failed);
    return failed ? datagram() : result_of(n, one);
}
datagram datagram_socket::receive_from(bytes into) {
    std::error_code failed;
    const datagram got = receive_from(into, failed);
    detail::check(failed, "receive_from", *this);
    return got;
}
task<datagram> datagram_socket::async_receive_from(bytes into) {
    sched::io_datagram one{into.data(), into.size()};
    const std::ptrdiff_t n =
        co_await detail::async_run(open_record(*this, "async_receive_from"),
                                   sched::receive_datagram(one), "async_receive_from", *this);
    co_return result_of(n, one);
}

endpoint datagram_socket::local() const {
    return address_of(*this, &sys::local_address, "local");
}
endpoint datagram_socket::remote() const {
    return address_of(*this, &sys::remote_address, "remote");
}
void datagram_socket::send_buffer(std::size_t size) {
    require(
        sys::set_option(native_handle(), sys::socket_option::send_buffer, static_cast<int>(size)),
        "send_buffer", *this);
}
void datagram_socket::receive_buffer(std::size_t size) {
    require(sys::set_option(native_handle(), sys::socket_option::receive_buffer,
                            static_cast<int>(size)),
            "receive_buffer", *this);
}

} // namespace sennit::io
