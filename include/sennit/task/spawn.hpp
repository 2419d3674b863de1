// SPDX-License-Identifier: Apache-2.0
// spawn for tasks: starts a task as a strand of its own, and returns a future of its result.
//
//     sennit::future<page> wanted = sennit::spawn(fetch, address);      // fetch is a coroutine
//     sennit::future<void> mine = sennit::spawn([state] () -> sennit::task<> { … });
//
// `spawn(function, arguments...)` copies the function and its arguments, and keeps them until the
// task has ended. A lambda with captures, which would otherwise dangle when its coroutine suspends,
// is therefore safe here. Dropping the future lets the task run on, as for a fiber.
// The task runs in the caller's runtime, or in the default runtime if the caller is no worker. That
// runtime must live until the task has ended. An exception of the task goes into the future. The
// call never blocks. Throws std::bad_alloc, and the exceptions of the copies and of the function's
// call, which creates the task.
#pragma once

#include "sennit/async.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/future.hpp"
#include "sennit/task/task.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

// The state of the future, the strand, and the function that made the task, in one block of memory.
// The future and the strand hold one reference each.
template <class T, class F>
class spawned_task final : public future_value<T>, private sched::task_strand {
public:
    template <class... A>
    spawned_task(future_state::destroyer when_unused, sched::runtime_core& where, A&&... function)
        : future_value<T>(when_unused), task_strand(where, &spawned_task::ended),
          function_(std::forward<A>(function)...) {
        this->set_filler(*this);
    }

    // Calls the function, which makes the task, and starts it. Throws what the function throws.
    void start() {
        task<T> made = (*function_)();
        this->add_reference();
        task_strand::start(task_access::begin(std::move(made), result_, task_strand::end()));
    }

private:
    static void ended(task_strand& self) noexcept {
        auto& me = static_cast<spawned_task&>(self);
        me.function_.reset();
        if (me.result_.failed())
            me.future_state::error() = me.result_.error();
        else
            me.construct_from([&me]() -> T { return me.result_.take(); });
        me.publish();
        me.drop_reference(); // The strand may be gone now.
    }

    std::optional<F> function_; // Until the task has ended.
    task_result<T> result_;
};

// Hands out a task that exists already.
template <class T>
struct give_task {
    task<T> made;
    task<T> operator()() noexcept { return std::move(made); }
};

template <class T, class F, class... A>
future<T> spawn_task(A&&... function) {
    auto state = make_state<spawned_task<T, F>>(runtime_for(nullptr), std::forward<A>(function)...);
    state->start();
    return future_access::make<T>(std::move(state));
}

} // namespace detail

// Starts the task that `function(arguments...)` returns.
template <class F, class... A>
    requires detail::returns_task<std::decay_t<F>, std::decay_t<A>...>
auto spawn(F&& function, A&&... arguments) {
    using made = std::invoke_result_t<std::decay_t<F>, std::decay_t<A>...>;
    using call = detail::call_once_with<std::decay_t<F>, std::decay_t<A>...>;
    return detail::spawn_task<typename made::value_type, call>(
        std::in_place, std::in_place, std::forward<F>(function), std::forward<A>(arguments)...);
}

// Starts a task that exists already.
template <class T>
future<T> spawn(task<T>&& what) {
    return detail::spawn_task<T, detail::give_task<T>>(std::in_place,
                                                       detail::give_task<T>{std::move(what)});
}

} // namespace sennit
