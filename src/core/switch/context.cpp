// SPDX-License-Identifier: Apache-2.0
#include "core/switch/context.hpp"

#include "core/switch/switching.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/verbs.hpp"

namespace sennit::sched {

namespace {

// The bottom frame of every context's stack.
[[noreturn]] void enter_context() noexcept {
    sys::arrived(this_worker()->self().machine);
    worker::on_switched_in();
    worker::loop();
}

} // namespace

sys::stack stack_at(const context& whose, const void* sp) noexcept {
    const auto* where = static_cast<const std::byte*>(sp);
    const coroutine_stack* beside =
        where >= whose.stack.low && where < whose.stack.high ? nullptr : coroutine_stack::find(sp);
    return beside ? sys::stack{beside->low(), beside->high()} : whose.stack;
}

void context::resume_ready(runnable* self) noexcept {
    this_worker()->resume(static_cast<context&>(*self));
}

stack_numbers current_stack() noexcept {
    worker* me = this_worker();
    if (!me) return {};
    const auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
    const sys::stack mine = stack_at(me->self(), here);
    return {static_cast<std::size_t>(mine.high - mine.low),
            static_cast<std::size_t>(mine.high - here), sys::touched_bytes(mine)};
}

context::context(runtime_core& owner, unsigned number, sys::stack frames, std::byte* last) noexcept
    : resumable(&context::resume_ready, owner),
      fork_end(reinterpret_cast<fork_slot*>(last)), // SAFETY: compared, never followed.
      saved_head(fork_base()), stack(frames), index(number) {
    saved_strand = &own;
    own.outer = nullptr;
    // A context may be made while a task that has changed the control words gives up its stack.
    machine.fp_usual = owner.fp_control();
    machine.sp = sys::prepare_stack(stack.high, [] { enter_context(); });
    machine.stack_low = stack.low;
    machine.stack_size = static_cast<std::size_t>(stack.high - stack.low);
#ifdef SENNIT_THREAD_SANITIZER
    machine.tsan_fiber = __tsan_create_fiber(0);
#endif
}

context::~context() {
    sys::end_notes(machine);
}

} // namespace sennit::sched
