// SPDX-License-Identifier: Apache-2.0
// select: waits for the first of several events (channels, futures, times, stop tokens) and runs
// the function of that event.
//
//     sennit::select(sennit::on_pop(requests, [&](request r) { … }, [&] { … closed … }),
//                    sennit::on_push(replies, next, [&] { … }),
//                    sennit::after(10ms, [&] { … }),
//                    sennit::on_stop(token, [&] { … }));
//
// Use it to wait for one of several events. For a combination of events use `waituntil`.
//
// Exactly one case happens; its function runs after the wait has ended. If several cases are ready
// (a time that has come counts), the choice is random, so no case starves. With `otherwise` the
// call does not wait. Returns the number of the case, counted from 0. `when(condition, case)`
// switches a case off. Throws std::logic_error when all cases are off and there is no `otherwise`,
// because it would wait for ever.
// A closed channel is ready: pop calls its second function (without a second function it calls
// nothing), and push calls its second function. select does not throw an error that was given to
// `close`. Creating an on_push case of an unbounded channel may throw std::bad_alloc.
// Cancellation: throws `cancelled`. Cost: the locks of all channels in it, and one entry for each
// case; no allocation.
#pragma once

#include "sennit/channel.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/wait.hpp"

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

// One case, as `run_select` sees it. The driver holds `lock()` while it calls `try_now`, `enlist`
// and `unlist`.
class select_case {
public:
    virtual ~select_case() = default;
    virtual base::spin_lock* lock() noexcept { return nullptr; }
    // Completes the case if that needs no waiting.
    virtual bool try_now(sched::wake_ups&) noexcept { return false; }
    // Enters the waiter list of the source. Returns false if the case has become ready meanwhile.
    virtual bool enlist(sched::wait_entry&) noexcept { return true; }
    virtual void unlist(sched::wait_entry&) noexcept {}
    // The deadline of a time case; `never` for any other case.
    virtual std::int64_t deadline_ns() const noexcept { return sched::never; }
    virtual bool is_default() const noexcept { return false; }
    // For stop tokens: from now on, a stop request claims `point` with `why`.
    virtual void register_waiter(sched::wait_point&, sched::wake_reason) noexcept {}
    virtual void unregister_waiter() noexcept {}
    // The next two are called if `asks_system` is set, and without a lock. `prepare` precedes each
    // wait: a case of a descriptor asks the system there whether it is ready. `must_repeat` follows
    // when the case was chosen: it returns true if the event is not there after all, for example
    // because another clock says that it is too early. The driver then begins anew.
    virtual void prepare() {}
    virtual bool must_repeat() { return false; }
    // Calls the user's function, without a lock.
    virtual void happen() = 0;

    bool enabled = true;
    // If false, the driver omits two virtual calls, each 3 to 5 % of a short select.
    bool asks_system = false;
};

inline constexpr std::size_t max_select_cases = 64;

// The steps of one select, without the wait between them. A context waits in run_select, a task in
// async_select. The derived class has the memory for the locks and the entries of all cases.
class selection {
public:
    static constexpr std::size_t none = SIZE_MAX;

    // The caller must call `lock` first.
    void lock() noexcept;
    void unlock() noexcept;
    // Called with the locks held. Returns the number of a case that has happened, or none.
    std::size_t try_now(sched::wake_ups& woken) noexcept;
    // Called with the locks held. Enters the lists of all cases. Returns the first deadline.
    std::int64_t enlist() noexcept;
    // Shows `self`, a selection, to the sources: releases the locks, then registers the stop
    // tokens, because a stop callback may claim the wait immediately.
    static void publish(void* self) noexcept; // `self` points to the selection.
    // Leaves all lists after the wait, which ended for the reason `why`. Returns the number of the
    // case that has happened. Throws `cancelled`.
    std::size_t leave(sched::wake_reason why);
    sched::wait_point& point() noexcept { return point_; }

protected:
    // `locks` has room for one pointer for each case, and `entries` for one wait_entry. Prepares
    // the cases that ask the system, and throws their exceptions.
    selection(std::span<select_case* const> cases, base::spin_lock** locks, std::byte* entries);
    selection(const selection&) = delete;
    ~selection() = default;

private:
    sched::wait_entry* entry_at(std::size_t i) noexcept;

    std::span<select_case* const> cases_;
    base::spin_lock** locks_;
    std::byte* entries_;
    std::size_t lock_count_ = 0;
    std::size_t timed_ = none; // the case whose deadline comes first
    sched::wait_point point_;
};

template <std::size_t Most>
struct selection_memory {
    std::array<base::spin_lock*, Most> locks;
    alignas(sched::wait_entry) std::byte entries[Most * sizeof(sched::wait_entry)];
};
template <std::size_t Most>
class selection_of final : private selection_memory<Most>, public selection {
public:
    explicit selection_of(std::span<select_case* const> cases)
        : selection(cases, this->locks.data(), this->entries) {}
};

// Returns the number of the default case, or none. Throws std::logic_error if no case is enabled.
std::size_t default_of(std::span<select_case* const> cases);
// Returns the number of the case that has happened. Reports name `what` as the operation in which
// the caller waits.
std::size_t run_select(std::span<select_case* const> cases, const char* what = "select");

template <class T>
class receive_case : public select_case {
public:
    explicit receive_case(channel<T>& from) noexcept : from_(&from) {}
    base::spin_lock* lock() noexcept override { return &from_->lock_; }
    bool try_now(sched::wake_ups& woken) noexcept override {
        sched::claimed sender;
        const bool taken = from_->take(value_, sender);
        woken.add(sender);
        return taken || from_->closed_;
    }
    bool enlist(sched::wait_entry& entry) noexcept override {
        request_.to = std::addressof(value_);
        entry.data = &request_;
        sched::enqueue(from_->receivers_, entry);
        return true;
    }
    void unlist(sched::wait_entry& entry) noexcept override {
        sched::dequeue(from_->receivers_, entry);
    }

protected:
    channel<T>* from_;
    std::optional<T> value_;
    typename channel<T>::receive_request request_{nullptr};
};

template <class T>
class send_case : public select_case {
public:
    send_case(channel<T>& to, T value) : to_(&to), value_(std::move(value)) { to.promise_room(); }
    send_case(send_case&& other) noexcept
        : select_case(other), to_(std::exchange(other.to_, nullptr)),
          value_(std::move(other.value_)) {}
    ~send_case() override {
        if (to_) to_->take_promise_back();
    }
    base::spin_lock* lock() noexcept override { return &to_->lock_; }
    bool try_now(sched::wake_ups& woken) noexcept override {
        request_.closed = to_->closed_;
        if (request_.closed) return true;
        sched::claimed receiver;
        const bool sent = to_->offer(value_, receiver);
        woken.add(receiver);
        return sent;
    }
    bool enlist(sched::wait_entry& entry) noexcept override {
        request_.value = std::addressof(value_);
        entry.data = &request_;
        sched::enqueue(to_->senders_, entry);
        return true;
    }
    void unlist(sched::wait_entry& entry) noexcept override {
        sched::dequeue(to_->senders_, entry);
    }

protected:
    channel<T>* to_;
    T value_;
    typename channel<T>::send_request request_{nullptr};
};

struct ignore_end {
    void operator()() const noexcept {}
};

template <class T, class F, class C>
class on_pop_case final : public receive_case<T> {
public:
    on_pop_case(channel<T>& from, F function, C closed)
        : receive_case<T>(from), function_(std::move(function)), closed_(std::move(closed)) {}
    void happen() override {
        if (this->value_)
            std::invoke(function_, std::move(*this->value_));
        else
            std::invoke(closed_);
    }

private:
    F function_;
    C closed_;
};

template <class T, class F, class C>
class on_push_case final : public send_case<T> {
public:
    on_push_case(channel<T>& to, T value, F function, C closed)
        : send_case<T>(to, std::move(value)), function_(std::move(function)),
          closed_(std::move(closed)) {}
    void happen() override {
        if (this->request_.closed)
            std::invoke(closed_);
        else
            std::invoke(function_);
    }

private:
    F function_;
    C closed_;
};

template <class F>
class time_case : public select_case {
    static_assert(std::invocable<F&>,
                  "sennit: the function of `after` and `at` takes no arguments; "
                  "capture other values in a lambda");

public:
    time_case(std::int64_t deadline_ns, F function)
        : deadline_ns_(deadline_ns), function_(std::move(function)) {}
    std::int64_t deadline_ns() const noexcept override { return deadline_ns_; }
    bool try_now(sched::wake_ups&) noexcept override { return deadline_ns_ <= sched::now_ns(); }
    void happen() override { std::invoke(function_); }

protected:
    std::int64_t deadline_ns_;

private:
    F function_;
};

template <class Clock, class Duration, class F>
class clock_case final : public time_case<F> {
public:
    clock_case(const std::chrono::time_point<Clock, Duration>& when, F function)
        : time_case<F>(sched::deadline_of(when), std::move(function)), when_(when) {
        this->asks_system = true;
    }
    bool must_repeat() override {
        if (sched::has_come(when_)) return false;
        this->deadline_ns_ = sched::deadline_of(when_);
        return true;
    }

private:
    std::chrono::time_point<Clock, Duration> when_;
};

template <class F>
class stop_case final : public select_case {
    static_assert(std::invocable<F&>, "sennit: the function of `on_stop` takes no arguments; "
                                      "capture what it needs in a lambda");

public:
    stop_case(std::stop_token token, F function)
        : token_(std::move(token)), function_(std::move(function)) {}
    stop_case(stop_case&& other) noexcept
        : select_case(other), token_(std::move(other.token_)),
          function_(std::move(other.function_)) {}
    bool try_now(sched::wake_ups&) noexcept override { return token_.stop_requested(); }
    void register_waiter(sched::wait_point& point, sched::wake_reason why) noexcept override {
        callback_.emplace(token_, claimer{&point, why});
    }
    void unregister_waiter() noexcept override { callback_.reset(); }
    void happen() override { std::invoke(function_); }

private:
    struct claimer {
        sched::wait_point* point;
        sched::wake_reason why;
        void operator()() const noexcept {
            if (sched::claim(*point, why) == sched::claim_result::wake_it) sched::wake(*point);
        }
    };
    std::stop_token token_;
    F function_;
    std::optional<std::stop_callback<claimer>> callback_;
};

template <class F>
class default_case final : public select_case {
    static_assert(std::invocable<F&>, "sennit: the function of `otherwise` takes no arguments; "
                                      "capture what it needs in a lambda");

public:
    explicit default_case(F function) : function_(std::move(function)) {}
    bool is_default() const noexcept override { return true; }
    void happen() override { std::invoke(function_); }

private:
    F function_;
};

// True for a channel that is not const, and for a class that derives from one.
template <class T>
void accept_channel(channel<T>&);
template <class C>
concept is_channel = requires(std::remove_reference_t<C>& object) { accept_channel(object); };

} // namespace detail

// A case that pops a value from the channel and calls `function` with it. It calls `closed()` when
// the channel is closed and drained.
template <class T, class F, class C = detail::ignore_end>
    requires std::invocable<F&, T> && std::invocable<C&>
detail::on_pop_case<T, F, C> on_pop(channel<T>& from, F function, C closed = {}) {
    return {from, std::move(function), std::move(closed)};
}
// Explains a call that the overload above refuses.
template <class T, class F, class C = detail::ignore_end>
base::refused_call on_pop(channel<T>&, F, C = {}) {
    static_assert(std::invocable<F&, T> || base::refused<F>,
                  "sennit: on_pop calls the function with the value; give the function one "
                  "parameter of the channel's type");
    static_assert(!std::invocable<F&, T> || base::refused<F>,
                  "sennit: on_pop calls the function for the end of the channel without arguments; "
                  "capture other values in a lambda");
    return {};
}
template <class From, class... Rest>
    requires(!detail::is_channel<From>)
base::refused_call on_pop(From&&, Rest&&...) {
    static_assert(base::refused<From>,
                  "sennit: on_pop takes a sennit::channel, and a function for its value");
    return {};
}

// A case that pushes the value into the channel and calls `function`. It calls `closed()` when the
// channel is closed. The value is lost when another case happens.
template <class T, class F, class C = detail::ignore_end>
    requires std::invocable<F&> && std::invocable<C&>
detail::on_push_case<T, F, C> on_push(channel<T>& to, std::type_identity_t<T> value, F function,
                                      C closed = {}) {
    return {to, std::move(value), std::move(function), std::move(closed)};
}
// Explains a call that the overload above refuses.
template <class T, class F, class C = detail::ignore_end>
base::refused_call on_push(channel<T>&, std::type_identity_t<T>, F, C = {}) {
    static_assert(base::refused<T>,
                  "sennit: on_push calls its functions without arguments; capture other "
                  "values in a lambda");
    return {};
}
template <class To, class... Rest>
    requires(!detail::is_channel<To>)
base::refused_call on_push(To&&, Rest&&...) {
    static_assert(base::refused<To>,
                  "sennit: on_push takes a sennit::channel, a value for it, and a function");
    return {};
}

// A case that happens after `duration`, counted from this call.
template <class Rep, class Period, class F>
detail::time_case<F> after(const std::chrono::duration<Rep, Period>& duration, F function) {
    return {sched::deadline_in(duration), std::move(function)};
}
// A case that happens at `when`. It does not happen before that clock shows the time, even if the
// clock is slower than the steady clock or is set back meanwhile.
template <class Clock, class Duration, class F>
auto at(const std::chrono::time_point<Clock, Duration>& when, F function) {
    if constexpr (std::is_same_v<Clock, std::chrono::steady_clock>)
        return detail::time_case<F>(sched::deadline_of(when), std::move(function));
    else
        return detail::clock_case<Clock, Duration, F>(when, std::move(function));
}

// A case that happens when a stop is requested.
template <class F>
detail::stop_case<F> on_stop(std::stop_token token, F function) {
    return {std::move(token), std::move(function)};
}

// A case that happens when no other case is ready.
template <class F>
detail::default_case<F> otherwise(F function) {
    return detail::default_case<F>(std::move(function));
}

// Returns the case, switched off unless `condition` holds.
template <std::derived_from<detail::select_case> Case>
Case when(bool condition, Case which) {
    which.enabled = which.enabled && condition;
    return which;
}

// Blocks until one case has happened, and returns its number. With `otherwise` it does not block.
// Takes at most 64 cases. Throws as the head of this file says, and rethrows the exceptions of the
// function.
template <std::derived_from<detail::select_case>... Cases>
std::size_t select(Cases&&... cases) {
    static_assert(sizeof...(Cases) > 0 && sizeof...(Cases) <= detail::max_select_cases,
                  "sennit: select takes from 1 to 64 cases");
    const std::array<detail::select_case*, sizeof...(Cases)> all{&cases...};
    return detail::run_select(all);
}
// Explains a call that the overload above refuses.
template <class... Cases>
base::refused_call select(Cases&&...) {
    static_assert(base::refused<Cases...>,
                  "sennit: select takes cases such as on_pop(channel, function), "
                  "after(duration, function) and otherwise(function)");
    return {};
}

} // namespace sennit
