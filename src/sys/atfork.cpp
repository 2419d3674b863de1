// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/sys/atfork.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/detail/sys/spin_lock.hpp" // spin_pause

namespace sennit::base {

namespace {

constinit atomic<const atfork_lock*> newest{nullptr};

// State of the fork in progress, written by the thread that holds all the locks.
// The fork holds the locks from this one to the end of the list.
constinit const atfork_lock* held = nullptr;
// True if the forking thread was not registered before.
constinit bool unregistered = false;

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

// Takes all locks or none. Other threads may take several of them in any order: no thread waits for
// this thread while this thread waits for it.
void atfork_lock::lock_all() noexcept {
    const bool comes = !this_thread_registered();
    // Registers here, before this thread holds any of the locks.
    register_this_thread();
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
    if (came) unregister_this_thread(); // the thread registers again at its next lock
}

} // namespace sennit::base
