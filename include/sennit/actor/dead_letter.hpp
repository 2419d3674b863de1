// SPDX-License-Identifier: Apache-2.0
// Dead letters: messages that nobody handled, since the receiver had ended, never was, or had no room.
//
// They are counted always. The first few of a process are also written to standard error, one line each, with the
// sender; a handler of one's own replaces that. A program that wants none asserts that the count is zero.
#pragma once

#include "sennit/sched/mail.hpp"

#include <cstdint>
#include <typeinfo>

namespace sennit {

struct dead_letter {
    const std::type_info* message;
    sched::address sender; // null: no actor sent it
};

// Of the process, since its start. Thread-safe.
std::uint64_t dead_letters() noexcept;

using dead_letter_handler = void (*)(const dead_letter&) noexcept;

// Called for each, on the thread that noticed; must not block. Null: none. Returns the one before. Thread-safe.
dead_letter_handler set_dead_letter_handler(dead_letter_handler next) noexcept;

// The one that is there at first: writes the first `dead_letters_written` to standard error.
void write_dead_letter(const dead_letter& which) noexcept;
inline constexpr std::uint64_t dead_letters_written = 10;

namespace detail {
void note_dead_letter(const sched::mail& which, const std::type_info& message) noexcept;
} // namespace detail

} // namespace sennit
