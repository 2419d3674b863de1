// SPDX-License-Identifier: Apache-2.0
// Detects that handlers on one worker send messages to a mailbox of another worker faster than the
// receiver takes them.
//
// The detector counts the messages to one mailbox since the receiver last took its messages. The
// sender of the message that is one too many continues behind its receiver, if the sender has more
// to do: src/actors/runtime/mailbox_backpressure.cpp. The detector watches one receiver at a time,
// because a sender that alternates between several receivers floods none of them.
//
// The result is a hint. Owner's thread only.
#pragma once

#include "core/policy/tuning.hpp"

#include <cstdint>

namespace sennit::sched {

class mailbox;

class flood_detector {
public:
    // Notes that `from` sends a message to `to`, which has taken its messages `taken` times.
    // Returns true if this message is one too many.
    bool note(const mailbox& from, mailbox& to, std::uint32_t taken) noexcept {
        if (to_ != &to || taken_ != taken) {
            to_ = &to;
            taken_ = taken;
            count_ = 0;
        }
        if (++count_ < tuning::max_unreceived_messages) return false;
        from_ = &from;
        return true;
    }
    // The receiver that `sender` floods; null: this detector knows none.
    mailbox* flooded_receiver(const mailbox& sender) const noexcept {
        return from_ == &sender ? to_ : nullptr;
    }

private:
    // The sender of the message that was one too many; the address is only compared.
    const mailbox* from_ = nullptr;
    mailbox* to_ = nullptr;
    std::uint32_t taken_ = 0, count_ = 0;
};

} // namespace sennit::sched
