// SPDX-License-Identifier: Apache-2.0
// The running strand: the identity that owns locks, and the state that belongs to one thread of
// execution wherever it runs.
//
// A fiber is a strand. So is each body that a runtime runs, each stolen child, and each thread that
// is not a worker. The running thread's TLS line points to its strand; a suspended context takes
// its strand along. Code that a context runs by plain call (an unstolen fork) belongs to the
// caller's strand.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/sys/worker_tls.hpp"

#include <cstdint>

namespace sennit::sched {

class cancel_scope;
class task_strand;   // see sennit/detail/core/task_strand.hpp
struct local_value;  // see sennit/fiber_local.hpp
struct wait_options; // see sennit/detail/core/wait.hpp

// For reports: the wait of a blocked strand. It is the wait_options in the frame of the wait, or
// the notes that a suspended task strand keeps.
class wait_record {
public:
    constexpr wait_record() noexcept = default;
    wait_record(const wait_options* blocked) noexcept // NOLINT: converts implicitly
        : word_(reinterpret_cast<std::uintptr_t>(blocked)) {}
    explicit wait_record(const task_strand& suspended) noexcept
        : word_(reinterpret_cast<std::uintptr_t>(&suspended) | 1) {}
    explicit operator bool() const noexcept { return word_ != 0; }
    bool operator==(const wait_record&) const noexcept = default;
    // SAFETY: the constructors have stored the addresses, which are even.
    const task_strand* task() const noexcept { // null: the other kind
        return (word_ & 1) != 0 ? reinterpret_cast<const task_strand*>(word_ & ~std::uintptr_t{1})
                                : nullptr;
    }
    const wait_options* options() const noexcept { // requires that task() is null
        return reinterpret_cast<const wait_options*>(word_);
    }

private:
    std::uintptr_t word_ = 0; // For debuggers: the last bit is set for a task strand.
};

// The address of a strand is a multiple of 16. The type does not say so, because a task strand,
// whose object is aligned, would get larger.
struct strand {
    base::atomic<std::uint64_t> id{0}; // 0: not assigned yet; see number_of
    cancel_scope* scope = nullptr;     // the innermost scope, which can end the strand's waits
    local_value* locals = nullptr;     // newest first
    void* fiber = nullptr;             // the fiber's control block; null: this is no fiber
    wait_record waits_for;             // Of a blocked strand; for reports.
    union {
        // The strand that continues on this stack when this strand ends. Written when this strand
        // begins, or continues; for reports.
        strand* outer;
        // Of a task strand that is suspended: the innermost coroutine.
        void* innermost;
    };
};

// The running strand. Null on a thread that is not a worker and has none.
inline strand* current_strand() noexcept {
    return static_cast<strand*>(sys::tls_strand());
}

// The strand of a thread that has none in its TLS line. Its address is not the thread's identity.
strand& strand_of_thread() noexcept;
// `running` is the value of current_strand().
inline strand& strand_or_thread(strand* running) noexcept {
    return running ? *running : strand_of_thread();
}
inline strand& this_strand() noexcept {
    return strand_or_thread(current_strand());
}

// Returns an address that no other strand has while this strand lives, also on threads that are not
// workers. It is a multiple of 16.
// `running` is the value of current_strand().
inline void* identity_of(strand* running) noexcept {
    return running ? running : sys::tls_identity();
}
inline void* current_identity() noexcept {
    return identity_of(current_strand());
}

// `self` runs on this stack until end_strand. A snapshot may suspend the thread between any two
// instructions and follow `outer`, so `outer` is written first.
inline void begin_strand(strand& self) noexcept {
    self.outer = current_strand();
    sys::tls_set_strand(&self);
}
inline void end_strand(strand& self) noexcept {
    sys::tls_set_strand(self.outer);
}

// Makes `next` the running strand and returns the previous one. The caller must restore the
// previous one on the same stack.
inline strand* exchange_strand(strand* next) noexcept {
    strand* before = current_strand();
    sys::tls_set_strand(next);
    return before;
}

// The running strand's number, unique in the process. Assigned at the first call.
std::uint64_t current_id() noexcept;

// The number of a live strand. Assigned at the first call. Any thread may call it, with any lock
// held.
std::uint64_t number_of(strand& who) noexcept;

// Returns a number that no strand has had before.
std::uint64_t fresh_id() noexcept;

// Returns the first of `count` consecutive fresh numbers; at most 2^20.
std::uint64_t fresh_ids(std::uint64_t count) noexcept;

// Destroys the strand's locals, newest first, including the locals that their destructors create.
void destroy_all_locals(strand& ended) noexcept;
inline void destroy_locals(strand& ended) noexcept {
    if (ended.locals) [[unlikely]]
        destroy_all_locals(ended);
}

// A strand that lives as long as the object; for bodies that are not fibers.
class strand_frame {
public:
    // Starts a strand in `scope`, which must outlive it and in which no other strand waits
    // meanwhile; null: in no scope.
    explicit strand_frame(cancel_scope* scope = nullptr) noexcept;
    ~strand_frame();
    strand_frame(const strand_frame&) = delete;

private:
    alignas(16) strand own_;
};

} // namespace sennit::sched
