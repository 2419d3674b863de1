// SPDX-License-Identifier: Apache-2.0
// future_value: a future_state with room for a value. state_ref is the counted pointer to it.
// future_access lets other parts of the library get from a future to its state.
#pragma once

#include "sennit/detail/base/result.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/future/detail/state.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace sennit {
template <class T>
class future;
template <class T>
class shared_future;
} // namespace sennit

namespace sennit::detail {

template <class T>
inline constexpr bool is_shared_future = false;
template <class T>
inline constexpr bool is_shared_future<shared_future<T>> = true;
template <class T>
inline constexpr bool is_any_future = is_shared_future<T>;
template <class T>
inline constexpr bool is_any_future<future<T>> = true;

// The place of the value in a state. For void it is the place of the error.
template <class R>
class value_place {
protected:
    task_result<R> stored_;
};
template <>
class value_place<void> {};

// The state for values of type R. It stores a pointer for a reference.
template <class R>
class future_value : public future_state, private value_place<R> {
public:
    explicit future_value(future_state::destroyer destroy) noexcept : future_state(destroy) {}

    // Called by the setter between begin and publish. Rethrows the exceptions of the constructor;
    // the state then holds no value.
    template <class... A>
    void construct(A&&... arguments) {
        result().set_value(std::forward<A>(arguments)...);
    }
    // Stores the result of the function, or its exception.
    template <class F>
    void construct_from(F&& function) noexcept {
        try {
            if constexpr (std::is_void_v<R>)
                std::invoke(std::forward<F>(function));
            else
                result().set_from(std::forward<F>(function));
        } catch (...) {
            this->error() = std::current_exception();
        }
    }
    // Performs all steps from begin to publish, for values that users copy in.
    template <class... A>
    void set_value(A&&... arguments) {
        this->begin();
        try {
            construct(std::forward<A>(arguments)...);
        } catch (...) {
            this->undo();
            throw;
        }
        this->publish();
    }

    // Called once the state is ready, or by the setter before. `take` may be called once.
    auto& value() {
        if (this->error()) std::rethrow_exception(this->error());
        if constexpr (std::is_void_v<R>)
            return *this;
        else
            return result().value();
    }
    R take() {
        if (this->error()) std::rethrow_exception(std::move(this->error()));
        if constexpr (!std::is_void_v<R>) return load_result<R>(result().value());
    }

protected:
    ~future_value() = default;

    // The place where the task that fills the state stores its result, and the setter's step after
    // that task has ended, in place of construct_from.
    task_result<R>& result() noexcept {
        if constexpr (std::is_void_v<R>)
            return this->outcome();
        else
            return this->stored_;
    }
    void take_over_result() noexcept {
        if constexpr (!std::is_void_v<R>)
            if (result().failed()) this->error() = result().take_error();
    }
};

// A counted reference to a state.
template <class S>
class state_ref {
public:
    state_ref() noexcept = default;
    explicit state_ref(S* adopted) noexcept : state_(adopted) {}
    state_ref(const state_ref& other) noexcept : state_(other.state_) {
        if (state_) state_->add_reference();
    }
    template <class D>
        requires std::is_convertible_v<D*, S*>
    state_ref(state_ref<D>&& other) noexcept
        : state_(other.release()) {} // NOLINT: converts implicitly, as a pointer does
    state_ref(state_ref&& other) noexcept : state_(other.release()) {}
    state_ref& operator=(state_ref other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~state_ref() {
        if (state_) state_->drop_reference();
    }

    S* release() noexcept { return std::exchange(state_, nullptr); }
    S* get() const noexcept { return state_; }
    S& operator*() const noexcept { return *state_; }
    S* operator->() const noexcept { return state_; }
    explicit operator bool() const noexcept { return state_ != nullptr; }

private:
    S* state_ = nullptr;
};

template <class S>
struct state_memory {
    static constexpr bool is_small = alignof(S) <= 16;
    static void* take() {
        if constexpr (is_small) return sched::take_frame(sizeof(S));
        return ::operator new(sizeof(S), std::align_val_t{alignof(S)});
    }
    static void give(void* memory) noexcept {
        if constexpr (is_small) return sched::give_frame(memory, sizeof(S));
        ::operator delete(memory, std::align_val_t{alignof(S)});
    }
};

// Throws std::bad_alloc and the exceptions of the constructor.
template <class S, class... A>
state_ref<S> make_state(A&&... arguments) {
    const auto destroy = [](future_state* base) noexcept {
        S* state = static_cast<S*>(base);
        std::destroy_at(state);
        state_memory<S>::give(state);
    };
    void* memory = state_memory<S>::take();
    try {
        return state_ref<S>(::new (memory) S(destroy, std::forward<A>(arguments)...));
    } catch (...) {
        state_memory<S>::give(memory);
        throw;
    }
}

// The state that a promise or a packaged task creates.
template <class R>
struct plain_state final : future_value<R> {
    using future_value<R>::future_value;
};

// Gives access from a future to its state, and back.
struct future_access {
    // Throws std::future_error: no_state.
    template <class Future>
    static auto& state(const Future& of) {
        if (!of.state_) throw_future_error(std::future_errc::no_state);
        return *of.state_;
    }
    template <class Future>
    static auto take_state(Future& of) noexcept {
        return std::move(of.state_);
    }
    // Takes the error of a ready state, for its only reader. The exception thus ends with its
    // reader, not with the state.
    template <class R>
    static std::exception_ptr take_error(const future<R>& of) noexcept {
        return std::move(of.state_->error());
    }
    template <class R>
    static future<R> make(state_ref<future_value<R>> state) noexcept {
        return future<R>(std::move(state));
    }
};

} // namespace sennit::detail
