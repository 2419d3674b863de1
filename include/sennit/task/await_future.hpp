// SPDX-License-Identifier: Apache-2.0
// The await of a future in a task: `co_await std::move(future)`, `co_await shared`.
#pragma once

#include "sennit/future.hpp"

#include <utility>

namespace sennit::detail {

// Waits for a state; the classes below read it afterwards.
class state_awaiter : public ready_awaiter {
public:
    explicit state_awaiter(future_state& awaited) noexcept
        : ready_awaiter(awaited), state_(awaited) {}
    bool await_ready() noexcept {
        if (state_.ready()) return true;
        state_.run_filler_if_newest();
        return ready_awaiter::await_ready();
    }

private:
    future_state& state_;
};

// Returns the value or throws the error, and leaves the future without a state, as get does.
template <class T>
class future_awaiter : public state_awaiter {
public:
    explicit future_awaiter(future<T>&& awaited)
        : state_awaiter(future_access::state(awaited)), future_(awaited) {}
    T await_resume() {
        ready_awaiter::await_resume();
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
        ready_awaiter::await_resume();
        return future_.get();
    }

private:
    const shared_future<T>& future_;
};

} // namespace sennit::detail
