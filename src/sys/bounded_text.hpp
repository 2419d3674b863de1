// SPDX-License-Identifier: Apache-2.0
// Text in a buffer of fixed size, for the last words of a failing program. Unlike snprintf it is
// async-signal-safe: it neither allocates nor reads the locale.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace sennit::sys {

// A number that is written in hexadecimal digits, with 0x before them.
struct hex_number {
    std::uintptr_t value;
};

// Appends to a buffer, and cuts the text off where the buffer ends. The buffer always holds a
// terminated text; its size must not be 0.
class bounded_text {
public:
    bounded_text(char* buffer, std::size_t size) noexcept
        : next_(buffer), last_(buffer + size - 1) {
        *next_ = '\0';
    }
    bounded_text& operator<<(const char* text) noexcept {
        while (*text != '\0' && next_ != last_) *next_++ = *text++;
        *next_ = '\0';
        return *this;
    }
    template <std::unsigned_integral T>
    bounded_text& operator<<(T value) noexcept {
        return put_digits(value, 10);
    }
    bounded_text& operator<<(hex_number number) noexcept {
        *this << "0x";
        return put_digits(number.value, 16);
    }
    // The first `length` characters of `text`.
    bounded_text& append(const char* text, std::size_t length) noexcept {
        for (; length > 0 && next_ != last_; --length) *next_++ = *text++;
        *next_ = '\0';
        return *this;
    }

private:
    bounded_text& put_digits(std::uint64_t value, unsigned base) noexcept {
        char digits[24];
        char* const end = digits + sizeof digits;
        char* begin = end;
        do *--begin = "0123456789abcdef"[value % base];
        while ((value /= base) != 0);
        return append(begin, static_cast<std::size_t>(end - begin));
    }

    char* next_;
    char* const last_; // the place of the last terminator
};

} // namespace sennit::sys
