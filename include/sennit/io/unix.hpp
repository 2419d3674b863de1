// SPDX-License-Identifier: Apache-2.0
// io::unix_listener, io::unix_stream and io::socket_pair: connections within one machine.
//
//     sennit::io::unix_listener door(sennit::io::endpoint("unix:/run/service"));
//     auto [mine, yours] = sennit::io::socket_pair();
//
// stream.hpp describes blocking, cancellation and thread safety.
#pragma once

#include "sennit/io/stream.hpp"

#include <string>
#include <system_error>
#include <utility>

namespace sennit::io {

class unix_stream : public stream {
public:
    unix_stream() noexcept = default; // Closed.
    // Connect to `to`. Where the listener's backlog is full, they give
    // std::errc::resource_unavailable_try_again at once. Throw io::error, std::bad_alloc.
    static unix_stream connect(const endpoint& to);
    static unix_stream connect(const endpoint& to, std::error_code& failed);

private:
    friend struct detail::handle_access;
    explicit unix_stream(sched::io_record& record) noexcept : stream(record) {}
};

class unix_listener : public handle {
public:
    unix_listener() noexcept = default; // Closed.
    // Listens at `at`. A path must not exist; the destructor removes it. Throws io::error.
    explicit unix_listener(const endpoint& at, int backlog = 4096);
    unix_listener(unix_listener&&) noexcept = default;
    unix_listener& operator=(unix_listener&& from) noexcept;
    ~unix_listener();

    // Block until a connection comes. Throw io::error. Several strands may accept at a time.
    unix_stream accept();
    unix_stream accept(std::error_code& failed);
    // Does not block: std::errc::operation_would_block if no connection waits.
    unix_stream try_accept(std::error_code& failed);
    task<unix_stream> async_accept();
    endpoint local() const { return at_; }

    using stream_type = unix_stream;

private:
    endpoint at_;
};

// Two streams that are connected to each other. Throws io::error, std::bad_alloc.
std::pair<unix_stream, unix_stream> socket_pair();

} // namespace sennit::io
