// SPDX-License-Identifier: Apache-2.0
// spawn for tasks: starts a task as a strand of its own, and returns a future of its result.
//
//     sennit::future<page> wanted = sennit::spawn(fetch, address);      // fetch is a coroutine
//     sennit::future<void> mine = sennit::spawn([state] () -> sennit::task<> { … });
//     sennit::future<page> named = sennit::spawn({.name = "front page"}, fetch, address);
//
// `spawn(function, arguments...)` copies the function and its arguments, and keeps them until the
// task has ended. A lambda with captures, which would otherwise dangle when its coroutine suspends,
// is therefore safe here. Dropping the future lets the task run on, as for a fiber.
// The task runs in the caller's runtime, or in the default runtime if the caller is no worker. That
// runtime must live until the task has ended. An exception of the task goes into the future. The
// call never blocks. Throws std::bad_alloc, and the exceptions of the copies and of the function's
// call, which creates the task.
// Dumps, deadlock reports and traces show the name of a task, and the line that called spawn.
#pragma once

#include "sennit/async.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/future.hpp"
#include "sennit/task/task.hpp"
#include "sennit/task_attributes.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

// The code that starts a task, and the attributes that it gives; null: none.
struct spawn_origin {
    const void* made_at;
    const task_attributes* how = nullptr;
};

// The state of the future and the strand, in one block of memory. The future and the strand hold
// one reference each. `Kept` is the function that made the task, or nothing.
template <class T, class Kept>
class spawned_task final : private sched::task_strand, public future_value<T> {
public:
    template <class... A>
    spawned_task(future_state::destroyer when_unused, const spawn_origin& from, A&&... function)
        : task_strand(runtime_for(nullptr), calls_at_end<&spawned_task::ended>, from.made_at),
          future_value<T>(when_unused), kept_(std::forward<A>(function)...) {
        if (from.how && !from.how->name.empty()) this->set_name(from.how->name);
        this->set_filler(*this);
    }

    // Makes the task and starts it. Throws the exceptions of `make`; the task then has not started.
    template <class Make>
    void start(Make&& make) {
        task<T> made = make();
        this->begin_with_references(2);
        task_strand::start(task_access::begin(std::move(made), this->result(), task_strand::end()));
    }
    void start() {
        start([this]() -> task<T> { return (*kept_)(); });
    }

private:
    static void ended(task_strand& self) noexcept {
        auto& me = static_cast<spawned_task&>(self);
        if constexpr (!std::is_empty_v<Kept>) me.kept_.reset();
        me.take_over_result();
        me.publish();
        me.drop_reference(); // The strand may be gone now.
    }

    [[no_unique_address]] Kept kept_; // Until the task has ended.
};

struct nothing_kept {};

// True if a task that F, called with A..., returns does not refer to F or to an argument: F is a
// function, each of whose parameters is no reference or binds to the object of a
// std::reference_wrapper.
template <class F, class... A>
inline constexpr bool needs_no_function = false;
template <class P, class A>
inline constexpr bool needs_no_argument = !std::is_reference_v<P>;
template <class P, class A>
inline constexpr bool needs_no_argument<P&, std::reference_wrapper<A>> = true;
template <class R, class... P, class... A>
    requires(sizeof...(P) == sizeof...(A))
inline constexpr bool needs_no_function<R (*)(P...), A...> = (needs_no_argument<P, A> && ...);

// Starts the task that `function()` returns, and keeps the function until the task has ended.
template <class T, class F, class... A>
future<T> spawn_keeping(const spawn_origin& from, A&&... function) {
    using state_type = spawned_task<T, std::optional<F>>;
    auto state = make_state<state_type>(from, std::in_place, std::forward<A>(function)...);
    state->start();
    return future_access::make<T>(std::move(state));
}
// Starts the task that `make()` returns.
template <class T, class Make>
future<T> spawn_made(const spawn_origin& from, Make&& make) {
    auto state = make_state<spawned_task<T, nothing_kept>>(from);
    state->start(std::forward<Make>(make));
    return future_access::make<T>(std::move(state));
}

// Starts the task that `function(arguments...)` returns.
template <class F, class... A>
auto spawn_call(const spawn_origin& from, F&& function, A&&... arguments) {
    using made = std::invoke_result_t<std::decay_t<F>, std::decay_t<A>...>;
    using value = typename made::value_type;
    if constexpr (needs_no_function<std::decay_t<F>, std::decay_t<A>...>) {
        return spawn_made<value>(from, [&]() -> made {
            return std::invoke(std::forward<F>(function),
                               std::decay_t<A>(std::forward<A>(arguments))...);
        });
    } else {
        using call = call_once_with<std::decay_t<F>, std::decay_t<A>...>;
        return spawn_keeping<value, call>(from, std::in_place, std::forward<F>(function),
                                          std::forward<A>(arguments)...);
    }
}
// Starts a task that exists already.
template <class T>
future<T> spawn_task(const spawn_origin& from, task<T>&& what) {
    return spawn_made<T>(from, [&what]() noexcept -> task<T> { return std::move(what); });
}

} // namespace detail

// Starts the task that `function(arguments...)` returns.
template <class F, class... A>
    requires detail::no_task_attributes<F> &&
             detail::returns_task<std::decay_t<F>, std::decay_t<A>...>
[[gnu::always_inline]] inline auto spawn(F&& function, A&&... arguments) {
    return detail::spawn_call(detail::spawn_origin{sched::here()}, std::forward<F>(function),
                              std::forward<A>(arguments)...);
}
template <class F, class... A>
    requires detail::returns_task<std::decay_t<F>, std::decay_t<A>...>
[[gnu::always_inline]] inline auto spawn(const task_attributes& how, F&& function,
                                         A&&... arguments) {
    return detail::spawn_call(detail::spawn_origin{sched::here(), &how}, std::forward<F>(function),
                              std::forward<A>(arguments)...);
}

// Starts a task that exists already.
template <class T>
[[gnu::always_inline]] inline future<T> spawn(task<T>&& what) {
    return detail::spawn_task(detail::spawn_origin{sched::here()}, std::move(what));
}
template <class T>
[[gnu::always_inline]] inline future<T> spawn(const task_attributes& how, task<T>&& what) {
    return detail::spawn_task(detail::spawn_origin{sched::here(), &how}, std::move(what));
}

// Explains a call that the other overloads refuse.
template <class F, class... A>
    requires(!detail::returns_task<std::decay_t<F>, std::decay_t<A>...>)
base::refused_call spawn(const task_attributes&, F&&, A&&...) {
    static_assert(base::refused<F>,
                  "sennit: spawn with attributes starts a task, and the function does not return a "
                  "task when it is called with copies of the arguments; for a fiber with a name "
                  "use sennit::fiber");
    return {};
}

} // namespace sennit
