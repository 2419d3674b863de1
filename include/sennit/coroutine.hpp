// SPDX-License-Identifier: Apache-2.0
// coroutine: a function with a stack of its own that can be left in the middle, from any depth of
// calls, and be gone on with later; values go in and out at each turn.
//
//     sennit::coroutine<int, int> sum([](auto& self, int value) {   // the first value
//         for (int total = 0;;) value = self.suspend(total += value);
//     });
//     sum.resume(3);   // 3
//     sum.resume(4);   // 7
//
// Use it for control flow that would otherwise be a state machine: parsers, tree walks, protocols,
// simulations. Not for things that happen at once (`fiber`), nor where a step is a few instructions
// and suspends at the top level of one function only (`generator`, sennit/generator.hpp: no stack,
// some ns less).
//
// Guarantees. It takes a stack (of 1 MiB of address space, cached, or as coroutine_attributes say)
// at its first turn. What the body throws travels to the resumer, and `raise` the other way.
// Destroying a suspended one unwinds its stack by an exception: handlers of
// `...` must let it pass. It may be resumed by another fiber or thread than the last time, one at a
// time. Its body is part of whoever resumes it: blocking blocks the resumer, a mutex it locks is
// the resumer's. So it must not suspend while it holds such a lock if another will resume it; nor,
// which is checked, inside a fork or a with_timeout that it began. A nursery that it made may stay
// open, but no longer than the fiber's or with_timeout's life in which it was made (checked, too).
// Errors that end the program: resuming one that has ended or that runs; suspending one that does
// not run; destroying one that runs. Cost: a turn and back about 4 ns; made and destroyed 2 to 10
// ns, with a whole life about 27; see docs/performance.md. After Conway 1963; Moura and
// Ierusalimschy, Revisiting Coroutines, TOPLAS 31(2), 2009: asymmetric, with transfer.
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
    std::string_view name{}; // for reports and debuggers; cut to 23 characters
    // Bytes of stack that it needs, at most 1 GiB; it gets the next power of two from 16 KiB. 0: 1
    // MiB, which is cached by the worker; others take a lock at their first turn and end.
    std::size_t stack_size = 0;
};

namespace detail {

template <class T>
using passed_t = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

} // namespace detail

// What a coroutine's body sees of it. Lives as long as the body runs.
template <class In, class Out>
class suspender {
public:
    suspender(const suspender&) = delete;
    suspender& operator=(const suspender&) = delete;

    // Gives `value` to the resumer, and returns what the next one brings. Throws what that raises.
    [[gnu::always_inline]] In suspend(detail::passed_t<Out> value)
        requires(!std::is_void_v<Out>)
    {
        auto* const answer = static_cast<std::optional<Out>*>(frame_.out());
        SENNIT_CHECK(answer, "[SNT-303] a coroutine's body suspended while the coroutine is "
                             "destroyed; a destructor or "
                             "catch block of the body must not suspend");
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

    // Goes on with `to`, whose next value, or end, or exception is what our resumer gets; returns,
    // like suspend, when somebody resumes or transfers to this one. So coroutines may hand control
    // to each other in a circle.
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
        to.inside_ = nullptr; // it will be left without its resumer being told where it stands
        frame_.transfer(*to.frame_, outside_);
        return take();
    }
    In take() {
        if constexpr (!std::is_void_v<In>) return std::move(*static_cast<In*>(frame_.in));
    }
    detail::coroutine_frame& frame_;
    sched::coroutine_stack& stack_;
    void* outside_; // where the resumer stands
};

// `In` and `Out` are objects that can be moved, or void.
template <class In = void, class Out = void>
class coroutine {
    static_assert((std::is_void_v<In> || (std::is_object_v<In> && !std::is_const_v<In>)) &&
                      (std::is_void_v<Out> || (std::is_object_v<Out> && !std::is_const_v<Out>)),
                  "sennit: a coroutine takes and gives objects that are not const, or void; for "
                  "references use pointers");

public:
    using suspender_type = suspender<In, Out>;

    // `body(self, first value)`, or `body(self)` without values; what it returns is the answer to
    // the last turn. It does not run before the first turn. Throws std::bad_alloc.
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, coroutine>)
    explicit coroutine(F&& body) : frame_(make<block<F, no_settings>>(std::forward<F>(body))) {}
    // The same; throws std::invalid_argument for too large a stack, too.
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

    // One turn. Throws what leaves the body, and, at the first turn, std::bad_alloc; it may then be
    // tried again.
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

    // A turn that begins with `what` being thrown inside. One that has not begun ends by that.
    Out raise(std::exception_ptr what) {
        return resume_and_take([&](detail::coroutine_visit& visit) {
            frame_->raise(visit, inside_, std::move(what));
        });
    }

    // Whether it has ended: by returning, or by an exception.
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
                Out last = result(); // may suspend: only then is it known who gets it
                // Who is destroyed, and has let that pass, has nobody to answer.
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

    template <class Block, class F, class... How>
    static detail::coroutine_frame* make(F&& body, const How&... how) {
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
    void* inside_ = nullptr;         // where the body stands, if that is known
};

} // namespace sennit
