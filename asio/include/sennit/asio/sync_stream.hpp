// SPDX-License-Identifier: Apache-2.0
// asio::sync_stream: a stream of Sennit as a SyncReadStream and SyncWriteStream of Asio.
//
//     sennit::asio::sync_stream peer(door.accept());
//     boost::beast::http::read(peer, buffer, request);             // blocks the fiber only
//     boost::beast::http::write(peer, answer);
//
//     boost::beast::websocket::stream<sennit::asio::sync_stream<sennit::io::tcp_stream>> socket(
//         std::move(peer));
//     asio::ssl::stream<sennit::asio::sync_stream<sennit::io::tcp_stream>> secure(…);
//
// Use it for libraries with an interface of blocking streams: Boost.Beast, asio::ssl::stream,
// asio::read, asio::write, asio::read_until. No io_context takes part, and no thread changes.
//
// `Stream` is io::tcp_stream, io::unix_stream, tls::stream, or a reference to one, which must
// outlive this object. A sync_stream that is made from an rvalue owns the stream.
// Blocking, cancellation, limits and fairness are those of the stream. Both forms of a call throw
// `cancelled` when a scope ends the wait. A dynamic buffer of asio::read_until then keeps the room
// that the algorithm has made in it: clear the buffer.
// Errors. The end of the stream is asio::error::eof, and a limit of time asio::error::timed_out. A
// call that `close` or `cancel` of the stream has ended gives asio::error::operation_aborted. The
// forms without an error code throw system_error.
// Thread safety: as that of the stream, and of the library above it.
// Cost: that of the stream; a write of several buffers is one system call over TCP.
// Works with Asio 1.18 (Boost 1.74) and later.
#pragma once

#include "sennit/asio/detail/convert_error.hpp"
#include "sennit/asio/detail/flavour.hpp"
#include "sennit/io/stream.hpp"

#include SENNIT_ASIO_HEADER(buffer.hpp)
#include SENNIT_ASIO_HEADER(io_context.hpp)

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

#ifdef SENNIT_ASIO_BOOST
namespace boost::beast {
enum class role_type; // Defined by Beast.
}
#endif

namespace sennit::asio {
inline namespace SENNIT_ASIO_FLAVOUR {

template <class Stream>
class sync_stream {
public:
    using stream_type = std::remove_reference_t<Stream>;
    using next_layer_type = stream_type;
    using lowest_layer_type = sync_stream;
    // Libraries ask each stream for an executor, to create timers. No blocking call uses it.
    using executor_type = net::io_context::executor_type;

    explicit sync_stream(Stream&& over) : stream_(std::forward<Stream>(over)) {}

    // Block until at least one byte is there. Return the number of bytes; 0 if the buffers are
    // empty.
    template <class Buffers>
    std::size_t read_some(const Buffers& into) {
        error_code failed;
        const std::size_t n = read_some(into, failed);
        if (failed) throw system_error(failed, "read_some");
        return n;
    }
    template <class Buffers>
    std::size_t read_some(const Buffers& into, error_code& failed) {
        failed = {};
        const io::bytes first = first_of<io::bytes>(into);
        if (first.empty()) return 0;
        std::error_code from_stream;
        const std::size_t n = stream_.read_some(first, from_stream);
        if (from_stream)
            failed = errors::converted(from_stream);
        else if (n == 0)
            failed = net::error::eof;
        return n;
    }
    // Block until the system has taken at least one byte. Return the number of bytes.
    template <class Buffers>
    std::size_t write_some(const Buffers& from) {
        error_code failed;
        const std::size_t n = write_some(from, failed);
        if (failed) throw system_error(failed, "write_some");
        return n;
    }
    template <class Buffers>
    std::size_t write_some(const Buffers& from, error_code& failed) {
        std::error_code from_stream;
        const std::size_t n = write_gathered(from, from_stream);
        // Bytes were written: the next call reports the error.
        failed = n == 0 ? errors::converted(from_stream) : error_code();
        return n;
    }

    // The stream below.
    stream_type& next_layer() noexcept { return stream_; }
    const stream_type& next_layer() const noexcept { return stream_; }
    lowest_layer_type& lowest_layer() noexcept { return *this; }
    const lowest_layer_type& lowest_layer() const noexcept { return *this; }
    void close() noexcept { stream_.close(); }
    executor_type get_executor() const noexcept { return unused_context().get_executor(); }

#ifdef SENNIT_ASIO_BOOST
    // Beast calls these at the end of a WebSocket: say that no more comes, and read to the end.
    friend void teardown(::boost::beast::role_type, sync_stream& from, error_code& failed) {
        from.end(failed);
    }
    friend void beast_close_socket(sync_stream& from) noexcept { from.close(); }
#endif

private:
    // Parts that one call writes.
    static constexpr std::size_t most_parts = 16;
    // Small parts are copied together for a stream that writes one part at a time.
    static constexpr std::size_t gathered_bytes = 4096;

    static net::io_context& unused_context() {
        static net::io_context context;
        return context;
    }
    template <class Span, class Buffer>
    static Span span_of(const Buffer& buffer) noexcept {
        using byte = typename Span::element_type;
        return {static_cast<byte*>(buffer.data()), buffer.size()};
    }
    // The first buffer that is not empty.
    template <class Span, class Buffers>
    static Span first_of(const Buffers& all) {
        const auto end = net::buffer_sequence_end(all);
        for (auto at = net::buffer_sequence_begin(all); at != end; ++at) {
            using buffer = std::conditional_t<std::is_const_v<typename Span::element_type>,
                                              net::const_buffer, net::mutable_buffer>;
            const buffer one(*at);
            if (one.size() != 0) return span_of<Span>(one);
        }
        return {};
    }

    template <class Buffers>
    std::size_t write_gathered(const Buffers& from, std::error_code& failed) {
        std::array<io::const_bytes, most_parts> parts;
        std::size_t count = 0;
        const auto end = net::buffer_sequence_end(from);
        for (auto at = net::buffer_sequence_begin(from); at != end && count < most_parts; ++at)
            if (const net::const_buffer one(*at); one.size() != 0)
                parts[count++] = span_of<io::const_bytes>(one);
        if (count == 0) return 0;
        if (count == 1) return stream_.write_some(parts[0], failed);
        const std::span<const io::const_bytes> several(parts.data(), count);
        if constexpr (requires { stream_.write_parts(several, failed); }) {
            return stream_.write_parts(several, failed);
        } else {
            if (parts[0].size() >= gathered_bytes) return stream_.write_some(parts[0], failed);
            std::array<std::byte, gathered_bytes> together;
            std::size_t size = 0;
            for (const io::const_bytes& part : several) {
                const std::size_t fits = std::min(part.size(), together.size() - size);
                std::copy_n(part.begin(), fits, together.begin() + static_cast<long>(size));
                size += fits;
                if (fits < part.size()) break;
            }
            return stream_.write_some(io::const_bytes(together.data(), size), failed);
        }
    }

    void end(error_code& failed) {
        std::error_code from_stream;
        stream_.shutdown_write(from_stream);
        std::array<std::byte, 4096> rest;
        while (!from_stream && stream_.read_some(rest, from_stream) != 0) {
        }
        failed = errors::converted(from_stream);
        stream_.close();
    }

    Stream stream_;
};

template <class Stream>
sync_stream(Stream&&) -> sync_stream<Stream>;

} // namespace SENNIT_ASIO_FLAVOUR
} // namespace sennit::asio
