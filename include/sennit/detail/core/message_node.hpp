// SPDX-License-Identifier: Apache-2.0
// A message: data that is sent to a receiver, which handles one message at a time, and the address
// of the receiver.
//
// Used by actors. The engine's half, the mailbox, is in src/actors/runtime/mailbox.hpp. A mailbox
// is a runnable. It is scheduled when its first message comes, and it handles messages on the stack
// that its worker runs on.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace sennit::sched {

class mailbox;
class runtime_core;

// The owner of one incarnation of a mailbox.
struct incarnation_owner {
    // Called after the last batch of the incarnation, when its messages are gone. The owner may be
    // gone when the call returns.
    void (*const incarnation_ended)(incarnation_owner& me, mailbox& box) noexcept;
};

// Names a mailbox and one incarnation of it. An address is a value and keeps no object alive. Each
// later incarnation has another generation.
struct address {
    std::uint32_t slot = 0; // 0: no mailbox
    std::uint32_t generation = 0;

    explicit operator bool() const noexcept { return slot != 0; }
    friend bool operator==(const address&, const address&) noexcept = default;
    // An arbitrary order, for maps.
    friend auto operator<=>(const address&, const address&) noexcept = default;
};

enum class [[nodiscard]] delivery : std::uint8_t { sent, full, dead };

// The header of a message, in front of the data that it carries. The code that must call `run` owns
// the memory, and `run` gives it back.
struct message_node {
    // Handles the message; `object` is the object with which the receiver's incarnation began.
    // Null: no receiver can handle the message, which is only destroyed. Called once.
    using function = void (*)(message_node& self, void* object) noexcept;
    constexpr explicit message_node(function what) noexcept : run(what) {}

    union {
        message_node* next = nullptr;
        // The receiver, while the message lies in a worker's LIFO slot:
        // src/core/queues/lifo_slot.hpp.
        mailbox* target;
        std::uint32_t slot; // the receiver's slot, once `fate` is not `sent`
    };
    function run;
    address sender;               // the receiver that ran when the message was sent
    std::uint32_t generation = 0; // the receiver's generation
    // handled before all messages that are not urgent, also before earlier ones
    bool urgent : 1 = false;
    bool counted : 1 = false;               // the receiver's `room` counts it
    delivery fate : 2 = delivery::sent;     // if not `sent`: why no receiver can handle it
    bool kept : 1 = false;                  // the message is sent again, with the same `sender`
    std::uint32_t prefetch_offset : 24 = 0; // a hint: src/actors/runtime/prefetch_links.hpp

    // Records why no receiver handles the message. Called before `run` with a null object.
    void failed(std::uint32_t whose, delivery why) noexcept {
        slot = whose;
        fate = why;
    }
    // The address of the intended receiver, once the message has failed.
    address receiver() const noexcept {
        return fate == delivery::sent ? address() : address{slot, generation};
    }
};

// The reaction of a mailbox that has no room.
enum class when_full : std::uint8_t { wait, refuse, drop_newest, drop_oldest };

static_assert(sizeof(message_node) == 32);

// Sends a message. Messages from one sender to one receiver arrive in the order of the calls.
// `dead`: the receiver is gone; `full`: it has no room. In both cases the message is destroyed.
// Thread-safe, never blocks, never allocates. Needs no locked instruction on a worker of the
// receiver's runtime on which the receiver's last batch ran.
delivery deliver(address to, message_node& one) noexcept;

// Sends a message like deliver, but waits for room in a full mailbox that lets its senders wait.
// The call blocks until there is room, the receiver is gone, or the caller's scope is cancelled. In
// the last case it returns nothing, and the message still belongs to the caller.
[[nodiscard]] std::optional<delivery> deliver_waiting(address to, message_node& one) noexcept;

// Sends a message like deliver, whether there is room or not.
delivery deliver_uncounted(address to, message_node& one) noexcept;

// Whether that life has not ended. May be outdated when it returns.
// True if the incarnation has not ended. The answer may be outdated when the call returns.
bool alive(address who) noexcept;

// The receiver that runs on the calling context; a null address if there is none.
address current_receiver() noexcept;

} // namespace sennit::sched

template <>
struct std::hash<sennit::sched::address> {
    std::size_t operator()(const sennit::sched::address& which) const noexcept {
        return std::hash<std::uint64_t>()(std::bit_cast<std::uint64_t>(which));
    }
};
