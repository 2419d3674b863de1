// SPDX-License-Identifier: Apache-2.0
// The type-independent part of a coroutine: its control block, and the switches between resumer and
// body.
//
// Writers: the resumer writes the frame before it enters the body and after control has returned;
// the body writes it in between. They never run at the same time. No part of the frame is shared
// while a coroutine runs. Handing a coroutine to another thread needs the same synchronisation as
// any other object.
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

// The data of one resume, in the resumer's frame.
struct coroutine_visit {
    coroutine_visit() noexcept {} // no answer
    explicit coroutine_visit(void* answer) noexcept : out(answer) {}
    void* out; // where the answer is stored; null: the resume expects none
    // Null as long as control can only return by a suspension of the resumed coroutine, with its
    // handle where it was. Otherwise the coroutine that runs in this resume, or the coroutine that
    // has ended it.
    coroutine_frame* diverted_to = nullptr;
};

// The exception that unwinds the stack of a coroutine that is destroyed while suspended. It does
// not derive from std::exception, so that handlers of std::exception let it pass.
struct coroutine_unwind {};

// The functions that all coroutines with one type of body share.
struct coroutine_type {
    void (*body)(coroutine_frame&);             // calls the body, on the coroutine's own stack
    void (*destroy)(coroutine_frame*) noexcept; // frees the block
};

// The attributes of a coroutine, checked when the coroutine is created.
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

    // Called by the resumer. Returns when the coroutine is suspended or has ended, or when a
    // coroutine to which it transferred control does so. `inside`, a member of the handle, is the
    // stack position of the body if it is known, else null: see suspend.
    [[gnu::always_inline]] void resume(coroutine_visit& visit, void*& inside) {
        become_running(visit);
        void* there = std::exchange(inside, nullptr);
        if (!there) [[unlikely]]
            there = stack_->other_side();
        come_back(visit, inside, stack_->enter(there));
    }
    // Notes that the handle has moved.
    void note_moved() noexcept {
        if (phase_ == phase::running) visit_->diverted_to = this;
    }
    void raise(coroutine_visit& visit, void*& inside, std::exception_ptr what);

    // Called by the body, which knows its stack and `outside`, the stack position of the resumer.
    // Both are arguments, because a pointer that had to be followed to find them would delay the
    // jump. The resumer notes the suspension when control has returned to it.
    [[gnu::always_inline]] void suspend(sched::coroutine_stack& stack, void*& outside) {
        outside = stack.leave(outside);
        if (!outside) [[unlikely]] {
            outside = stack.other_side();
            interrupted();
        }
    }
    // Continues `to`, which answers this coroutine's resumer.
    void transfer(coroutine_frame& to, void*& outside);

    void* out() const noexcept { return visit_->out; }
    // valid from the first resume on
    sched::coroutine_stack& stack() const noexcept { return *stack_; }

    // Called by the owner of the handle: unwinds the stack of a suspended coroutine, and frees the
    // block.
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
    const coroutine_settings* const settings_; // null: no attributes were given
    sched::coroutine_stack* stack_ = nullptr;
    coroutine_visit* visit_ = nullptr; // of the present or last resumer
    phase phase_ = phase::fresh;
    interrupt interrupt_ = interrupt::none;
    // an exception to raise inside the body, or the exception that left the body
    std::exception_ptr error_;
};

} // namespace sennit::detail
