// SPDX-License-Identifier: Apache-2.0
#include "sennit/coroutine.hpp"

#include <stdexcept>
#include <string>

namespace sennit::detail {

coroutine_settings::coroutine_settings(std::string_view called, std::size_t stack)
    : stack_size(stack) {
    if (stack > sched::max_coroutine_stack)
        throw std::invalid_argument(
            "sennit: [SNT-312] a coroutine's stack must be at most 1 GiB, not " +
            std::to_string(stack) + " bytes");
    called.copy(name.data(), name.size() - 1);
}

// Starts the first resume, or reports a misuse.
void coroutine_frame::begin() {
    SENNIT_CHECK(phase_ != phase::ended,
                 "[SNT-304] a coroutine was resumed after its end; ask done() first");
    SENNIT_CHECK(phase_ != phase::running,
                 "[SNT-305] a coroutine was resumed while it runs or waits for a coroutine that it "
                 "resumed; resume it after it has suspended");
    stack_ = settings_
                 ? &sched::coroutine_stack::take(&coroutine_frame::run, this, settings_->stack_size,
                                                 settings_->name.data())
                 : &sched::coroutine_stack::take(&coroutine_frame::run, this);
}

// Runs the whole life of a body on the coroutine's stack, which is free when this function returns.
void coroutine_frame::run(void* self) noexcept {
    auto& me = *static_cast<coroutine_frame*>(self);
    try {
        me.type_.body(me);
    } catch (const coroutine_unwind&) {
        // The coroutine was destroyed while suspended, and the unwinding is complete.
    } catch (...) {
        me.error_ = std::current_exception();
    }
    me.phase_ = phase::ended;
    me.visit_->diverted_to = &me;
}

// Called by the resumer, for the coroutine that ran last.
void coroutine_frame::come_back_diverted() {
    if (ended())
        finish();
    else
        phase_ = phase::suspended;
}

void coroutine_frame::finish() {
    sched::coroutine_stack::give(*stack_);
    stack_ = nullptr;
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void coroutine_frame::raise(coroutine_visit& visit, void*& inside, std::exception_ptr what) {
    SENNIT_CHECK(
        what != nullptr,
        "[SNT-306] coroutine::raise was given a null exception_ptr; pass std::make_exception_ptr");
    if (phase_ == phase::fresh) {
        phase_ = phase::ended;
        std::rethrow_exception(std::move(what));
    }
    SENNIT_CHECK(phase_ == phase::suspended,
                 "[SNT-307] coroutine::raise was called on a coroutine that has ended or runs; "
                 "raise only while it is suspended");
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
    SENNIT_CHECK(phase_ == phase::running, "[SNT-308] transfer was called on a coroutine that does "
                                           "not run; only the running body may transfer control");
    SENNIT_CHECK(&to != this, "[SNT-309] a coroutine transferred control to itself; transfer to "
                              "another coroutine, or suspend");
    to.become_running(*visit_); // the first resume may throw; nothing has changed then
    visit_->diverted_to = &to;
    phase_ = phase::suspended;
    stack_->transfer_to(*to.stack_);
    outside = stack_->other_side();
    if (interrupt_ != interrupt::none) interrupted();
}

void coroutine_frame::unwind() noexcept {
    coroutine_visit visit(nullptr); // no resumer waits for an answer
    interrupt_ = interrupt::unwind;
    become_running(visit);
    stack_->interrupt();
    SENNIT_CHECK(phase_ == phase::ended,
                 "[SNT-303] a coroutine's body suspended while the coroutine is destroyed; a "
                 "destructor or catch block of the body must not suspend");
    SENNIT_CHECK(!error_, "[SNT-310] an exception left the body of a coroutine while it was "
                          "destroyed; catch it in the body");
    sched::coroutine_stack::give(*stack_);
}

void coroutine_frame::drop(coroutine_frame* held) noexcept {
    if (!held) return;
    SENNIT_CHECK(held->phase_ != phase::running,
                 "[SNT-311] a coroutine was destroyed while it runs; keep it until its body has "
                 "suspended or ended");
    if (held->phase_ == phase::suspended) held->unwind();
    held->type_.destroy(held);
}

} // namespace sennit::detail
