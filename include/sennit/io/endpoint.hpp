// SPDX-License-Identifier: Apache-2.0
// io::endpoint: the address of a socket, as a value.
//
//     sennit::io::endpoint any("0.0.0.0:8080");
//     sennit::io::endpoint here("[::1]:80");
//     sennit::io::endpoint path("unix:/run/service");     // "unix:@name": an abstract address
//
// An endpoint is a number and a port, or a path. It resolves no names. Copying costs 120 bytes;
// nothing allocates but `to_string`. Thread safety: that of an int.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sennit::io {

namespace detail {
struct endpoint_access;
}

class endpoint {
public:
    endpoint() noexcept = default; // No address.
    // Throws std::invalid_argument if the text is no address.
    explicit endpoint(std::string_view text);
    static std::optional<endpoint> parse(std::string_view text) noexcept;

    bool empty() const noexcept { return size_ == 0; }
    std::uint16_t port() const noexcept; // 0 for a path.
    bool is_unix() const noexcept;
    std::string to_string() const; // A text that the constructor takes.
    friend bool operator==(const endpoint& a, const endpoint& b) noexcept;

private:
    friend struct detail::endpoint_access;
    alignas(8) std::byte data_[112]{};
    std::uint32_t size_ = 0;
};

} // namespace sennit::io
