// SPDX-License-Identifier: Apache-2.0
// The stop tokens of the C++26 draft that the tests of sennit::execution need: never_stop_token,
// inplace_stop_token, their concepts and callbacks. Written from the text of the draft.
#pragma once

#include <concepts>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace draft {

template <class Token, class F>
using stop_callback_for_t = typename Token::template callback_type<F>;

template <class T>
concept stoppable_token = std::copyable<T> && std::equality_comparable<T> && requires(const T t) {
    { t.stop_requested() } noexcept -> std::same_as<bool>;
    { t.stop_possible() } noexcept -> std::same_as<bool>;
    { T(t) } noexcept;
    typename T::template callback_type<void (*)()>;
};
template <class T>
concept unstoppable_token =
    stoppable_token<T> && requires { requires std::bool_constant<!T::stop_possible()>::value; };

class never_stop_token {
    struct ignored {
        template <class F>
        explicit ignored(never_stop_token, F&&) noexcept {}
    };

public:
    template <class>
    using callback_type = ignored;
    static constexpr bool stop_requested() noexcept { return false; }
    static constexpr bool stop_possible() noexcept { return false; }
    bool operator==(const never_stop_token&) const = default;
};

class inplace_stop_source;
template <class F>
class inplace_stop_callback;

class inplace_stop_token {
public:
    template <class F>
    using callback_type = inplace_stop_callback<F>;
    inplace_stop_token() = default;
    bool stop_requested() const noexcept;
    bool stop_possible() const noexcept { return source_ != nullptr; }
    bool operator==(const inplace_stop_token&) const = default;

private:
    friend inplace_stop_source;
    template <class F>
    friend class inplace_stop_callback;
    explicit inplace_stop_token(const inplace_stop_source* source) noexcept : source_(source) {}
    const inplace_stop_source* source_ = nullptr;
};

class callback_node {
public:
    callback_node(const callback_node&) = delete;

protected:
    explicit callback_node(void (*call)(callback_node&) noexcept) noexcept : call_(call) {}
    ~callback_node() = default;

private:
    friend inplace_stop_source;
    void (*call_)(callback_node&) noexcept;
    callback_node* next_ = nullptr;
    callback_node* before_ = nullptr;
    bool listed_ = false;
};

class inplace_stop_source {
public:
    inplace_stop_source() = default;
    inplace_stop_source(const inplace_stop_source&) = delete;
    inplace_stop_token get_token() const noexcept { return inplace_stop_token(this); }
    static constexpr bool stop_possible() noexcept { return true; }
    bool stop_requested() const noexcept {
        std::lock_guard guard(lock_);
        return stopped_;
    }
    bool request_stop() noexcept {
        std::unique_lock guard(lock_);
        if (stopped_) return false;
        stopped_ = true;
        requester_ = std::this_thread::get_id();
        while (callback_node* next = first_) {
            unlist(*next);
            running_ = next;
            guard.unlock();
            next->call_(*next);
            guard.lock();
            running_ = nullptr;
            callback_done_.notify_all();
        }
        return true;
    }

private:
    template <class F>
    friend class inplace_stop_callback;
    // False: the stop was requested before; the caller calls the callback itself.
    bool add(callback_node& fresh) const noexcept {
        std::lock_guard guard(lock_);
        if (stopped_) return false;
        fresh.next_ = first_;
        if (first_) first_->before_ = &fresh;
        first_ = &fresh;
        fresh.listed_ = true;
        return true;
    }
    // Returns when the callback runs in no other thread.
    void remove(callback_node& old) const noexcept {
        std::unique_lock guard(lock_);
        if (old.listed_) return unlist(old);
        if (requester_ == std::this_thread::get_id()) return;
        callback_done_.wait(guard, [&] { return running_ != &old; });
    }
    void unlist(callback_node& old) const noexcept {
        (old.before_ ? old.before_->next_ : first_) = old.next_;
        if (old.next_) old.next_->before_ = old.before_;
        old.listed_ = false;
    }

    mutable std::mutex lock_;
    mutable std::condition_variable callback_done_;
    mutable callback_node* first_ = nullptr;
    callback_node* running_ = nullptr;
    std::thread::id requester_;
    bool stopped_ = false;
};

inline bool inplace_stop_token::stop_requested() const noexcept {
    return source_ && source_->stop_requested();
}

template <class F>
class inplace_stop_callback : private callback_node {
public:
    template <class G>
    explicit inplace_stop_callback(inplace_stop_token token, G&& function)
        : callback_node([](callback_node& self) noexcept {
              static_cast<inplace_stop_callback&>(self).function_();
          }),
          source_(token.source_), function_(std::forward<G>(function)) {
        if (source_ && !source_->add(*this)) function_();
    }
    ~inplace_stop_callback() {
        if (source_) source_->remove(*this);
    }

private:
    const inplace_stop_source* source_;
    F function_;
};

} // namespace draft
