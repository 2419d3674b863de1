// SPDX-License-Identifier: Apache-2.0
// Signals of the process, for code that is no handler: a descriptor that is readable while signals
// wait to be taken.
//
// A handler for the whole process marks the signal in each inbox that wants it, and writes to the
// inbox's eventfd. No thread's mask changes, so a program that the process starts inherits none,
// and exec resets the handler. (A signalfd would need the signals blocked in all threads, also in
// those that began earlier, and in no child.)
//
// An inbox and its eventfd are never freed, only used again, because a handler may still hold
// their address. So a signal may come to a later user of the inbox, whose own filter drops it.
//
// In a child of fork() the parent's inboxes get nothing. A signal that no inbox of the process
// wants gets the action from before the first inbox.
#pragma once

#include "sennit/detail/base/atomic.hpp"

#include <cstddef>
#include <cstdint>

namespace sennit::sys {

class signal_inbox {
public:
    static constexpr unsigned max_inboxes = 64;
    static constexpr std::uint64_t bit_of(int signal) noexcept {
        return std::uint64_t{1} << (signal - 1);
    }

    // Any thread. `wanted`: bits of signals. Returns null, with the system's error: EINVAL for a
    // signal that cannot be handled, EMFILE where all inboxes are in use or no descriptor is free.
    static signal_inbox* open(std::uint64_t wanted, int& error) noexcept;
    // The handlers of signals that no other inbox wants end.
    void close() noexcept;
    // Readable after a signal has come.
    int descriptor() const noexcept { return descriptor_; }
    // Returns a signal that has come and was not taken; 0: none. Any thread.
    int take() noexcept;

private:
    friend struct signal_inboxes;
    void deliver(std::uint64_t bit) noexcept; // In a handler.

    int descriptor_ = -1; // Written before `wanted_`.
    base::atomic<unsigned> generation_{0};
    base::atomic<std::uint64_t> wanted_{0}; // 0: free.
    base::atomic<std::uint64_t> come_{0};
};

// The name of a signal, such as SIGTERM; "a signal" for an unknown one.
const char* signal_name(int signal) noexcept;

} // namespace sennit::sys
