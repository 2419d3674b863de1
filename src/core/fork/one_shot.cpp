// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/one_shot.hpp"

#include "core/policy/tuning.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/core/waiter.hpp"
#include "sennit/detail/sys/cpu_relax.hpp"

#include <utility>

namespace sennit::sched {

struct one_shot_installer {
    // After the switch: publishes the waiter, unless the event has come meanwhile.
    static bool install(void* argument, waiter& who) noexcept {
        auto& word = static_cast<one_shot*>(argument)->word_;
        std::uintptr_t expected = 0;
        // pairs with finish's exchange
        return word.cas_acq_rel(expected, reinterpret_cast<std::uintptr_t>(&who));
    }
};
static_assert(alignof(waiter) >= 4, "the two low bits of the word mean something else");

void one_shot::wait(const char* what) noexcept {
    for (unsigned i = 0; i < tuning::looks_before_waiting; ++i) {
        if (finished()) return;
        sys::cpu_relax();
    }
    waiter who;
    if (!what) {
        park(&one_shot_installer::install, this, who);
        return;
    }
    const wait_options told{.what = what, .on = this};
    strand& me = this_strand();
    const wait_record outer = std::exchange(me.waits_for, &told);
    park(&one_shot_installer::install, this, who);
    me.waits_for = outer;
}

waiter* one_shot::finish_and_take_waiter(bool failed) noexcept {
    // pairs with install
    const std::uintptr_t before = word_.exchange_acq_rel(failed ? failed_bit : done_bit);
    // SAFETY: zero, or the address that install published.
    return reinterpret_cast<waiter*>(before);
}

void one_shot::finish(bool failed) noexcept {
    if (waiter* who = finish_and_take_waiter(failed)) wake(*who);
}

} // namespace sennit::sched
