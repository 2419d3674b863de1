// SPDX-License-Identifier: Apache-2.0
// Dead letters: messages that nobody handled, since the receiver had ended, never was, had no room,
// or has no handler for them.
//
// They are counted always. A `fallback_handler` gets those of one runtime or group. Of what none of
// them takes the first few of a process are written to standard error, one line each, with the
// sender; a handler of one's own replaces that. A program that wants none asserts that the count is
// zero.
#pragma once

#include "sennit/detail/core/message_node.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <typeinfo>

namespace sennit {

class actor_base;
class actor_group;
class runtime;
namespace detail {
struct fallbacks;
}

enum class dead_letter_reason : unsigned char {
    ended,     // the receiver had, or never was
    full,      // no room in its mailbox
    unhandled, // it lives, and has no handler for this message
};

// Also what a default handler is given. All of it is valid during the call only.
struct dead_letter {
    const std::type_info* message;
    sched::address sender;     // null: no actor sent it
    sched::address receiver{}; // null: it was sent to nobody
    dead_letter_reason why = dead_letter_reason::ended;
    std::span<const std::byte> bytes{}; // the message, as it lies in memory

    // Null: it is no M.
    template <class M>
    const M* as() const noexcept {
        // SAFETY: `message` and `bytes` are of one object, which lives during the call.
        return *message == typeid(M) ? reinterpret_cast<const M*>(bytes.data()) : nullptr;
    }
};

// Of the process, since its start. Thread-safe.
std::uint64_t dead_letters() noexcept;

using dead_letter_handler = void (*)(const dead_letter&) noexcept;

// Called for each that no fallback_handler gets, on the thread that noticed; must not block. Null:
// none. Returns the one before. Thread-safe.
dead_letter_handler set_dead_letter_handler(dead_letter_handler next) noexcept;

// The one that is there at first: writes the first `dead_letters_written` to standard error.
void write_dead_letter(const dead_letter& which) noexcept;
inline constexpr std::uint64_t dead_letters_written = 10;

// While it lives, gets the dead letters of a runtime or of a group instead of the process's
// handler:
//     sennit::fallback_handler shown(runtime, [](const sennit::dead_letter& m) { … });
// Those of a runtime are what was sent to its actors, and what these sent to nobody. Those of a
// group are what its living actors have no handler for; of what is sent to one that has ended,
// nobody knows the group any more. If both are there the group's counts, of several for one thing
// the youngest. `what` is called on the thread that noticed, by several at once; must not throw and
// must not block. Thread safety: made and destroyed from anywhere, before the runtime or group is
// destroyed. Blocking: the destructor waits until no call is under way; so `what` must not destroy
// it.
class fallback_handler {
public:
    using function = std::function<void(const dead_letter&)>;
    fallback_handler(runtime& where, function what);
    fallback_handler(actor_group& where, function what);
    ~fallback_handler();
    fallback_handler(const fallback_handler&) = delete;
    fallback_handler& operator=(const fallback_handler&) = delete;

private:
    struct entry;
    friend struct detail::fallbacks;
    std::unique_ptr<entry> entry_;
};

namespace detail {
// `which` has failed, see sched::mail.
void note_dead_letter(const sched::message_node& which, const std::type_info& message,
                      std::span<const std::byte> bytes) noexcept;
void note_unhandled(const actor_base& receiver, const dead_letter& what) noexcept;
} // namespace detail

} // namespace sennit
