// SPDX-License-Identifier: Apache-2.0
#include "sennit/io/endpoint.hpp"

#include "io/access.hpp"

#include <charconv>
#include <stdexcept>

namespace sennit::io {

std::optional<endpoint> endpoint::parse(std::string_view text) noexcept {
    constexpr std::string_view unix_prefix = "unix:";
    sys::socket_address made;
    if (text.substr(0, unix_prefix.size()) == unix_prefix) {
        const std::string_view path = text.substr(unix_prefix.size());
        if (!sys::make_unix(path.data(), path.size(), made)) return {};
        return detail::endpoint_access::from(made);
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return {};
    std::string_view host = text.substr(0, colon);
    const std::string_view number = text.substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, wrong] = std::from_chars(number.data(), number.data() + number.size(), port);
    if (wrong != std::errc() || end != number.data() + number.size()) return {};
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (bracketed != (host.find(':') != std::string_view::npos)) return {};
    char zero_ended[64];
    if (host.size() >= sizeof zero_ended) return {};
    host.copy(zero_ended, host.size());
    zero_ended[host.size()] = '\0';
    if (!sys::parse_ip(zero_ended, port, made)) return {};
    return detail::endpoint_access::from(made);
}

endpoint::endpoint(std::string_view text) {
    const auto parsed = parse(text);
    if (!parsed)
        throw std::invalid_argument("sennit: [SNT-261] '" + std::string(text) +
                                    "' is no address; write it like 127.0.0.1:80, [::1]:80, "
                                    "unix:/path or unix:@name");
    *this = *parsed;
}

std::uint16_t endpoint::port() const noexcept {
    return sys::port_of(detail::endpoint_access::to(*this));
}
bool endpoint::is_unix() const noexcept {
    return sys::is_unix(detail::endpoint_access::to(*this));
}
std::string endpoint::to_string() const {
    return sys::text_of(detail::endpoint_access::to(*this));
}
bool operator==(const endpoint& a, const endpoint& b) noexcept {
    return a.size_ == b.size_ && std::memcmp(a.data_, b.data_, a.size_) == 0;
}

} // namespace sennit::io
