// SPDX-License-Identifier: Apache-2.0
// io::copy: carries bytes from a file or a stream to a stream.
//
//     sennit::io::file page("index.html");
//     sennit::io::copy(page, peer);                        // a file to a socket
//     sennit::io::copy(client, server);                    // one direction of a proxy
//
// From a file to a socket the bytes do not pass through the program (sendfile); a part that is not
// in memory is first read on a thread of `blocking`. Other copies use a buffer of 64 KiB.
// Blocking, cancellation and thread safety are those of the calls of a stream. Throws io::error,
// cancelled, std::bad_alloc. After an error some bytes have been written.
#pragma once

#include "sennit/io/file.hpp"
#include "sennit/io/stream.hpp"

#include <concepts>
#include <cstdint>

namespace sennit::io {

namespace detail {
std::uint64_t copy(const handle& from, const handle& to, std::uint64_t most);
std::uint64_t copy_file(const file& from, const handle& to, std::uint64_t offset,
                        std::uint64_t most);
} // namespace detail

// Copies until the stream `from` ends, or `most` bytes were copied. Returns the number of bytes.
// Does not end the stream `to`.
template <class From, class To>
    requires std::derived_from<From, reads<From>> || std::derived_from<From, stream>
std::uint64_t copy(From& from, To& to, std::uint64_t most = UINT64_MAX) {
    return detail::copy(from, to, most);
}
// Copies the bytes of the file from `offset` on: all, or at most `most`. Returns their number.
template <class To>
    requires std::derived_from<To, handle>
std::uint64_t copy(const file& from, To& to, std::uint64_t offset = 0,
                   std::uint64_t most = UINT64_MAX) {
    return detail::copy_file(from, to, offset, most);
}

} // namespace sennit::io
