// SPDX-License-Identifier: Apache-2.0
// The making of streams, listeners and pipes, and their options.
#include "io/access.hpp"
#include "io/async_run.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/io/borrowed.hpp"
#include "sennit/io/pipe.hpp"
#include "sennit/io/tcp.hpp"
#include "sennit/io/unix.hpp"

#include <new>

namespace sennit::io {

using detail::address_of, detail::open_record, detail::require;
using detail::endpoint_access;
using detail::handle_access;

namespace {

// Owns a descriptor until a handle does.
struct fresh_descriptor {
    explicit fresh_descriptor(int number) noexcept : descriptor(number) {}
    ~fresh_descriptor() {
        if (descriptor >= 0) sys::close_descriptor(descriptor);
    }
    fresh_descriptor(const fresh_descriptor&) = delete;
    int release() noexcept { return std::exchange(descriptor, -1); }
    int descriptor;
};

sched::io_record& listen(const endpoint& at, int backlog, bool reuse_port) {
    const sys::socket_address address = endpoint_access::to(at);
    fresh_descriptor made(sys::open_stream_socket(address));
    require(made.descriptor, "listen", at);
    if (!at.is_unix()) {
        require(sys::set_option(made.descriptor, sys::socket_option::reuse_address, 1), "listen",
                at);
        if (reuse_port)
            require(sys::set_option(made.descriptor, sys::socket_option::reuse_port, 1), "listen",
                    at);
    }
    // "[::]" is all networks, whatever the system's default is. IPv4 refuses the option.
    if (at.to_string().starts_with("[::]:"))
        (void)sys::set_option(made.descriptor, sys::socket_option::ipv6_only, 0);
    require(sys::bind_socket(made.descriptor, address), "listen", at);
    require(sys::listen_socket(made.descriptor, backlog), "listen", at);
    sched::io_record& record = sched::io_record::make(made.descriptor, true, true);
    (void)made.release();
    return record;
}

template <class Stream>
Stream made_stream(int descriptor) {
    return handle_access::make<Stream>(descriptor, true);
}

template <class Stream>
Stream connect(const endpoint& to, std::error_code& failed) {
    const sys::socket_address address = endpoint_access::to(to);
    const int descriptor = sys::open_stream_socket(address);
    if (descriptor < 0) {
        failed = detail::code_of(descriptor);
        return {};
    }
    auto made = made_stream<Stream>(descriptor);
    (void)detail::run(made, sched::connect_to(address), failed);
    if (failed) return {};
    // Unix sockets refuse it.
    (void)sys::set_option(descriptor, sys::socket_option::no_delay, !to.is_unix());
    return made;
}

template <class Stream>
Stream accepted(std::ptrdiff_t descriptor, bool no_delay) {
    auto made = made_stream<Stream>(static_cast<int>(descriptor));
    if (no_delay)
        (void)sys::set_option(static_cast<int>(descriptor), sys::socket_option::no_delay, 1);
    return made;
}

template <class Stream>
Stream accept(const handle& at, bool no_delay, std::error_code& failed) {
    sys::socket_address from;
    const std::ptrdiff_t descriptor = detail::run(at, sched::accept_connection(from), failed);
    if (failed) return {};
    return accepted<Stream>(descriptor, no_delay);
}

template <class Stream>
Stream try_accept(const handle& at, bool no_delay, std::error_code& failed) {
    sys::socket_address from;
    const std::ptrdiff_t descriptor = detail::try_run(at, sched::accept_connection(from), failed);
    if (failed) return {};
    return accepted<Stream>(descriptor, no_delay);
}

template <class Stream>
task<Stream> async_accept(const handle& at, bool no_delay) {
    sys::socket_address from;
    sched::io_record& record = open_record(at, "async_accept");
    const std::ptrdiff_t descriptor =
        co_await detail::async_run(record, sched::accept_connection(from), "async_accept", at);
    co_return accepted<Stream>(descriptor, no_delay);
}

void set(const handle& on, sys::socket_option which, int value, const char* operation) {
    require(sys::set_option(on.native_handle(), which, value), operation, on);
}

} // namespace

// ---- stream

void stream::shutdown_write() {
    require(sys::shutdown_socket(native_handle(), true), "shutdown_write", *this);
}
void stream::shutdown_write(std::error_code& failed) noexcept {
    const int result = sys::shutdown_socket(native_handle(), true);
    failed = result < 0 ? detail::code_of(result) : std::error_code();
}
void stream::abort() noexcept {
    (void)sys::reset_at_close(native_handle());
    close();
}
endpoint stream::local() const {
    return address_of(*this, &sys::local_address, "local");
}
endpoint stream::remote() const {
    return address_of(*this, &sys::remote_address, "remote");
}
void stream::send_buffer(std::size_t size) {
    set(*this, sys::socket_option::send_buffer, static_cast<int>(size), "send_buffer");
}
void stream::receive_buffer(std::size_t size) {
    set(*this, sys::socket_option::receive_buffer, static_cast<int>(size), "receive_buffer");
}

// ---- TCP

tcp_stream tcp_stream::connect(const endpoint& to) {
    std::error_code failed;
    auto made = connect(to, failed);
    if (failed) throw error(failed, "connect", to.to_string());
    return made;
}
tcp_stream tcp_stream::connect(const endpoint& to, std::error_code& failed) {
    return io::connect<tcp_stream>(to, failed);
}
task<tcp_stream> tcp_stream::async_connect(endpoint to) {
    const sys::socket_address address = endpoint_access::to(to);
    const int descriptor = sys::open_stream_socket(address);
    require(descriptor, "async_connect", to);
    auto made = made_stream<tcp_stream>(descriptor);
    (void)co_await detail::async_run(*handle_access::record(made), sched::connect_to(address),
                                     "async_connect", made);
    (void)sys::set_option(descriptor, sys::socket_option::no_delay, 1);
    co_return made;
}
void tcp_stream::no_delay(bool on) {
    set(*this, sys::socket_option::no_delay, on, "no_delay");
}
void tcp_stream::keep_alive(bool on) {
    set(*this, sys::socket_option::keep_alive, on, "keep_alive");
}

tcp_listener::tcp_listener(const endpoint& at, const listen_options& how)
    : handle(listen(at, how.backlog, how.reuse_port)) {}
tcp_stream tcp_listener::accept() {
    std::error_code failed;
    auto made = accept(failed);
    detail::check(failed, "accept", *this);
    return made;
}
tcp_stream tcp_listener::accept(std::error_code& failed) {
    return io::accept<tcp_stream>(*this, true, failed);
}
tcp_stream tcp_listener::try_accept(std::error_code& failed) {
    return io::try_accept<tcp_stream>(*this, true, failed);
}
task<tcp_stream> tcp_listener::async_accept() {
    return io::async_accept<tcp_stream>(*this, true);
}
endpoint tcp_listener::local() const {
    return address_of(*this, &sys::local_address, "local");
}

// ---- Unix sockets

unix_stream unix_stream::connect(const endpoint& to) {
    std::error_code failed;
    auto made = connect(to, failed);
    if (failed) throw error(failed, "connect", to.to_string());
    return made;
}
unix_stream unix_stream::connect(const endpoint& to, std::error_code& failed) {
    return io::connect<unix_stream>(to, failed);
}

unix_listener::unix_listener(const endpoint& at, int backlog)
    : handle(listen(at, backlog, false)), at_(at) {}
unix_listener& unix_listener::operator=(unix_listener&& from) noexcept {
    if (this != &from) {
        std::destroy_at(this);
        std::construct_at(this, std::move(from));
    }
    return *this;
}
unix_listener::~unix_listener() {
    if (!handle_access::record(*this)) return;
    close();
    const std::string text = at_.to_string();
    constexpr std::size_t prefix = 5; // "unix:"
    if (text.size() > prefix && text[prefix] != '@') (void)sys::remove_path(text.c_str() + prefix);
}
unix_stream unix_listener::accept() {
    std::error_code failed;
    auto made = accept(failed);
    detail::check(failed, "accept", *this);
    return made;
}
unix_stream unix_listener::accept(std::error_code& failed) {
    return io::accept<unix_stream>(*this, false, failed);
}
unix_stream unix_listener::try_accept(std::error_code& failed) {
    return io::try_accept<unix_stream>(*this, false, failed);
}
task<unix_stream> unix_listener::async_accept() {
    return io::async_accept<unix_stream>(*this, false);
}

std::pair<unix_stream, unix_stream> socket_pair() {
    int made[2];
    require(sys::make_socket_pair(made), "socket_pair", endpoint());
    fresh_descriptor second(made[1]);
    auto first = made_stream<unix_stream>(made[0]);
    return {std::move(first), made_stream<unix_stream>(second.release())};
}

// ---- pipes

std::pair<pipe_reader, pipe_writer> make_pipe() {
    int made[2];
    require(sys::make_pipe(made), "make_pipe", endpoint());
    fresh_descriptor second(made[1]);
    auto first = handle_access::make<pipe_reader>(made[0], false);
    return {std::move(first), handle_access::make<pipe_writer>(second.release(), false)};
}

// ---- descriptors of other libraries

borrowed::borrowed(int descriptor) : handle(sched::io_record::make(descriptor, false, false)) {}

void borrowed::wait_readable(std::error_code& failed) {
    (void)detail::run(*this, sched::wait_for(sched::io_direction::read), failed);
}
void borrowed::wait_writable(std::error_code& failed) {
    (void)detail::run(*this, sched::wait_for(sched::io_direction::write), failed);
}
void borrowed::wait_readable() {
    std::error_code failed;
    wait_readable(failed);
    detail::check(failed, "wait_readable", *this);
}
void borrowed::wait_writable() {
    std::error_code failed;
    wait_writable(failed);
    detail::check(failed, "wait_writable", *this);
}

} // namespace sennit::io
