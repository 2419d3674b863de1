// SPDX-License-Identifier: Apache-2.0
// Answers: the duty to give one, and what the asker gets.
//
// reply_to<R> is that duty, a value that can be kept, moved into another message and passed on. If it dies without an
// answer, the asker learns that at once. Thread safety: as a value. set() never blocks.
#pragma once

#include "sennit/promise.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>
#include <variant>

namespace sennit {

enum class ask_error : unsigned char {
    timed_out,  // the answer did not come in time; if it comes later it goes to nobody
    actor_down, // the actor had ended, ended before it answered, or let go of the duty to answer
    cancelled,  // the asker was
    cycle,      // the one asked waits, perhaps by others, for the asker
};
const char* describe(ask_error what) noexcept;

// The limit of an ask that has none.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

class ask_failed : public std::runtime_error {
public:
    explicit ask_failed(ask_error why) : std::runtime_error(describe(why)), why_(why) {}
    ask_error why() const noexcept { return why_; }

private:
    ask_error why_;
};

namespace detail {

std::exception_ptr actor_down_error() noexcept; // an ask_failed

// What an answer knows of the actor that waits for it: from the answer on, not only when it runs again, that waits for
// nobody.
struct awaits {
    std::uint32_t slot = 0; // set before the question is sent; 0: it is no actor that waits
    bool still = false;     // guarded by the lock of that slot
    void answered() noexcept;
};
template <class R>
struct awaited_answer final : future_value<R> {
    using future_value<R>::future_value;
    awaits asker;
};

} // namespace detail

template <class R>
class [[nodiscard]] reply_to {
public:
    reply_to() noexcept {} // nobody asked: the answer goes to nobody
    explicit reply_to(promise<R> whom) noexcept : promise_(std::move(whom)), owed_(true) {}
    explicit reply_to(detail::state_ref<detail::awaited_answer<R>> whom) noexcept // for the library
        : promise_(std::move(whom)), owed_(true), awaited_(true) {}
    reply_to(reply_to&& other) noexcept
        : promise_(std::move(other.promise_)), owed_(std::exchange(other.owed_, false)), awaited_(other.awaited_) {}
    reply_to& operator=(reply_to&& other) noexcept {
        reply_to(std::move(other)).swap(*this);
        return *this;
    }
    ~reply_to() {
        if (!owed_) return;
        before_answer();
        promise_.set_exception(detail::actor_down_error());
    }
    void swap(reply_to& other) noexcept {
        promise_.swap(other.promise_);
        std::swap(owed_, other.owed_);
        std::swap(awaited_, other.awaited_);
    }

    // Once; later calls go to nobody.
    template <class... V>
    void set(V&&... value) {
        if (!owed_) return;
        before_answer();
        promise_.set_value(std::forward<V>(value)...);
        owed_ = false;
    }
    void fail(std::exception_ptr error) {
        if (!owed_) return;
        before_answer();
        promise_.set_exception(std::move(error));
        owed_ = false;
    }
    explicit operator bool() const noexcept { return owed_; }

private:
    struct maybe_promise : promise<R> { // one without a state is no promise
        using state_ptr = detail::state_ref<detail::future_value<R>>;
        explicit maybe_promise(state_ptr made = {}) noexcept : promise<R>(std::move(made)) {}
        maybe_promise(promise<R> from) noexcept : promise<R>(std::move(from)) {}
        using promise<R>::state;
    };
    void before_answer() noexcept {
        if (awaited_) static_cast<detail::awaited_answer<R>&>(*promise_.state()).asker.answered();
    }
    maybe_promise promise_;
    bool owed_ = false;
    bool awaited_ = false; // its state is an awaited_answer
};

// What an ask with a time limit returns: the answer or the reason why there is none.
template <class R>
class [[nodiscard]] ask_result {
    using stored = std::conditional_t<std::is_void_v<R>, std::monostate, R>;

public:
    ask_result(stored value) : value_(std::in_place_index<0>, std::move(value)) {}
    ask_result(ask_error why) : value_(std::in_place_index<1>, why) {}

    explicit operator bool() const noexcept { return has_value(); }
    bool has_value() const noexcept { return value_.index() == 0; }
    // Throws ask_failed.
    stored& value() {
        if (!has_value()) throw ask_failed(error());
        return std::get<0>(value_);
    }
    stored& operator*() { return value(); }
    ask_error error() const noexcept { return *std::get_if<1>(&value_); } // only without a value

private:
    std::variant<stored, ask_error> value_;
};

} // namespace sennit
