// SPDX-License-Identifier: Apache-2.0
#include "sennit/coroutine.hpp"

#include <stdexcept>
#include <string>

namespace sennit::detail {

coroutine_extra::coroutine_extra(std::string_view called, std::size_t stack) : stack_size(stack) {
    if (stack > sched::most_side_stack)
        throw std::invalid_argument("sennit: a coroutine's stack must be at most 1 GiB, not " + std::to_string(stack) +
                                    " bytes");
    called.copy(name.data(), name.size() - 1);
}

// The first turn; or a misuse.
void coroutine_frame::begin() {
    SENNIT_CHECK(phase_ != phase::ended, "a coroutine is resumed after its end");
    SENNIT_CHECK(phase_ != phase::running, "a coroutine is resumed while it runs, or has itself resumed the caller");
    stack_ = extra_ ? &sched::side_stack::take(&coroutine_frame::run, this, extra_->stack_size, extra_->name.data())
                    : &sched::side_stack::take(&coroutine_frame::run, this);
}

// All of a body's life on its stack, which is free when this returns.
void coroutine_frame::run(void* self) noexcept {
    auto& me = *static_cast<coroutine_frame*>(self);
    try {
        me.type_.body(me);
    } catch (const coroutine_unwind&) {
        // It was destroyed, and that is done.
    } catch (...) {
        me.error_ = std::current_exception();
    }
    me.phase_ = phase::ended;
    me.visit_->astray = &me;
}

// In the resumer, of the one that ran last.
void coroutine_frame::come_back_astray() {
    if (ended())
        finish();
    else
        phase_ = phase::suspended;
}

void coroutine_frame::finish() {
    sched::side_stack::give(*stack_);
    stack_ = nullptr;
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void coroutine_frame::raise(coroutine_visit& visit, void*& inside, std::exception_ptr what) {
    SENNIT_CHECK(what != nullptr, "no exception is raised in a coroutine");
    if (phase_ == phase::fresh) {
        phase_ = phase::ended;
        std::rethrow_exception(std::move(what));
    }
    SENNIT_CHECK(phase_ == phase::suspended, "an exception is raised in a coroutine that has ended or runs");
    error_ = std::move(what);
    interrupt_ = interrupt::raise;
    become_running(visit);
    inside = nullptr;
    come_back(visit, inside, stack_->interrupt());
}

void coroutine_frame::interrupted() {
    if (interrupt_ == interrupt::unwind) throw coroutine_unwind();
    interrupt_ = interrupt::none;
    std::rethrow_exception(std::exchange(error_, nullptr));
}

void coroutine_frame::transfer(coroutine_frame& to, void*& outside) {
    SENNIT_CHECK(phase_ == phase::running, "a coroutine transfers control that does not run");
    SENNIT_CHECK(&to != this, "a coroutine transfers to itself");
    to.become_running(*visit_); // may throw at its first turn: nothing has changed then
    visit_->astray = &to;
    phase_ = phase::suspended;
    stack_->pass_to(*to.stack_);
    outside = stack_->other_side();
    if (interrupt_ != interrupt::none) interrupted();
}

void coroutine_frame::unwind() noexcept {
    coroutine_visit visit(nullptr); // nobody to answer
    interrupt_ = interrupt::unwind;
    become_running(visit);
    stack_->interrupt();
    SENNIT_CHECK(phase_ == phase::ended, "a coroutine is suspended while it is destroyed");
    SENNIT_CHECK(!error_, "an exception left a coroutine that was destroyed");
    sched::side_stack::give(*stack_);
}

void coroutine_frame::drop(coroutine_frame* held) noexcept {
    if (!held) return;
    SENNIT_CHECK(held->phase_ != phase::running, "a coroutine is destroyed while it runs");
    if (held->phase_ == phase::suspended) held->unwind();
    held->type_.destroy(held);
}

} // namespace sennit::detail
