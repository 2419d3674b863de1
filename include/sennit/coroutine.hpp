// SPDX-License-Identifier: Apache-2.0
// coroutine: a function with a stack of its own that can suspend in the middle, from any depth of
// calls, and be resumed later. Each resume passes a value in, and each suspend passes a value out.
//
//     sennit::coroutine<int, int> sum([](auto& self, int value) {   // the first value
//         for (int total = 0;;) value = self.suspend(total += value);
//     });
//     sum.resume(3);   // 3
//     sum.resume(4);   // 7
//
// Use it for control flow that would otherwise be a state machine: parsers, tree walks, protocols,
// simulations. Do not use it for things that happen concurrently (`fiber`). If a step is a few
// instructions, and only one function suspends, at its top level, `generator` is some ns faster and
// needs no stack.
//
// Guarantees. The first resume takes a stack: 1 MiB of address space, cached, or as
// coroutine_attributes say. An exception of the body travels to the resumer, and `raise` sends one
// the other way. Destroying a suspended coroutine unwinds its stack by an exception: handlers of
// `...` must let that exception pass.
// A coroutine may be resumed by another fiber or thread than the last time, by one at a time. Its
// body is part of the resumer: if the body blocks, the resumer blocks, and a mutex that the body
// locks belongs to the resumer. The body must therefore not suspend while it holds such a lock if
// another resumer will continue it. The body must not suspend inside a fork or a with_timeout that
// it began; this is checked. A nursery of the body may stay open, but not longer than the fiber or
// with_timeout lives in which the body created it; this is checked, too.
// Errors that end the program: resuming a coroutine that has ended or is running; suspending a
// coroutine that is not running; destroying a coroutine that is running.
// Cost: a resume and a suspend together take about 4 ns. Construction and destruction take 2 to 10
// ns, with a whole life about 27 ns; see docs/performance.md.
// After Conway 1963; Moura and Ierusalimschy, Revisiting Coroutines, TOPLAS 31(2), 2009:
// asymmetric, with transfer.
#pragma once

#include "sennit/coroutine/frame.hpp"
#include "sennit/detail/core/slab_cache.hpp"

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace sennit {

template <class In, class Out>
class coroutine;

struct coroutine_attributes {
    std::string_view name{}; // shown in reports and debuggers; cut to 23 characters
    // The stack size in bytes that the coroutine needs, at most 1 GiB; the coroutine gets the next
    // power of two from 16 KiB. 0 selects 1 MiB, a size that the worker caches. Other sizes take a
    // lock at the first resume and at the end.
    std::size_t stack_size = 0;
};

namespace detail {

template <class T>
using passed_t = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

} // namespace detail

// The view that a coroutine's body has of its coroutine. It lives as long as the body runs.
template <class In, class Out>
class suspender {
public:
    suspender(const suspender&) = delete;
    suspender& operator=(const suspender&) = delete;

    // Passes `value` to the resumer and suspends until the next resume. Returns the value of that
    // resume, or throws the exception of that raise.
    [[gnu::always_inline]] In suspend(detail::passed_t<Out> value)
        requires(!std::is_void_v<Out>)
    {
        auto* const answer = static_cast<std::optional<Out>*>(frame_.out());
        SENNIT_CHECK(answer, "[SNT-303] a coroutine's body suspended while the coroutine is "
                             "destroyed; a destructor or catch block of the body must not suspend");
        answer->emplace(std::move(value));
        frame_.suspend(stack_, outside_);
        return take();
    }
    [[gnu::always_inline]] In suspend()
        requires std::is_void_v<Out>
    {
        frame_.suspend(stack_, outside_);
        return take();
    }

    // Suspends this coroutine and continues `to` in its place. The next value, end or exception of
    // `to` goes to this coroutine's resumer. The call returns, like suspend, when this coroutine is
    // resumed or transferred to. Coroutines can thus hand control to each other in a circle.
    template <class Other>
    In transfer(coroutine<Other, Out>& to, detail::passed_t<Other> value)
        requires(!std::is_void_v<Other>)
    {
        to.frame_->in = std::addressof(value);
        return transfer_to(to);
    }
    In transfer(coroutine<void, Out>& to) { return transfer_to(to); }

private:
    friend coroutine<In, Out>;
    explicit suspender(detail::coroutine_frame& frame) noexcept
        : frame_(frame), stack_(frame.stack()), outside_(stack_.other_side()) {}
    template <class Other>
    In transfer_to(coroutine<Other, Out>& to) {
        to.inside_ = nullptr; // its stack position will change without its resumer learning of it
        frame_.transfer(*to.frame_, outside_);
        return take();
    }
    In take() {
        if constexpr (!std::is_void_v<In>) return std::move(*static_cast<In*>(frame_.in));
    }
    detail::coroutine_frame& frame_;
    sched::coroutine_stack& stack_;
    void* outside_; // the stack position of the resumer
};

// `In` and `Out` are void, or types of objects that can be moved.
template <class In = void, class Out = void>
class coroutine {
    static_assert((std::is_void_v<In> || (std::is_object_v<In> && !std::is_const_v<In>)) &&
                      (std::is_void_v<Out> || (std::is_object_v<Out> && !std::is_const_v<Out>)),
                  "sennit: a coroutine takes and gives objects that are not const, or void; for "
                  "references use pointers");

public:
    using suspender_type = suspender<In, Out>;

    // Creates a coroutine that calls `body(self, first value)`, or `body(self)` if In is void. The
    // value that the body returns is the answer to the last resume. The body does not run before
    // the first resume. Throws std::bad_alloc.
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, coroutine>)
    explicit coroutine(F&& body) : frame_(make<block<F, no_settings>>(std::forward<F>(body))) {}
    // Creates a coroutine with attributes. Throws std::bad_alloc, and std::invalid_argument for a
    // stack size that is too large.
    template <class F>
    coroutine(const coroutine_attributes& how, F&& body)
        : frame_(make<block<F, detail::coroutine_settings>>(std::forward<F>(body), how.name,
                                                            how.stack_size)) {}
    coroutine(coroutine&& other) noexcept
        : frame_(std::exchange(other.frame_, nullptr)),
          inside_(std::exchange(other.inside_, nullptr)) {
        if (frame_) frame_->note_moved();
    }
    coroutine& operator=(coroutine&& other) noexcept {
        std::swap(frame_, other.frame_);
        std::swap(inside_, other.inside_);
        if (frame_) frame_->note_moved();
        if (other.frame_) other.frame_->note_moved();
        return *this;
    }
    ~coroutine() { detail::coroutine_frame::drop(frame_); }

    // Runs the body until it suspends or ends, and returns the value that it passes out. Blocks
    // while the body blocks. Throws the exception that leaves the body. The first resume may throw
    // std::bad_alloc; the call may then be repeated.
    [[gnu::always_inline]] Out resume(detail::passed_t<In> value)
        requires(!std::is_void_v<In>)
    {
        frame_->in = std::addressof(value);
        return resume_and_take([this](detail::coroutine_visit& visit) __attribute__((
                                   always_inline)) { frame_->resume(visit, inside_); });
    }
    [[gnu::always_inline]] Out resume()
        requires std::is_void_v<In>
    {
        return resume_and_take([this](detail::coroutine_visit& visit) __attribute__((
                                   always_inline)) { frame_->resume(visit, inside_); });
    }

    // Resumes the body by throwing `what` at its point of suspension. A coroutine that has not
    // started ends by that exception. Returns and throws like resume.
    Out raise(std::exception_ptr what) {
        return resume_and_take([&](detail::coroutine_visit& visit) {
            frame_->raise(visit, inside_, std::move(what));
        });
    }

    // Returns true once the body has ended, by a return or by an exception.
    bool done() const noexcept { return frame_->ended(); }

private:
    template <class, class>
    friend class suspender;
    struct no_settings {};
    template <class F, class Settings>
    struct block final : detail::coroutine_frame {
        template <class... How>
        explicit block(F&& body, const How&... how)
            : coroutine_frame(type, given(settings)), settings(how...),
              call(std::forward<F>(body)) {}
        [[no_unique_address]] Settings settings;
        std::decay_t<F> call;

        static const detail::coroutine_settings*
        given(const detail::coroutine_settings& it) noexcept {
            return &it;
        }
        static const detail::coroutine_settings* given(const no_settings&) noexcept {
            return nullptr;
        }
        static void run(detail::coroutine_frame& frame) {
            auto& me = static_cast<block&>(frame);
            suspender<In, Out> self(frame);
            const auto result = [&]() -> decltype(auto) {
                if constexpr (std::is_void_v<In>)
                    return std::invoke(me.call, self);
                else
                    return std::invoke(me.call, self, self.take());
            };
            if constexpr (std::is_void_v<Out>) {
                (void)result();
            } else {
                // the body may suspend, so the receiver of the value is known only after it has
                // ended
                Out last = result();
                // A coroutine that is being destroyed has no resumer to answer, if its body
                // swallowed the unwinding exception.
                if (void* answer = frame.out())
                    static_cast<std::optional<Out>*>(answer)->emplace(std::move(last));
            }
        }
        static void destroy(detail::coroutine_frame* frame) noexcept {
            auto* me = static_cast<block*>(frame);
            me->~block();
            sched::give_memory(me, sizeof(block));
        }
        static constexpr detail::coroutine_type type{&run, &destroy};
    };

    template <class F>
    static consteval bool is_body() {
        if constexpr (std::is_void_v<In>)
            return std::is_invocable_r_v<Out, F&, suspender<In, Out>&>;
        else
            return std::is_invocable_r_v<Out, F&, suspender<In, Out>&, In>;
    }

    template <class Block, class F, class... How>
    static detail::coroutine_frame* make(F&& body, const How&... how) {
        static_assert(
            is_body<std::decay_t<F>>(),
            "sennit: a coroutine's body is called with a sennit::suspender<In, Out>&, and "
            "with the first value if In is not void; its result must convert to Out");
        static_assert(alignof(Block) <= 16,
                      "sennit: a coroutine's body must not be aligned to more than 16 bytes");
        void* memory = sched::take_memory(sizeof(Block));
        try {
            return ::new (memory) Block(std::forward<F>(body), how...);
        } catch (...) {
            sched::give_memory(memory, sizeof(Block));
            throw;
        }
    }

    template <class Act>
    [[gnu::always_inline]] static Out resume_and_take(Act&& act) {
        if constexpr (std::is_void_v<Out>) {
            detail::coroutine_visit visit;
            act(visit);
        } else {
            std::optional<Out> answer;
            detail::coroutine_visit visit(&answer);
            act(visit);
            return std::move(*answer);
        }
    }

    detail::coroutine_frame* frame_; // null: moved from
    void* inside_ = nullptr;         // the stack position of the body, if it is known
};

} // namespace sennit
