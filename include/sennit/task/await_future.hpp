// SPDX-License-Identifier: Apache-2.0
// The await of a future in a task: `co_await std::move(future)`, `co_await shared`.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/future.hpp"

#include <coroutine>
#include <type_traits>
#include <utility>

namespace sennit::detail {

// Waits for a state; the classes below read it afterwards.
class state_awaiter : public sched::awaitable {
public:
    explicit state_awaiter(future_state& awaited) noexcept : state_(awaited) {}
    state_awaiter(state_awaiter&& unused) noexcept : state_(unused.state_) {}
    bool await_ready() noexcept {
        if (state_.ready()) return true;
        state_.run_filler_if_newest();
        return !(waited_ = !state_.ready_or_lock());
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return state_.suspend(caller);
    }

protected:
    // Throws `cancelled`.
    void finish() {
        if (waited_ && state_.end_suspension() == sched::wake_reason::cancelled) throw cancelled();
    }

private:
    future_state& state_;
    bool waited_ = false;
};

// Returns the value or throws the error, and leaves the future without a state, as get does.
template <class T>
class future_awaiter : public state_awaiter {
public:
    explicit future_awaiter(future<T>&& awaited)
        : state_awaiter(future_access::state(awaited)), future_(awaited) {}
    T await_resume() {
        finish();
        return future_access::take_state(future_)->take();
    }

private:
    future<T>& future_;
};

template <class T>
class shared_future_awaiter : public state_awaiter {
public:
    explicit shared_future_awaiter(const shared_future<T>& awaited)
        : state_awaiter(future_access::state(awaited)), future_(awaited) {}
    decltype(auto) await_resume() {
        finish();
        return future_.get();
    }

private:
    const shared_future<T>& future_;
};

} // namespace sennit::detail
