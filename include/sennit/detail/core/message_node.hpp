// SPDX-License-Identifier: Apache-2.0
// Mail: what is sent to something that handles one piece at a time, and where to.
//
// Who uses it: actors. The engine's half, the mailbox, is in src/actors/runtime/mailbox.hpp: a
// runnable that is scheduled when the first mail comes, and handles it on whatever stack its worker
// is on.
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

// Whom a life belongs to.
struct incarnation_owner {
    // The life's last turn is over, and its mail gone. The owner may be gone when it returns.
    void (*const incarnation_ended)(incarnation_owner& me, mailbox& box) noexcept;
};

// Names a mailbox and one life of it: a value, that keeps nothing alive. Later lives have other
// generations.
struct address {
    std::uint32_t slot = 0; // 0: nobody
    std::uint32_t generation = 0;

    explicit operator bool() const noexcept { return slot != 0; }
    friend bool operator==(const address&, const address&) noexcept = default;
    friend auto operator<=>(const address&,
                            const address&) noexcept = default; // some order, for maps
};

enum class [[nodiscard]] delivery : std::uint8_t { sent, full, dead };

// One piece, in front of what it carries. Its memory belongs to whoever has to call `run`, which
// gives it back.
struct message_node {
    // Handles it; `object` is what the receiver's life began with. Null: nobody can, it is only
    // destroyed. Called once.
    using function = void (*)(message_node& self, void* object) noexcept;
    constexpr explicit message_node(function what) noexcept : run(what) {}

    union {
        message_node* next = nullptr;
        mailbox*
            target; // the receiver, while it lies in a worker's hand: src/core/queues/lifo_slot.hpp
        std::uint32_t slot; // the receiver's, once `fate` is not `sent`
    };
    function run;
    address sender;               // who handled something when it was sent
    std::uint32_t generation = 0; // the receiver's
    bool urgent : 1 = false;      // goes before what is not, also before what was sent earlier
    bool counted : 1 = false;     // the receiver's `room` counts it
    delivery fate : 2 = delivery::sent;     // else: why nobody can handle it
    bool kept : 1 = false;                  // it is sent again: `sender` stands
    std::uint32_t prefetch_offset : 24 = 0; // a hint: src/core/policy/prefetch_links.hpp

    // Before `run` with nobody.
    void failed(std::uint32_t whose, delivery why) noexcept {
        slot = whose;
        fate = why;
    }
    // Whom it was for, once it has failed.
    address receiver() const noexcept {
        return fate == delivery::sent ? address() : address{slot, generation};
    }
};

// What a mailbox does whose room is taken.
enum class when_full : std::uint8_t { wait, refuse, drop_newest, drop_oldest };

static_assert(sizeof(message_node) == 32);

// Sends. Mail from one sender to one receiver arrives in the order of the calls. `dead`: the
// receiver is gone, `full`: it has no room; then the mail is destroyed. Thread-safe, never blocks,
// never allocates. On a worker of the receiver's runtime, when the receiver's last turn was there:
// no locked instruction.
delivery deliver(address to, message_node& one) noexcept;

// The same, but where a full mailbox lets its senders wait, the caller does: blocks, until there is
// room, the receiver is gone, or the caller's scope is cancelled: nothing then, and the mail is the
// caller's still.
[[nodiscard]] std::optional<delivery> deliver_waiting(address to, message_node& one) noexcept;

// The same as deliver, whether there is room or not.
delivery deliver_uncounted(address to, message_node& one) noexcept;

// Whether that life has not ended. May be outdated when it returns.
bool alive(address who) noexcept;

// Who handles something on the calling context; nobody: a null address.
address current_receiver() noexcept;

} // namespace sennit::sched

template <>
struct std::hash<sennit::sched::address> {
    std::size_t operator()(const sennit::sched::address& which) const noexcept {
        return std::hash<std::uint64_t>()(std::bit_cast<std::uint64_t>(which));
    }
};
