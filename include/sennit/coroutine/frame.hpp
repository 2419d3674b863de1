// SPDX-License-Identifier: Apache-2.0
// What coroutines of all types have in common: the control block, and the moves between resumer and body.
//
// Who writes what: the resumer before it enters and after it is back, the body between; never both at once. Nothing
// here is shared while a coroutine runs; handing one to another thread needs what handing any object over needs.
#pragma once

#include "sennit/base/check.hpp"
#include "sennit/sched/side_stack.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>

namespace sennit::detail {

class coroutine_frame;

// In the frame of whoever resumes: where the answer goes, and who came back (another one than was resumed, after a
// transfer).
struct coroutine_visit {
    void* out;
    coroutine_frame* by = nullptr;
};

// What unwinds the stack of a coroutine that is destroyed while it is suspended. No std::exception, so that a handler
// of those lets it pass.
struct coroutine_unwind {};

// What the coroutines of one body's type have in common.
struct coroutine_type {
    void (*body)(coroutine_frame&);             // calls it, on the coroutine's own stack
    void (*destroy)(coroutine_frame*) noexcept; // frees the block
};

// What a coroutine was given beside its body. Checked when it is made.
struct coroutine_extra {
    coroutine_extra(std::string_view name, std::size_t stack); // throws std::invalid_argument
    std::array<char, 24> name{};
    std::size_t stack_size;
};

class coroutine_frame {
public:
    explicit coroutine_frame(const coroutine_type& type, const coroutine_extra* extra = nullptr) noexcept
        : type_(type), extra_(extra) {}
    coroutine_frame(const coroutine_frame&) = delete;

    bool ended() const noexcept { return phase_ == phase::ended; }

    // The resumer's. Returns when the coroutine is suspended or has ended, or one to which it passed control.
    [[gnu::always_inline]] void resume(coroutine_visit& visit) {
        become_running(visit);
        stack_->enter();
        if (visit.by->ended()) [[unlikely]]
            visit.by->finish();
    }
    void raise(coroutine_visit& visit, std::exception_ptr what);

    // The body's, which knows its stack: each pointer that is followed to find it waits for the jump before.
    [[gnu::always_inline]] void suspend(sched::side_stack& stack) {
        check_running();
        phase_ = phase::suspended;
        visit_->by = this;
        stack.leave();
        if (interrupt_ != interrupt::none) [[unlikely]]
            interrupted();
    }
    // `to` goes on, and answers our resumer.
    void transfer(coroutine_frame& to);

    void* out() const noexcept { return visit_->out; }
    sched::side_stack& stack() const noexcept { return *stack_; } // since the first turn

    // Of whoever holds it: unwinds its stack if it is suspended, and frees the block.
    static void drop(coroutine_frame* held) noexcept;

    void* in = nullptr; // the resumer's argument, in its frame

protected:
    ~coroutine_frame() = default;

private:
    enum class phase : std::uint8_t { fresh, suspended, running, ended };
    enum class interrupt : std::uint8_t { none, raise, unwind };

    void become_running(coroutine_visit& visit) {
        if (phase_ != phase::suspended) [[unlikely]]
            begin();
        phase_ = phase::running;
        visit_ = &visit;
    }
    void check_running() const noexcept {
        SENNIT_CHECK(phase_ == phase::running, "a coroutine is suspended that does not run");
    }
    void begin();
    void finish();
    void interrupted();
    void unwind() noexcept;
    static void run(void* self) noexcept;

    const coroutine_type& type_;
    const coroutine_extra* const extra_; // null: nothing
    sched::side_stack* stack_ = nullptr;
    coroutine_visit* visit_ = nullptr; // of the present or last resumer
    phase phase_ = phase::fresh;
    interrupt interrupt_ = interrupt::none;
    std::exception_ptr error_; // to raise inside; or what left the body
};

} // namespace sennit::detail
