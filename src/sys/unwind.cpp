// SPDX-License-Identifier: Apache-2.0
// x86-64: the compiler's unwinder (_Unwind_Backtrace) walks from its caller. Our caller is a
// function whose call-frame information says that *its* caller is the saved thread of control, with
// the registers in an array that rbx points to. Nothing is switched or written; the saved stack is
// only read. At the landing point, the compiler's own information describes exactly the frame that
// switch_stacks leaves behind, so the unwinder never guesses.
//
// AArch64: compilers keep frame pointers there. The walk follows the chain as long as it leads
// upwards inside the stack.
#include "sys/unwind.hpp"

#include <unwind.h>

#include <cstdint>

#if defined(__x86_64__)

struct sennit_registers { // the assembly relies on the order of the members
    const void* pc;
    const void* sp;
    const void* fp;
    const void* saved[5]; // rbx, r12 to r15: clobbered by the jump, so their contents do not matter
};

extern "C" [[gnu::visibility("hidden")]] _Unwind_Reason_Code
sennit_unwind_from(const sennit_registers* start, _Unwind_Trace_Fn each, void* argument);

// 0x0f: the frame's address is `*(rbx + 8)`. 0x10 r: register r was saved at `rbx + n` (0x73 n: rbx
// + n).
asm(R"(
    .pushsection .text
    .hidden sennit_unwind_from
    .globl sennit_unwind_from
    .type sennit_unwind_from, @function
sennit_unwind_from:
    .cfi_startproc
    .cfi_signal_frame
    endbr64
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    movq %rdi, %rbx
    movq %rsi, %rdi
    movq %rdx, %rsi
    .cfi_remember_state
    .cfi_escape 0x0f, 3, 0x73, 8, 0x06
    .cfi_escape 0x10, 16, 2, 0x73, 0
    .cfi_escape 0x10, 6, 2, 0x73, 16
    .cfi_escape 0x10, 3, 2, 0x73, 24
    .cfi_escape 0x10, 12, 2, 0x73, 32
    .cfi_escape 0x10, 13, 2, 0x73, 40
    .cfi_escape 0x10, 14, 2, 0x73, 48
    .cfi_escape 0x10, 15, 2, 0x73, 56
    call _Unwind_Backtrace@PLT
    .cfi_restore_state
    popq %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    ret
    .cfi_endproc
    .size sennit_unwind_from, . - sennit_unwind_from
    .popsection
)");

namespace sennit::sys {

namespace {

struct unwind_state {
    const void** to;
    std::size_t most;
    std::size_t count = 0;
    unsigned frame = 0;
    const std::byte* low;
    const std::byte* high;
};

_Unwind_Reason_Code note(_Unwind_Context* at, void* argument) {
    auto& mine = *static_cast<unwind_state*>(argument);
    if (mine.frame++ == 0) return _URC_NO_REASON; // the frame of sennit_unwind_from itself
    // SAFETY: the addresses are only compared and printed.
    const auto* sp = reinterpret_cast<const std::byte*>(_Unwind_GetCFA(at));
    const auto* pc = reinterpret_cast<const void*>(_Unwind_GetIP(at));
    if (sp < mine.low || sp > mine.high || !pc || mine.count == mine.most) return _URC_END_OF_STACK;
    mine.to[mine.count++] = pc;
    return _URC_NO_REASON;
}

} // namespace

std::size_t unwind(const machine_context& from, const std::byte* low, const std::byte* high,
                   const void** to, std::size_t most) noexcept {
    const saved_position at = position_of_saved(from.sp);
    const sennit_registers start{at.pc, at.sp, at.fp, {}};
    unwind_state state{to, most, 0, 0, low, high};
    (void)sennit_unwind_from(&start, &note, &state);
    return state.count;
}

#else

namespace sennit::sys {

std::size_t unwind(const machine_context& from, const std::byte* low, const std::byte* high,
                   const void** to, std::size_t most) noexcept {
    const saved_position at = position_of_saved(from.sp);
    std::size_t count = 0;
    if (most != 0) to[count++] = at.pc;
    const auto* frame = static_cast<const std::byte*>(at.fp);
    while (count < most && frame >= low && frame + 16 <= high &&
           reinterpret_cast<std::uintptr_t>(frame) % 8 == 0) {
        // SAFETY: inside the stack, aligned.
        const auto* link = reinterpret_cast<const void* const*>(frame);
        if (!link[1]) break;
        to[count++] = link[1];
        const auto* outer = static_cast<const std::byte*>(link[0]);
        if (outer <= frame) break;
        frame = outer;
    }
    return count;
}

#endif

std::size_t depth(const machine_context& from, const std::byte* high) noexcept {
    return static_cast<std::size_t>(high -
                                    static_cast<const std::byte*>(position_of_saved(from.sp).sp));
}

} // namespace sennit::sys
