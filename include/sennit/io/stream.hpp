// SPDX-License-Identifier: Apache-2.0
// io::stream: bytes in both directions, over a socket. io::reads and io::writes: the calls of the
// two directions, which the ends of a pipe have, too.
//
//     std::array<std::byte, 4096> buffer;
//     while (std::size_t n = peer.read_some(buffer)) peer.write(std::span(buffer).first(n));
//
// The calls block the calling fiber, forked child, task, actor's handler or thread, and never its
// worker. A fiber that waits costs no thread. Each `async_` call suspends the awaiting task.
//
// A wait is a point of cancellation: in a cancelled nursery or with_timeout it throws `cancelled`.
// Cancellation loses no byte: a read that was cancelled has taken nothing. A call that need not
// wait is no such point.
// Fairness: every 32nd call in a row that did not wait lets the other ready tasks run.
// Signals: no call raises SIGPIPE, and none is interrupted by a signal.
// Cost: one system call, or two and a switch where the call waits. A read that got fewer bytes than
// its buffer holds is not followed by another system call before more comes.
#pragma once

#include "sennit/block_on.hpp" // The class task.
#include "sennit/io/endpoint.hpp"
#include "sennit/io/error.hpp"
#include "sennit/io/handle.hpp"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <system_error>

namespace sennit::io {

using bytes = std::span<std::byte>;
using const_bytes = std::span<const std::byte>;

// The bytes of a text.
inline const_bytes bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span(text.data(), text.size()));
}

namespace detail {

std::size_t read_some(const handle& from, bytes into, std::error_code& failed);
std::size_t read_all(const handle& from, bytes into, std::error_code& failed);
std::size_t write_some(const handle& to, const_bytes from, std::error_code& failed);
std::size_t write_all(const handle& to, const_bytes from, std::error_code& failed);
std::size_t write_parts(const handle& to, std::span<const const_bytes> parts,
                        std::error_code& failed);
// Throws io::error if `failed` says so. `operation` is a literal.
void check(const std::error_code& failed, const char* operation, const handle& on);
task<std::size_t> async_read_some(const handle& from, bytes into);
task<void> async_read(const handle& from, bytes into);
task<std::size_t> async_write_some(const handle& to, const_bytes from);
task<void> async_write(const handle& to, const_bytes from);

} // namespace detail

// The calls that read. Self is a handle.
template <class Self>
class reads {
public:
    // Blocks until at least one byte is there. Returns the number of bytes; 0: the stream has
    // ended, or `into` is empty.
    std::size_t read_some(bytes into) {
        std::error_code failed;
        const std::size_t n = detail::read_some(self(), into, failed);
        detail::check(failed, "read_some", self());
        return n;
    }
    std::size_t read_some(bytes into, std::error_code& failed) {
        return detail::read_some(self(), into, failed);
    }
    // Blocks until `into` is full. An end before that gives errc::unexpected_end; the bytes so far
    // are in `into`. The second form returns their number.
    void read(bytes into) {
        std::error_code failed;
        (void)detail::read_all(self(), into, failed);
        detail::check(failed, "read", self());
    }
    std::size_t read(bytes into, std::error_code& failed) {
        return detail::read_all(self(), into, failed);
    }
    // For tasks. The handle and `into` must live until the task has ended. They throw io::error.
    task<std::size_t> async_read_some(bytes into) { return detail::async_read_some(self(), into); }
    task<void> async_read(bytes into) { return detail::async_read(self(), into); }

protected:
    reads() = default;

private:
    const handle& self() const noexcept { return static_cast<const Self&>(*this); }
};

// The calls that write. Self is a handle.
template <class Self>
class writes {
public:
    // Blocks until the system has taken at least one byte. Returns the number of bytes.
    std::size_t write_some(const_bytes from) {
        std::error_code failed;
        const std::size_t n = detail::write_some(self(), from, failed);
        detail::check(failed, "write_some", self());
        return n;
    }
    std::size_t write_some(const_bytes from, std::error_code& failed) {
        return detail::write_some(self(), from, failed);
    }
    // Blocks until the system has taken all bytes. The form with an error returns their number.
    void write(const_bytes from) {
        std::error_code failed;
        (void)detail::write_all(self(), from, failed);
        detail::check(failed, "write", self());
    }
    std::size_t write(const_bytes from, std::error_code& failed) {
        return detail::write_all(self(), from, failed);
    }
    void write(std::string_view text) { write(bytes_of(text)); }
    // Writes all parts in their order, with one system call where the system takes them at once.
    void write_parts(std::span<const const_bytes> parts) {
        std::error_code failed;
        (void)detail::write_parts(self(), parts, failed);
        detail::check(failed, "write_parts", self());
    }
    std::size_t write_parts(std::span<const const_bytes> parts, std::error_code& failed) {
        return detail::write_parts(self(), parts, failed);
    }
    void write_parts(std::initializer_list<const_bytes> parts) {
        write_parts(std::span(parts.begin(), parts.size()));
    }
    // For tasks. The handle and `from` must live until the task has ended. They throw io::error.
    task<std::size_t> async_write_some(const_bytes from) {
        return detail::async_write_some(self(), from);
    }
    task<void> async_write(const_bytes from) { return detail::async_write(self(), from); }

protected:
    writes() = default;

private:
    const handle& self() const noexcept { return static_cast<const Self&>(*this); }
};

// A connected socket.
class stream : public handle, public reads<stream>, public writes<stream> {
public:
    stream() noexcept = default; // Closed.

    // Says that no more bytes will be written: the peer reads the rest, and then the end.
    void shutdown_write();
    void shutdown_write(std::error_code& failed) noexcept;
    // Closes at once. Over TCP the peer gets a reset, and bytes that were not sent are dropped.
    void abort() noexcept;

    endpoint local() const;  // Throws io::error.
    endpoint remote() const; // Throws io::error.
    // Bytes that the system buffers. Throws io::error.
    void send_buffer(std::size_t size);
    void receive_buffer(std::size_t size);

protected:
    friend struct detail::handle_access;
    explicit stream(sched::io_record& record) noexcept : handle(record) {}
};

} // namespace sennit::io
