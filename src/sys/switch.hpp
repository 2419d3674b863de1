// SPDX-License-Identifier: Apache-2.0
// Switches from one stack to another: the machine half of a context switch.
//
// `switch_stacks(from, to, globals)` saves the state that a thread of control owns beside its
// stack, then jumps. This state is the exceptions in flight, floating-point control words that were
// changed (both are rare), and the sanitizers' notes. The call returns when a thread switches back
// to `from`. That may be another thread, so a thread-local value that was read before must not be
// used afterwards.
//
// The jump itself is inline assembly with a clobber list, one small file per processor, so that the
// compiler saves just the registers that are live. It must not throw. Its cost:
// docs/internals/decisions/0018-coroutines-on-side-stacks.md.
#pragma once

#include "sennit/detail/base/sanitizers.hpp"
#include "sennit/detail/sys/exception_globals.hpp"
#include "sennit/detail/sys/worker_tls.hpp"

#include <cstddef>
#include <cstdint>

#ifdef SENNIT_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SENNIT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__)
#include "sys/switch_x86_64.hpp"
#elif defined(__aarch64__)
#include "sys/switch_aarch64.hpp"
#else
#error "Sennit has no context switch for this processor; src/sys/switch_x86_64.hpp is an example"
#endif

namespace sennit::sys {

// The saved state of a thread of control that does not run. `sp` is valid only while it does not
// run.
struct machine_context {
    void* sp = nullptr;
    // True if a member marked "kept" holds a value; otherwise both are as at construction.
    bool keeps = false;
    exception_globals exceptions{};             // kept
    std::uint64_t fp_usual = read_fp_control(); // the control words at construction
    std::uint64_t fp_control = 0;               // kept: control words set since then; 0: unchanged
    const void* stack_low = nullptr;            // for AddressSanitizer
    std::size_t stack_size = 0;
    void* asan_fake_stack = nullptr;
    void* tsan_fiber = nullptr;
};

// The first takes exceptions in flight and changed modes from the thread; the second gives them
// back.
void keep_state(machine_context& from, exception_globals& globals) noexcept;
void restore_state(machine_context& to, exception_globals& globals) noexcept;

// The calling thread's own stack, from which the thread switches away, and to which it will switch
// back while this object lives. Tells AddressSanitizer the bounds of the stack, which it stores in
// `own`, and LeakSanitizer that the stack holds references. Does nothing without sanitizers.
class own_stack_registration {
public:
    explicit own_stack_registration(machine_context& own) noexcept;
    ~own_stack_registration();
    own_stack_registration(const own_stack_registration&) = delete;

private:
    [[maybe_unused]] const void* begin_ = nullptr;
    [[maybe_unused]] std::size_t bytes_ = 0; // 0 if the system does not report the bounds.
};

// Ends the sanitizers' notes for a context to which no thread will switch again.
void end_notes(machine_context& of) noexcept;

// Must run first on a stack that was just switched to, also on a new stack (`self` then has no fake
// stack yet).
inline void arrived(machine_context& self) noexcept {
#ifdef SENNIT_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(self.asan_fake_stack, nullptr, nullptr);
#else
    (void)self;
#endif
}

// `globals` are those of the calling thread; `modes` were noted since the thread last ran other
// code. ThreadSanitizer must not instrument the caller, because its shadow stack changes between
// the note and the jump.
[[gnu::always_inline]] inline void switch_stacks(machine_context& from, machine_context& to,
                                                 exception_globals& globals,
                                                 const fp_note& modes = fp_note()) noexcept {
    if (globals.in_flight() || !modes.is(from.fp_usual)) [[unlikely]]
        keep_state(from, globals);
    if (to.keeps) [[unlikely]]
        restore_state(to, globals);
#ifdef SENNIT_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&from.asan_fake_stack, to.stack_low, to.stack_size);
#endif
#ifdef SENNIT_THREAD_SANITIZER
    __tsan_switch_to_fiber(to.tsan_fiber, 0);
#endif
    jump(&from.sp, to.sp);
    arrived(from);
}

} // namespace sennit::sys
