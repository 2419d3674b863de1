// SPDX-License-Identifier: Apache-2.0
// on_lock, on_acquire, on_set: cases of select and waituntil that take a mutex, a semaphore's
// token, or an event.
//
//     sennit::select(
//         // holds the mutex while the function runs
//         sennit::on_lock(table, [&] { table_of[key] = value; }),
//         // the token is the caller's
//         sennit::on_acquire(free_slots, [&] { … }),
//         sennit::on_set(shut_down, [&] { … }),
//         sennit::after(10ms, [&] { … }));
//
// Use them where a lock is one of several alternatives. For one lock with a deadline use
// try_lock_for.
//
// A case that does not happen takes nothing: no token, no auto_reset event, no mutex. A waiting
// case is served in its turn. A token or a set is given to it directly. An unlock hands the mutex
// over to it, so that no task overtakes it, unlike a plain `lock`. The mutex is unlocked when the
// function has returned or thrown. It belongs to the fiber (or child, or thread) that called
// select. The objects must outlive the call.
// Errors: on_lock throws std::system_error(resource_deadlock_would_occur) when the caller owns the
// mutex. select does not support recursive and shared mutexes.
// Cost: the object's own lock, taken once; no allocation.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/event.hpp"
#include "sennit/mutex.hpp"
#include "sennit/select.hpp"
#include "sennit/semaphore.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

class lock_case : public select_case {
public:
    explicit lock_case(mutex& wanted);
    base::spin_lock* lock() noexcept override { return &wanted_->lock_; }
    bool try_now(sched::wake_ups&) noexcept override;
    bool enlist(sched::wait_entry& entry) noexcept override;
    void unlist(sched::wait_entry& entry) noexcept override {
        sched::dequeue(wanted_->waiters_, entry);
    }

protected:
    mutex* wanted_;

private:
    mutex::attempt mine_;
};

class acquire_case : public select_case {
public:
    explicit acquire_case(semaphore_core& from) noexcept : from_(&from) {}
    base::spin_lock* lock() noexcept override { return &from_->lock_; }
    bool try_now(sched::wake_ups&) noexcept override {
        if (from_->tokens_ == 0) return false;
        --from_->tokens_;
        return true;
    }
    bool enlist(sched::wait_entry& entry) noexcept override {
        sched::enqueue(from_->waiters_, entry);
        return true;
    }
    void unlist(sched::wait_entry& entry) noexcept override {
        sched::dequeue(from_->waiters_, entry);
    }

private:
    semaphore_core* from_;
};

class event_case : public select_case {
public:
    explicit event_case(event& awaited) noexcept : awaited_(&awaited) {}
    base::spin_lock* lock() noexcept override { return &awaited_->lock_; }
    bool try_now(sched::wake_ups&) noexcept override {
        const bool was = awaited_->set_;
        if (awaited_->mode_ == event::mode::auto_reset) awaited_->set_ = false;
        return was;
    }
    bool enlist(sched::wait_entry& entry) noexcept override {
        sched::enqueue(awaited_->waiters_, entry);
        return true;
    }
    void unlist(sched::wait_entry& entry) noexcept override {
        sched::dequeue(awaited_->waiters_, entry);
    }

private:
    event* awaited_;
};

template <class F>
class on_lock_case final : public lock_case {
public:
    on_lock_case(mutex& wanted, F function) : lock_case(wanted), function_(std::move(function)) {}
    void happen() override {
        std::unique_lock held(*wanted_, std::adopt_lock);
        std::invoke(function_);
    }

private:
    F function_;
};

// `Source` is the part of the case that waits: acquire_case or event_case. F is the function that
// it calls.
template <class Source, class F>
class calling_case final : public Source {
public:
    template <class From>
    calling_case(From& from, F function) : Source(from), function_(std::move(function)) {}
    void happen() override { std::invoke(function_); }

private:
    F function_;
};

struct semaphore_access {
    template <std::ptrdiff_t Most>
    static semaphore_core& core(counting_semaphore<Most>& of) noexcept {
        return of.core_;
    }
};

} // namespace detail

// A case that takes the mutex for as long as the function runs. It also takes a timed_mutex.
template <std::invocable F>
detail::on_lock_case<F> on_lock(mutex& wanted, F function) {
    return {wanted, std::move(function)};
}
// Explains a call that the overload above refuses.
template <class M, class F>
    requires(!(std::is_convertible_v<M&, mutex&> && std::invocable<F>))
base::refused_call on_lock(M&, F) {
    static_assert(std::is_convertible_v<M&, mutex&> || base::refused<M>,
                  "sennit: on_lock takes a sennit::mutex or a sennit::timed_mutex; other locks "
                  "cannot be one of several clauses");
    static_assert(!std::is_convertible_v<M&, mutex&> || base::refused<M>,
                  "sennit: on_lock calls the function without arguments; capture other values in a "
                  "lambda");
    return {};
}

// A case that takes a token, which the caller must release later.
template <std::ptrdiff_t Most, std::invocable F>
detail::calling_case<detail::acquire_case, F> on_acquire(counting_semaphore<Most>& from,
                                                         F function) {
    return {detail::semaphore_access::core(from), std::move(function)};
}
// Explains a call that the overload above refuses.
template <std::ptrdiff_t Most, class F>
base::refused_call on_acquire(counting_semaphore<Most>&, F) {
    static_assert(base::refused<F>, "sennit: on_acquire calls the function without arguments; "
                                    "capture other values in a lambda");
    return {};
}

// A case that happens when the event is set; it clears an auto_reset event.
template <std::invocable F>
detail::calling_case<detail::event_case, F> on_set(event& awaited, F function) {
    return {awaited, std::move(function)};
}
// Explains a call that the overload above refuses.
template <class F>
base::refused_call on_set(event&, F) {
    static_assert(base::refused<F>, "sennit: on_set calls the function without arguments; capture "
                                    "other values in a lambda");
    return {};
}

} // namespace sennit
