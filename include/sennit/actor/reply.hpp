// SPDX-License-Identifier: Apache-2.0
// Answers: the duty to answer a question, and the asker's result.
//
// reply_to<R> is the duty: a value that can be kept, moved into another message and passed on. If
// it is destroyed without an answer, the asker learns that immediately. Thread safety: that of a
// value. set() never blocks.
#pragma once

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/message_node.hpp"
#include "sennit/promise.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>
#include <variant>

namespace sennit {

enum class ask_error : unsigned char {
    timed_out,  // the answer did not come in time; a later answer is dropped
    actor_down, // the actor had ended, ended before it answered, or dropped the duty to answer
    cancelled,  // the asker was cancelled
    cycle,      // the asked actor waits, perhaps through other actors, for the asker
    full,       // the actor's mailbox had no room for the question
};
const char* describe(ask_error what) noexcept;

// The time limit of an ask without a limit.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

class ask_failed : public std::runtime_error {
public:
    explicit ask_failed(ask_error why) : std::runtime_error(describe(why)), why_(why) {}
    ask_error why() const noexcept { return why_; }

private:
    ask_error why_;
};

namespace detail {

std::exception_ptr error_of(ask_error why) noexcept; // holds an ask_failed

// The link from an answer to the actor that waits for it. From the answer on, and not only when it
// runs again, that actor waits for no actor.
struct awaits {
    std::uint32_t slot = 0; // set before the question is sent; 0 if the asker is no actor
    bool still = false;     // true while the asker waits; guarded by the lock of that slot
    void answered() noexcept;
    // The asker waits for `whom` from now on. False: `whom` waits, perhaps through other actors,
    // for the asker; then nothing has changed.
    bool passed_to(sched::address whom) noexcept;
    // The handler of `who` has returned, and may have given the duty away: the asker waits for no
    // known actor.
    void left_by(sched::address who) noexcept;
};
template <class R>
class kept_duty;
template <class R>
struct awaited_answer final : future_value<R> {
    using future_value<R>::future_value;
    awaits asker;
};

} // namespace detail

template <class R>
class [[nodiscard]] reply_to {
public:
    reply_to() noexcept {} // no asker: the answer is dropped
    explicit reply_to(promise<R> whom) noexcept : promise_(std::move(whom)), owed_(true) {}
    explicit reply_to(detail::state_ref<detail::awaited_answer<R>> whom) noexcept // for the library
        : promise_(std::move(whom)), owed_(true), awaited_(true) {}
    reply_to(reply_to&& other) noexcept
        : promise_(std::move(other.promise_)), owed_(std::exchange(other.owed_, false)),
          awaited_(other.awaited_) {}
    reply_to& operator=(reply_to&& other) noexcept {
        reply_to(std::move(other)).swap(*this);
        return *this;
    }
    ~reply_to() {
        if (!owed_) return;
        before_answer();
        promise_.set_exception(detail::error_of(ask_error::actor_down));
    }
    void swap(reply_to& other) noexcept {
        promise_.swap(other.promise_);
        std::swap(owed_, other.owed_);
        std::swap(awaited_, other.awaited_);
    }

    // Answers, once; later calls have no effect.
    template <class... V>
    void set(V&&... value) {
        if (!owed_) return;
        before_answer();
        promise_.set_value(std::forward<V>(value)...);
        owed_ = false;
    }
    // Answers with an error instead of a value, once; later calls have no effect.
    void fail(std::exception_ptr error) {
        if (!owed_) return;
        before_answer();
        promise_.set_exception(std::move(error));
        owed_ = false;
    }
    // True while this object owes an answer.
    explicit operator bool() const noexcept { return owed_; }

    // For the library: `whom` has the duty from now on. False: the asks would form a circle.
    bool passed_to(sched::address whom) noexcept {
        return !owed_ || !awaited_ || asker().passed_to(whom);
    }

private:
    friend class detail::kept_duty<R>;
    struct maybe_promise : promise<R> { // may have no state; then it is no promise
        using state_ptr = detail::state_ref<detail::future_value<R>>;
        explicit maybe_promise(state_ptr made = {}) noexcept : promise<R>(std::move(made)) {}
        maybe_promise(promise<R> from) noexcept : promise<R>(std::move(from)) {}
        using promise<R>::state;
    };
    void before_answer() noexcept {
        if (awaited_) asker().answered();
    }
    detail::awaits& asker() const noexcept {
        return static_cast<detail::awaited_answer<R>&>(*promise_.state()).asker;
    }
    maybe_promise promise_;
    bool owed_ = false;
    bool awaited_ = false; // true if the promise's state is an awaited_answer
};

namespace detail {

// Surrounds a handler that gets the duty and may keep it, or give it away. Until the handler
// returns, the asker waits for the handler's actor.
template <class R>
class kept_duty {
public:
    kept_duty(const reply_to<R>& given, sched::address who) noexcept : who_(who) {
        if (given.owed_ && given.awaited_) state_ = given.promise_.state();
    }
    kept_duty(const kept_duty&) = delete;
    ~kept_duty() {
        if (state_) static_cast<awaited_answer<R>&>(*state_).asker.left_by(who_);
    }

private:
    state_ref<future_value<R>> state_;
    sched::address who_;
};

} // namespace detail

// The result of an ask with a time limit: the answer, or the reason why there is none.
template <class R>
class [[nodiscard]] ask_result {
    using stored = std::conditional_t<std::is_void_v<R>, std::monostate, R>;

public:
    ask_result(stored value) : value_(std::in_place_index<0>, std::move(value)) {}
    // Makes a result without an answer.
    static ask_result none(ask_error why) { return ask_result(std::in_place_index<1>, why); }

    explicit operator bool() const noexcept { return has_value(); }
    bool has_value() const noexcept { return value_.index() == 0; }
    // Returns the answer. Throws ask_failed if there is none.
    stored& value() {
        if (!has_value()) throw ask_failed(error());
        return std::get<0>(value_);
    }
    stored& operator*() { return value(); }
    // The reason why there is no answer. Ends the program if there is one.
    ask_error error() const noexcept {
        SENNIT_CHECK(!has_value(), "[SNT-518] ask_result::error was called on a result with an "
                                   "answer; ask has_value() first");
        return *std::get_if<1>(&value_);
    }

private:
    ask_result(std::in_place_index_t<1> place, ask_error why) : value_(place, why) {}
    std::variant<stored, ask_error> value_;
};

} // namespace sennit
