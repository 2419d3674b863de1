// SPDX-License-Identifier: Apache-2.0
// task_state: a shared state that a fiber of its own fills, for `async` and `then`. State, closure
// and the fiber's block are one block of memory.
//
// References: the future holds one. A second reference is passed on: the continuation holds it
// until the source is ready, then the fiber holds it. If the function returned a future to unwrap,
// the continuation holds it again.
#pragma once

#include "sennit/detail/core/fiber_block.hpp"
#include "sennit/fiber.hpp"
#include "sennit/future/detail/value.hpp"

#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace sennit::detail {

// The value type of the future that a continuation returns: future<U> counts as U.
template <class T>
struct unwrapped {
    using type = T;
};
template <class T>
struct unwrapped<future<T>> {
    using type = T;
};

// `F` returns R, or future<R>.
template <class R, class F>
class task_state final : public future_value<R>, private sched::fiber_block, private continuation {
    static constexpr bool unwraps = !std::is_same_v<std::invoke_result_t<F&>, R>;

public:
    template <class... A>
    task_state(future_state::destroyer destroy, sched::runtime_core& runtime, const void* made_at,
               A&&... closure)
        : future_value<R>(destroy), fiber_block(runtime, type, made_at),
          continuation(&task_state::start_when_due) {
        std::construct_at(&function_, std::forward<A>(closure)...);
    }
    ~task_state() {}

    void start(sennit::launch policy) noexcept {
        this->add_reference();
        launch_fiber(sennit::detail::start_of(policy));
    }
    void start_after(future_state& source) noexcept {
        this->add_reference();
        source.attach(*this);
    }

private:
    void launch_fiber(fiber_block::start how) noexcept {
        fiber_block::detach_unstarted();
        fiber_block::launch(how); // the state may be gone now
    }
    static void start_when_due(continuation& self, continuation_queue&) noexcept {
        static_cast<task_state&>(self).launch_fiber(fiber_block::start::enqueue);
    }

    // The closure is destroyed before the future is ready.
    static void body(fiber_block& self) noexcept {
        auto& me = static_cast<task_state&>(self);
        if constexpr (unwraps) {
            me.run_and_unwrap();
        } else {
            me.construct_from(me.function_);
            std::destroy_at(&me.function_);
            me.publish();
        }
    }
    static void ended(fiber_block* self) noexcept {
        static_cast<task_state*>(self)->drop_reference();
    }

    void run_and_unwrap() noexcept {
        std::exception_ptr thrown;
        try {
            auto returned = function_();
            inner_ = future_access::take_state(returned);
        } catch (...) {
            thrown = std::current_exception();
        }
        std::destroy_at(&function_);
        if (thrown) return this->publish_error(std::move(thrown));
        if (!inner_) return this->abandon();
        this->add_reference();
        continuation::act = &task_state::take_over;
        inner_->attach(*this);
    }
    static void take_over(continuation& self, continuation_queue& due) noexcept {
        auto& me = static_cast<task_state&>(self);
        if (me.inner_->error())
            me.future_state::error() = std::move(me.inner_->error());
        else
            me.construct_from([&me]() -> R { return me.inner_->take(); });
        me.inner_ = {};
        me.publish_into(due);
        me.drop_reference();
    }

    static constexpr sched::fiber_type type{&body, &ended, &typeid(F)};

    union {
        F function_; // alive until the body has run
    };
    state_ref<future_value<R>> inner_; // set only while the state unwraps a future
};

// The function that the fiber of `then` runs.
template <class F, class Future>
struct continue_with {
    F function;
    Future source;
    decltype(auto) operator()() { return std::invoke(std::move(function), std::move(source)); }
};

// Creates a state whose fiber is not started yet; `made_at` is explained in detail/core/here.hpp.
// Throws std::bad_alloc and the exceptions of the closure's constructor.
template <class R, class F, class... A>
auto make_task(const void* made_at, A&&... closure) {
    return make_state<task_state<R, F>>(runtime_for(nullptr), made_at, std::forward<A>(closure)...);
}

} // namespace sennit::detail
