// SPDX-License-Identifier: Apache-2.0
// The calls that transfer all bytes, made of calls that transfer some of them.
#pragma once

#include "sennit/io/error.hpp"

#include <cstddef>
#include <system_error>

namespace sennit::io::detail {

// Fills `into` by calls of `read_some(rest, failed)`. Returns the number of bytes. An end before
// that is errc::unexpected_end.
template <class Bytes, class F>
std::size_t read_whole(Bytes into, std::error_code& failed, F read_some) {
    std::size_t done = 0;
    failed.clear();
    while (done < into.size()) {
        const std::size_t n = read_some(into.subspan(done), failed);
        if (!failed && n == 0) failed = errc::unexpected_end;
        if (failed) break;
        done += n;
    }
    return done;
}

// Writes `from` by calls of `write_some(rest, failed)`. Returns the number of bytes.
template <class Bytes, class F>
std::size_t write_whole(Bytes from, std::error_code& failed, F write_some) {
    std::size_t done = 0;
    failed.clear();
    while (done < from.size() && !failed) done += write_some(from.subspan(done), failed);
    return done;
}

} // namespace sennit::io::detail
