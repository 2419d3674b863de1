// SPDX-License-Identifier: Apache-2.0
// What whoever leaves a stack wants done once it is saved. One word, as it is written and read at
// each switch.
#pragma once

#include "sennit/detail/sys/spin_lock.hpp"

#include <cstdint>

namespace sennit::sched {

class context;

class post_switch_action {
public:
    post_switch_action() noexcept = default; // none
    explicit post_switch_action(context& left) noexcept
        : word_(reinterpret_cast<std::uintptr_t>(&left)) {} // see worker::run_post_switch
    explicit post_switch_action(base::spin_lock& held) noexcept
        : word_(reinterpret_cast<std::uintptr_t>(&held) | lock_mark) {}

    bool none() const noexcept { return word_ == 0; }
    // The lock that is to be freed; null: it is `left`.
    base::spin_lock* lock() const noexcept {
        // SAFETY: the address that the mark was put on.
        return word_ & lock_mark ? reinterpret_cast<base::spin_lock*>(word_ - lock_mark) : nullptr;
    }
    context& left() const noexcept {
        return *reinterpret_cast<context*>(word_);
    } // SAFETY: there is no mark

private:
    static constexpr std::uintptr_t lock_mark = 1;
    static_assert(alignof(base::spin_lock) > lock_mark);
    std::uintptr_t word_ = 0;
};

} // namespace sennit::sched
