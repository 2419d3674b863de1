// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/sys/atfork.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/detail/sys/spin_lock.hpp" // spin_pause

namespace sennit::base {

namespace {

constinit atomic<const atfork_lock*> newest{nullptr};

// Of the fork under way: who has all the locks.
constinit const atfork_lock* held = nullptr; // these, and those after them
constinit bool unregistered = false;         // it was no member of the company before

} // namespace

void atfork_lock::enlist() noexcept {
    next_ = newest.load();
    while (!newest.cas(next_, this)) {
    }
}

bool atfork_lock::try_lock() const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        if (try_lock_(first_ + i * step_)) continue;
        unlock(i);
        return false;
    }
    return true;
}

void atfork_lock::unlock(std::size_t count) const noexcept {
    for (std::size_t i = 0; i < count; ++i) unlock_(first_ + i * step_);
}

void atfork_lock::unlock(const atfork_lock* first, const atfork_lock* end) noexcept {
    for (; first != end; first = first->next_) first->unlock(first->count_);
}

// All or none: in whatever order others take several of them, nobody waits for us while we wait for
// him.
void atfork_lock::lock_all() noexcept {
    const bool comes = !this_thread_registered();
    register_this_thread(); // here: not with one of them in its hands
    const atfork_lock* const first = newest.load();
    for (unsigned round = 0;; spin_pause(round++)) {
        const atfork_lock* one = first;
        while (one && one->try_lock()) one = one->next_;
        if (!one) break;
        unlock(first, one);
    }
    held = first;
    unregistered = comes;
}

void atfork_lock::unlock_all() noexcept {
    const bool came = unregistered;
    unlock(held, nullptr);
    if (came) unregister_this_thread(); // it need not come back
}

} // namespace sennit::base
