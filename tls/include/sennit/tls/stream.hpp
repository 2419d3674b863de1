// SPDX-License-Identifier: Apache-2.0
// tls::stream: a stream over TLS, with the calls of io::stream.
//
//     auto peer = sennit::tls::stream::connect("example.org", "https", context);
//     peer.write("GET / HTTP/1.0\r\n\r\n");
//     while (std::size_t n = peer.read_some(buffer)) print(buffer, n);
//
//     sennit::io::serve(door, {.idle = 30s}, [&](sennit::io::tcp_stream& from) {
//         auto peer = sennit::tls::stream::accept(std::move(from), context);
//         answer(peer);
//     });
//
// The calls block the calling fiber, forked child, actor's handler or thread, and never its worker;
// the `async_` calls suspend the awaiting task. A wait is a point of cancellation.
// Thread safety: one strand may read while another one writes. Several strands may write; their
// bytes do not mix within one record of 16 KiB. `close` may be called meanwhile.
// The end. read_some returns 0 when the peer has said that it closes. A stream that ends without
// this notice has been cut off, perhaps by an attacker: read_some gives errc::truncated. Destroying
// a stream sends no notice: call `shutdown_write` when all is said.
// Cancellation loses no byte of a read. A write that was cancelled, or timed out, may have sent any
// part; the rest goes before the next write.
// Errors: io::error with a code of tls::errc or of the system. After an error the stream is of no
// further use.
// Cost: one copy of the bytes besides encryption. A stream holds about 20 KB.
// Stack: OpenSSL may need 64 KiB. Stacks of the default size are large enough.
#pragma once

#include "sennit/io/error.hpp"
#include "sennit/io/stream.hpp"
#include "sennit/io/tcp.hpp"
#include "sennit/tls/context.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace sennit::tls {

namespace detail {
struct engine;
}

struct handshake_options {
    // The longest time of the whole handshake.
    std::chrono::nanoseconds limit = std::chrono::seconds(10);
};

class stream {
public:
    stream() noexcept; // Closed.
    stream(stream&&) noexcept;
    stream& operator=(stream&&) noexcept;
    ~stream();

    // Begin TLS over a connected stream, and block until both sides are sure of each other. The
    // client asks for the host `host`, and accepts no other certificate. Throw io::error, with
    // std::errc::timed_out after the limit; cancelled; std::bad_alloc.
    static stream connect(io::stream&& over, const std::string& host, const context& with,
                          const handshake_options& how = {});
    static stream accept(io::stream&& over, const context& with, const handshake_options& how = {});
    // Begin TLS over a stream that stays the caller's, and must outlive this one. A handler of
    // serve_when_readable does so with the stream of its connection.
    static stream connect(io::stream& over, const std::string& host, const context& with,
                          const handshake_options& how = {});
    static stream accept(io::stream& over, const context& with, const handshake_options& how = {});
    // Connects by name, as tcp_stream::connect does, and begins TLS.
    static stream connect(const std::string& host, const std::string& service, const context& with,
                          const handshake_options& how = {});
    static task<stream> async_connect(io::stream over, std::string host, context with,
                                      handshake_options how = {});
    static task<stream> async_accept(io::stream over, context with, handshake_options how = {});

    // As those of io::stream.
    std::size_t read_some(io::bytes into);
    std::size_t read_some(io::bytes into, std::error_code& failed);
    void read(io::bytes into);
    std::size_t read(io::bytes into, std::error_code& failed);
    std::size_t write_some(io::const_bytes from);
    std::size_t write_some(io::const_bytes from, std::error_code& failed);
    void write(io::const_bytes from);
    std::size_t write(io::const_bytes from, std::error_code& failed);
    void write(std::string_view text) { write(io::bytes_of(text)); }
    task<std::size_t> async_read_some(io::bytes into);
    task<void> async_read(io::bytes into);
    task<std::size_t> async_write_some(io::const_bytes from);
    task<void> async_write(io::const_bytes from);

    // Tells the peer that no more bytes will be written. Blocks until the notice is sent.
    void shutdown_write();
    void shutdown_write(std::error_code& failed);
    task<void> async_shutdown_write();
    // As those of io::handle.
    void close() noexcept;
    bool is_open() const noexcept;
    template <class Rep, class Period>
    void timeout(const std::chrono::duration<Rep, Period>& limit) noexcept {
        if (io::stream* const below = lower()) below->timeout(limit);
    }
    void no_timeout() noexcept {
        if (io::stream* const below = lower()) below->no_timeout();
    }

    // True if bytes of the network have come that no read has returned. They cause no call of the
    // handler of serve_when_readable, which must read on.
    bool has_buffered() const;
    // The protocol that both sides have chosen by ALPN; empty: none.
    std::string alpn() const;
    // The host that the client has asked for; empty: none.
    std::string server_name() const;
    std::string version() const; // "TLSv1.3"
    std::string cipher() const;
    // The subject of the peer's certificate; empty: it has sent none.
    std::string peer_subject() const;
    // The stream below; null: closed. For its addresses and options.
    io::stream* lower() noexcept;

private:
    explicit stream(std::unique_ptr<detail::engine> made) noexcept;
    std::unique_ptr<detail::engine> engine_;
};

} // namespace sennit::tls
