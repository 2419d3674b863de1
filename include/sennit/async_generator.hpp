// SPDX-License-Identifier: Apache-2.0
// async_generator: a coroutine that yields values one after another, and may await between them.
//
//     sennit::async_generator<line> lines(sennit::channel<block>& from) {
//         for (;;) {
//             std::optional<block> one = co_await from.async_pop();
//             if (!one) co_return;
//             for (line& each : split(*one)) co_yield std::move(each);
//         }
//     }
//     sennit::async_generator<line> all = lines(blocks);
//     while (line* one = co_await all.next()) show(*one);
//
// Use it where the values come from waits, and one task consumes them. For values that need no wait
// use sennit::generator, which also works outside tasks. For several consumers, or a producer that
// runs ahead, use a channel: into_channel feeds one.
//
// The generator is lazy, and runs as a part of the task that awaits next(), with its identity,
// scope and locks, until it yields or ends. An exception of the generator is thrown by the await;
// the generator has ended then. A generator that is dropped early is destroyed where it is
// suspended, at a co_yield: its locals are destroyed, and no code of it runs afterwards.
//
// Values. async_generator<T> yields objects: `co_yield` of an rvalue hands out the object where it
// is, `co_yield` of an lvalue a copy. async_generator<const T> and async_generator<T&> hand out the
// operand itself. g++ 12 destroys some temporaries of a co_yield expression twice (GCC PR 99576):
// name a value whose destructor is not trivial, and yield it by std::move.
//
// One task at a time may await next(). A generator may be passed on to another task between two
// values. Cost of a value: two transfers of control; no allocation, no locked instruction.
#pragma once

#include "sennit/channel.hpp"
#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/detail/core/task_transfer.hpp"
#include "sennit/task/task.hpp"

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

template <class T>
class async_generator;

namespace detail {

// Ends the program: the generator is still running.
[[noreturn, gnu::cold]] void refuse_second_next() noexcept;
[[noreturn, gnu::cold]] void refuse_end_of_running_generator() noexcept;

// The parts of the promise that do not depend on the type of the values.
struct async_generator_promise_base : task_promise_base {
    std::exception_ptr error;
    bool running = false; // True while a task awaits the next value.

    // Continues the task that awaits the next value.
    struct hand_over : sched::awaitable {
        static constexpr bool await_ready() noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
            async_generator_promise_base& mine = self.promise();
            mine.running = false;
            return sched::transfer(mine.continuation);
        }
        static void await_resume() noexcept {}
    };

    static hand_over final_suspend() noexcept { return {}; }
    void unhandled_exception() noexcept { error = std::current_exception(); }
    static void return_void() noexcept {}
};

template <class T>
struct async_generator_promise final : async_generator_promise_base {
    using value_type = std::remove_reference_t<T>;
    static constexpr bool hands_out_operand = std::is_reference_v<T> || std::is_const_v<T>;
    value_type* value = nullptr;

    async_generator<T> get_return_object() noexcept;

    hand_over yield_value(value_type& operand) noexcept
        requires hands_out_operand
    {
        value = std::addressof(operand);
        return {};
    }
    hand_over yield_value(value_type&& operand) noexcept
        requires(!hands_out_operand)
    {
        value = std::addressof(operand);
        return {};
    }
    // A copy, which lives until the generator continues.
    struct hand_over_copy : hand_over {
        value_type copy;
        explicit hand_over_copy(const value_type& from) : copy(from) {}
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
            self.promise().value = std::addressof(copy);
            return hand_over::await_suspend(self);
        }
    };
    hand_over_copy yield_value(const value_type& operand)
        requires(!hands_out_operand && std::copy_constructible<value_type>)
    {
        return hand_over_copy(operand);
    }
};

template <class T>
class next_awaiter : public sched::awaitable {
public:
    using promise = async_generator_promise<T>;
    explicit next_awaiter(std::coroutine_handle<promise> of) noexcept : of_(of) {}

    bool await_ready() const noexcept { return !of_ || of_.done(); }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) noexcept {
        static_assert(sched::runs_on_strand<Promise>,
                      "sennit: a coroutine of another library cannot await an async_generator, "
                      "because a worker of Sennit would resume that coroutine; await the values in "
                      "a task, and hand them over by a channel");
        promise& its = of_.promise();
        if (its.running) refuse_second_next();
        its.running = true;
        its.value = nullptr;
        its.continuation = caller;
        return sched::transfer(of_);
    }
    typename promise::value_type* await_resume() {
        if (!of_) return nullptr;
        promise& its = of_.promise();
        if (its.error) [[unlikely]]
            std::rethrow_exception(std::exchange(its.error, nullptr));
        return of_.done() ? nullptr : its.value;
    }

private:
    std::coroutine_handle<promise> of_;
};

} // namespace detail

template <class T>
class [[nodiscard]] async_generator {
    static_assert(!std::is_rvalue_reference_v<T> && !std::is_void_v<T>,
                  "sennit: an async_generator yields objects or lvalue references");

public:
    using promise_type = detail::async_generator_promise<T>;
    using value_type = std::remove_cvref_t<T>;

    // A generator without a coroutine, which yields nothing.
    async_generator() noexcept = default;
    async_generator(async_generator&& other) noexcept
        : frame_(std::exchange(other.frame_, nullptr)) {}
    async_generator& operator=(async_generator&& other) noexcept {
        async_generator(std::move(other)).swap(*this);
        return *this;
    }
    // Destroys the coroutine where it is suspended. Ends the program if a task awaits its next
    // value.
    ~async_generator() {
        if (!frame_) return;
        if (frame_.promise().running) detail::refuse_end_of_running_generator();
        frame_.destroy();
    }
    void swap(async_generator& other) noexcept { std::swap(frame_, other.frame_); }

    // To be awaited: runs the generator to its next value. The await returns the value's address,
    // which is valid until the next call of next() and the end of the generator, or null if the
    // generator has ended. It throws the exception of the generator, once.
    detail::next_awaiter<T> next() noexcept { return detail::next_awaiter<T>(frame_); }

private:
    friend promise_type;
    using handle = std::coroutine_handle<promise_type>;
    explicit async_generator(handle frame) noexcept : frame_(frame) {}

    handle frame_ = nullptr;
};

template <class T>
async_generator<T> detail::async_generator_promise<T>::get_return_object() noexcept {
    return async_generator<T>(std::coroutine_handle<async_generator_promise>::from_promise(*this));
}

// Yields the values of a channel until it is closed and drained. The channel must outlive the
// generator. Throws the error that was given to close.
template <class T>
async_generator<T> from_channel(channel<T>& from) {
    for (;;) {
        std::optional<T> one = co_await from.async_pop();
        if (!one) co_return;
        co_yield std::move(*one);
    }
}

// Pushes the values of a generator into a channel until the generator has ended or the channel is
// closed, and returns how many values the channel took. It does not close the channel, which must
// outlive the task.
template <class T>
task<std::size_t> into_channel(async_generator<T> from, channel<std::remove_cvref_t<T>>& to) {
    std::size_t count = 0;
    for (;;) {
        auto* one = co_await from.next();
        if (!one) co_return count;
        std::remove_cvref_t<T> value =
            static_cast<std::conditional_t<async_generator<T>::promise_type::hands_out_operand,
                                           decltype(*one), T&&>>(*one);
        const channel_status how = co_await to.async_push(std::move(value));
        if (how != channel_status::success) co_return count;
        ++count;
    }
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
