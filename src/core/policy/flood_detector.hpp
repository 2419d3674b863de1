// SPDX-License-Identifier: Apache-2.0
// Notices when handlers of one worker send faster to a mailbox of another one than that gets to its
// mail.
//
// Counts what went to one mailbox since its mail was last taken; who sends the piece that is one
// too many, and has more to do, goes on behind its receiver:
// src/actors/runtime/mailbox_backpressure.cpp. One receiver at a time is watched: whoever sends to
// several in turn floods none of them. All of it is a hint, and its worker's own.
#pragma once

#include "core/policy/tuning.hpp"

#include <cstdint>

namespace sennit::sched {

class mailbox;

class flood_detector {
public:
    // `from` sends to `to`, whose mail was taken so many times. True: one too many.
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
    // Whom it outruns; null: not known here.
    mailbox* flooded_receiver(const mailbox& sender) const noexcept {
        return from_ == &sender ? to_ : nullptr;
    }

private:
    const mailbox* from_ = nullptr; // who sent the piece that was one too many; only compared
    mailbox* to_ = nullptr;
    std::uint32_t taken_ = 0, count_ = 0;
};

} // namespace sennit::sched
