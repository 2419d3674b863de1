// SPDX-License-Identifier: Apache-2.0
// Dead letters: messages that no handler will get, because the receiver has ended, never existed,
// had no room, or has no handler for them.
//
// The library always counts dead letters. A `fallback_handler` gets those of one runtime or group.
// If no fallback handler takes a dead letter, the handler of the process gets it. The initial
// handler writes the first few to standard error, one line each, with the sender;
// set_dead_letter_handler replaces it. A program that wants no dead letters asserts that the count
// is zero.
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
    ended,     // the receiver has ended, or never existed
    full,      // the receiver's mailbox has no room
    unhandled, // the receiver is alive, and has no handler for this message
};

// A dead letter; also the argument of a default handler. All members are valid during the call
// only.
struct dead_letter {
    const std::type_info* message;
    sched::address sender;     // null: no actor sent it
    sched::address receiver{}; // null: the message had no receiver
    dead_letter_reason why = dead_letter_reason::ended;
    std::span<const std::byte> bytes{}; // the memory of the message

    // Returns the message; null if it is no M.
    template <class M>
    const M* as() const noexcept {
        // SAFETY: `message` and `bytes` are of one object, which lives during the call.
        return *message == typeid(M) ? reinterpret_cast<const M*>(bytes.data()) : nullptr;
    }
};

// The number of dead letters of the process, since its start. Thread-safe.
std::uint64_t dead_letters() noexcept;

using dead_letter_handler = void (*)(const dead_letter&) noexcept;

// Sets the handler for each dead letter that no fallback_handler gets; null: none. The handler runs
// on the thread that noticed the dead letter, and must not block. Returns the previous handler.
// Thread-safe.
dead_letter_handler set_dead_letter_handler(dead_letter_handler next) noexcept;

// The initial handler: writes the first `dead_letters_written` dead letters to standard error.
void write_dead_letter(const dead_letter& which) noexcept;
inline constexpr std::uint64_t dead_letters_written = 10;

// While it exists, this object gets the dead letters of a runtime or of a group, instead of the
// process's handler.
//     sennit::fallback_handler shown(runtime, [](const sennit::dead_letter& m) { … });
//
// The dead letters of a runtime are the messages to its actors, and the messages that its
// actors sent to a null address. The dead letters of a group are the messages that its living
// actors have no handler for. For a message to an ended actor, the library no longer knows the
// group. If both objects exist, the group's handler gets the message; of several for one runtime or
// group, the youngest gets it. `what` runs on the thread that noticed the dead letter, and may run
// on several threads at a time. It must not throw and must not block.
//
// Thread safety: any thread may make and destroy it, before the runtime or group is destroyed.
// Blocking: the destructor waits until no call is under way; so `what` must not destroy the object.
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
// `which` has failed: see sched::message_node.
void note_dead_letter(const sched::message_node& which, const std::type_info& message,
                      std::span<const std::byte> bytes) noexcept;
void note_unhandled(const actor_base& receiver, const dead_letter& what) noexcept;
} // namespace detail

} // namespace sennit
