// SPDX-License-Identifier: Apache-2.0
// What coroutines of all types have in common: the control block, and the moves between resumer and
// body.
//
// Who writes what: the resumer before it enters and after it is back, the body between; never both
// at once. Nothing here is shared while a coroutine runs; handing one to another thread needs what
// handing any object over needs.
#pragma once

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/coroutine_stack.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

namespace sennit::detail {

class coroutine_frame;

// In the frame of whoever resumes, for one turn.
struct coroutine_visit {
    coroutine_visit() noexcept {} // no answer
    explicit coroutine_visit(void* answer) noexcept : out(answer) {}
    void* out; // where the answer goes, if there is one
    // Null as long as control can only come back by a suspension of the one that was resumed, whose
    // handle is where it was. Else the one that runs in this turn, or the one that has ended it.
    coroutine_frame* diverted_to = nullptr;
};

// What unwinds the stack of a coroutine that is destroyed while it is suspended. No std::exception,
// so that a handler of those lets it pass.
struct coroutine_unwind {};

// What the coroutines of one body's type have in common.
struct coroutine_type {
    void (*body)(coroutine_frame&);             // calls it, on the coroutine's own stack
    void (*destroy)(coroutine_frame*) noexcept; // frees the block
};

// What a coroutine was given beside its body. Checked when it is made.
struct coroutine_settings {
    coroutine_settings(std::string_view name, std::size_t stack); // throws std::invalid_argument
    std::array<char, 24> name{};
    std::size_t stack_size;
};

class coroutine_frame {
public:
    explicit coroutine_frame(const coroutine_type& type,
                             const coroutine_settings* settings = nullptr) noexcept
        : type_(type), settings_(settings) {}
    coroutine_frame(const coroutine_frame&) = delete;

    bool ended() const noexcept { return phase_ == phase::ended; }

    // The resumer's. Returns when the coroutine is suspended or has ended, or one to which it
    // passed control. `inside`, in the handle, is where the body stands if that is known, and else
    // null: see suspend.
    [[gnu::always_inline]] void resume(coroutine_visit& visit, void*& inside) {
        become_running(visit);
        void* there = std::exchange(inside, nullptr);
        if (!there) [[unlikely]]
            there = stack_->other_side();
        come_back(visit, inside, stack_->enter(there));
    }
    // The handle is at another place from now on.
    void note_moved() noexcept {
        if (phase_ == phase::running) visit_->diverted_to = this;
    }
    void raise(coroutine_visit& visit, void*& inside, std::exception_ptr what);

    // The body's, which knows its stack, and `outside`, where the resumer stands: each pointer that
    // would have to be followed to find it would wait for the jump before. That it is suspended is
    // noted when the resumer is back.
    [[gnu::always_inline]] void suspend(sched::coroutine_stack& stack, void*& outside) {
        outside = stack.leave(outside);
        if (!outside) [[unlikely]] {
            outside = stack.other_side();
            interrupted();
        }
    }
    // `to` goes on, and answers our resumer.
    void transfer(coroutine_frame& to, void*& outside);

    void* out() const noexcept { return visit_->out; }
    sched::coroutine_stack& stack() const noexcept { return *stack_; } // since the first turn

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
    [[gnu::always_inline]] void come_back(coroutine_visit& visit, void*& inside, void* there) {
        if (visit.diverted_to) [[unlikely]] {
            visit.diverted_to->come_back_diverted();
        } else {
            phase_ = phase::suspended;
            inside = there;
        }
    }
    void come_back_diverted();
    void begin();
    void finish();
    void interrupted();
    void unwind() noexcept;
    static void run(void* self) noexcept;

    const coroutine_type& type_;
    const coroutine_settings* const settings_; // null: nothing
    sched::coroutine_stack* stack_ = nullptr;
    coroutine_visit* visit_ = nullptr; // of the present or last resumer
    phase phase_ = phase::fresh;
    interrupt interrupt_ = interrupt::none;
    std::exception_ptr error_; // to raise inside; or what left the body
};

} // namespace sennit::detail
