// SPDX-License-Identifier: Apache-2.0
// Leaves one stack for another: the machine half of a context switch.
//
// `switch_stacks(from, to, globals)` saves what a thread of control owns beside its stack
// (exceptions in flight, floating-point control words that were changed: both hardly ever; the
// sanitizers' notes), then jumps. It returns when somebody switches back to `from`, perhaps in
// another thread: nothing thread-local that was read before may be used after.
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
#error                                                                                             \
    "Sennit has no context switch for this processor; see src/sys/switch_x86_64.hpp for what is needed"
#endif

namespace sennit::sys {

// What is saved of a thread of control that does not run. `sp` is valid only then.
struct machine_context {
    void* sp = nullptr;
    bool keeps = false; // something in the two lines marked so; else they are as at first
    exception_globals exceptions{};             // kept
    std::uint64_t fp_usual = read_fp_control(); // control words at its making
    std::uint64_t fp_control = 0;               // kept: others that it has set since; 0: none
    const void* stack_low = nullptr;            // for AddressSanitizer
    std::size_t stack_size = 0;
    void* asan_fake_stack = nullptr;
    void* tsan_fiber = nullptr;
};

// Takes exceptions in flight and changed modes from the thread, and gives them back.
void keep_state(machine_context& from, exception_globals& globals) noexcept;
void restore_state(machine_context& to, exception_globals& globals) noexcept;

// What the sanitizers keep for a context that nobody will switch to again.
void end_notes(machine_context& of) noexcept;

// First thing on a stack that was just switched to, also on a new one (then `self` has no fake
// stack yet).
inline void arrived(machine_context& self) noexcept {
#ifdef SENNIT_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(self.asan_fake_stack, nullptr, nullptr);
#else
    (void)self;
#endif
}

// `globals` are those of the calling thread, `modes` were noted since it last ran other code. The
// caller is not instrumented by ThreadSanitizer, since its shadow stack changes under it between
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
