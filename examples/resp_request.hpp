// SPDX-License-Identifier: Apache-2.0
// Requests of RESP2, the protocol of Redis: multibulk (`*2\r\n$3\r\nGET\r\n$1\r\na\r\n`) and inline
// (`GET a\r\n`).
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace resp {

inline constexpr std::size_t most_arguments = 1024, most_bytes = 1 << 20;

// A request that breaks the protocol. The connection gets the text, and ends.
struct protocol_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline std::optional<long long> number(std::string_view text) {
    long long value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

// Takes the next request from `text`, from `at` on. Returns false if the request is not whole yet.
// The arguments are views of `text`.
inline bool take_request(std::string_view text, std::size_t& at,
                         std::vector<std::string_view>& words) {
    std::size_t now = at;
    const auto line = [&]() -> std::optional<std::string_view> {
        const std::size_t end = text.find('\n', now);
        if (end == std::string_view::npos) return {};
        std::string_view found = text.substr(now, end - now);
        if (found.ends_with('\r')) found.remove_suffix(1);
        now = end + 1;
        return found;
    };
    const auto count = [](std::string_view of, std::size_t most, const char* what) {
        const auto value = number(of.substr(1));
        if (!value || *value < 0 || static_cast<std::size_t>(*value) > most)
            throw protocol_error(std::string("invalid ") + what + " length");
        return static_cast<std::size_t>(*value);
    };
    words.clear();
    const auto first = line();
    if (!first) return false;
    if (!first->starts_with('*')) { // Inline: words between blanks.
        for (std::size_t i = 0; i < first->size();) {
            const std::size_t end = std::min(first->find(' ', i), first->size());
            if (end != i) words.push_back(first->substr(i, end - i));
            i = end + 1;
        }
        at = now;
        return true;
    }
    for (std::size_t left = count(*first, most_arguments, "multibulk"); left > 0; --left) {
        const auto header = line();
        if (!header) return false;
        if (!header->starts_with('$')) throw protocol_error("expected '$'");
        const std::size_t size = count(*header, most_bytes, "bulk");
        if (text.size() < now + size + 2) return false;
        if (text.substr(now + size, 2) != "\r\n") throw protocol_error("a bulk has no end");
        words.push_back(text.substr(now, size));
        now += size + 2;
    }
    at = now;
    return true;
}

} // namespace resp
