// SPDX-License-Identifier: Apache-2.0
// Who is running: the identity that locks are owned by, and what belongs to one strand of execution
// wherever it runs.
//
// A fiber is an activity; so is each body that a runtime runs, each stolen child, and each thread
// that is no worker. The running thread's hot line points to it; a context that is left takes it
// along. What a context runs by plain call (an unstolen fork) belongs to the caller's activity.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/sys/worker_tls.hpp"

#include <cstdint>

namespace sennit::sched {

class cancel_scope;
struct local_value;  // see sennit/fiber_local.hpp
struct wait_options; // see sennit/detail/core/wait.hpp

struct alignas(16) strand {
    base::atomic<std::uint64_t> id{0}; // 0: none was asked for yet; see number_of
    cancel_scope* scope = nullptr;     // innermost; what ends its waits
    local_value* locals = nullptr;     // newest first
    void* fiber = nullptr;             // the fiber's control block; null: this is no fiber
    const wait_options* waits_for =
        nullptr;   // what a blocked one is blocked in; in its frame; for reports
    strand* outer; // who goes on with this stack when this one ends; written when it begins; for
                   // reports
};

// The running one. Null on a thread that is no worker and has none.
inline strand* current_strand() noexcept {
    return static_cast<strand*>(sys::tls_strand());
}

// The same; on a thread that has none, what the thread keeps instead (its identity is not that
// address).
strand& strand_of_thread() noexcept;
inline strand& strand_or_thread(strand* running) noexcept { // of `current_strand()`
    return running ? *running : strand_of_thread();
}
inline strand& this_strand() noexcept {
    return strand_or_thread(current_strand());
}

// An address that no other activity has while this one lives, also on threads that are no workers.
// Multiple of 16.
inline void* identity_of(strand* running) noexcept { // of `current_strand()`
    return running ? running : sys::tls_identity();
}
inline void* current_identity() noexcept {
    return identity_of(current_strand());
}

// `self` goes on with this stack until end_strand. A snapshot may halt the thread between any two
// instructions and follows `outer`, so it is written first.
inline void begin_strand(strand& self) noexcept {
    self.outer = current_strand();
    sys::tls_set_strand(&self);
}
inline void end_strand(strand& self) noexcept {
    sys::tls_set_strand(self.outer);
}

// Makes `next` the running one and returns the one before. Whoever does so puts it back on the same
// stack.
inline strand* exchange_strand(strand* next) noexcept {
    strand* before = current_strand();
    sys::tls_set_strand(next);
    return before;
}

// The running activity's number, unique in the process; given at the first call.
std::uint64_t current_id() noexcept;

// Anybody's number, while it lives; given at the first call. Any thread, with any lock.
std::uint64_t number_of(strand& who) noexcept;

// A number nobody had before.
std::uint64_t fresh_id() noexcept;

// The first of `count` such numbers, of at most 2^20.
std::uint64_t fresh_ids(std::uint64_t count) noexcept;

// Destroys its locals, newest first, those that the destructors make included.
void destroy_all_locals(strand& ended) noexcept;
inline void destroy_locals(strand& ended) noexcept {
    if (ended.locals) [[unlikely]]
        destroy_all_locals(ended);
}

// An activity for as long as the object lives; for bodies that are no fibers.
class strand_frame {
public:
    // In `scope`, which outlives it and in which nobody else waits meanwhile; null: in none.
    explicit strand_frame(cancel_scope* scope = nullptr) noexcept;
    ~strand_frame();
    strand_frame(const strand_frame&) = delete;

private:
    strand own_;
};

} // namespace sennit::sched
