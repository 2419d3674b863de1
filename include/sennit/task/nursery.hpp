// SPDX-License-Identifier: Apache-2.0
// Tasks in nurseries: nursery::start for tasks, and async_with_nursery.
//
//     co_await sennit::async_with_nursery([&](sennit::nursery& family) -> sennit::task<> {
//         for (connection& one : connections) family.start([&one] { return serve(one); });
//         co_await stop.async_wait();
//     });
//
// A child that is a task is a strand with a scope inside the nursery's, and obeys the rules of
// sennit/nursery.hpp: the first exception cancels the other children, and a child that has not
// begun when the nursery is cancelled never begins. Its result is dropped.
//
// A task that owns a nursery joins it by `co_await family.async_join()`. Its destructor and `join`
// are legal, too, but take a stack until the children have ended. `start` at the limit blocks
// likewise. Cost of a child: a strand, a scope and the frame.
#pragma once

#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/detail/core/task_result.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/core/task_transfer.hpp"
#include "sennit/nursery.hpp"
#include "sennit/task/task.hpp"

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

namespace detail {

// The task that a child's function returns, or that is the child itself.
template <class F>
auto make_nursery_task(F& function, nursery& family) {
    if constexpr (is_task<F>)
        return std::move(function);
    else if constexpr (std::invocable<F&>)
        return function();
    else
        return function(family.get_stop_token());
}

// A child of a nursery. The strand runs `starts` first.
template <class F>
class nursery_task final : public sched::task_strand {
    using made = decltype(make_nursery_task(std::declval<F&>(), std::declval<nursery&>()));

public:
    template <class G>
    nursery_task(nursery& family, const void* made_at, G&& function)
        : task_strand(runtime_for(nullptr), nullptr, made_at), owner_(family),
          scope_(&family.scope_), function_(std::forward<G>(function)) {
        begin_by(&nursery_task::starts);
        identity().scope = &scope_;
    }
    ~nursery_task() {}
    // Throws std::bad_alloc and the exceptions of copying the function.
    template <class G>
    static nursery_task* make(nursery& family, const void* made_at, const task_attributes* how,
                              G&& function) {
        static_assert(alignof(nursery_task) <= 16, "sennit: a task's closure is over-aligned");
        void* memory = sched::take_frame(sizeof(nursery_task));
        nursery_task* made = nullptr;
        try {
            made = ::new (memory) nursery_task(family, made_at, std::forward<G>(function));
            if (how && !how->name.empty()) made->set_name(how->name);
            return made;
        } catch (...) {
            if (made) {
                std::destroy_at(std::addressof(made->function_));
                std::destroy_at(made);
            }
            sched::give_frame(memory, sizeof(nursery_task));
            throw;
        }
    }

private:
    static void starts(void* frame) {
        auto& me = static_cast<nursery_task&>(of_frame(frame));
        me.end_by(calls_at_end<&nursery_task::ended>);
        SENNIT_RESUME_AND_RETURN(sched::transfer(me.begin()));
    }
    std::coroutine_handle<> begin() noexcept {
        if (owner_.cancelled()) {
            owner_.cut_short();
            return end();
        }
        try {
            return task_access::begin(make_nursery_task(function_, owner_), result_, end());
        } catch (...) {
            result_.set_error(std::current_exception());
            return end();
        }
    }
    // The nursery may be gone as soon as child_ended has told it of the end. The strand's memory is
    // therefore freed first.
    static void ended(task_strand& self) noexcept {
        auto& me = static_cast<nursery_task&>(self);
        nursery& family = me.owner_;
        std::destroy_at(std::addressof(me.function_));
        if (me.result_.failed()) family.task_failed(me.result_.error());
        std::destroy_at(&me);
        sched::give_frame(&me, sizeof(nursery_task));
        family.child_ended();
    }

    nursery& owner_;
    sched::cancel_scope scope_;
    union {
        F function_; // Alive until the task has ended.
    };
    task_result<typename made::value_type> result_;
};

} // namespace detail

template <class F>
void nursery::start_task(const void* made_at, const task_attributes* how, F&& function) {
    if (cancelled()) return cut_short(); // otherwise join would not report it
    (void)start_task_as(simple_ ? admission::place : admit(), made_at, how,
                        std::forward<F>(function));
}

template <class F>
bool nursery::start_task_if_free(const void* made_at, const task_attributes* how, F&& function) {
    if (cancelled()) {
        cut_short();
        return false;
    }
    return start_task_as(try_take_place(), made_at, how, std::forward<F>(function));
}

template <class F>
bool nursery::start_task_as(admission as, const void* made_at, const task_attributes* how,
                            F&& function) {
    if (as == admission::refused) return false;
    error_node* reserved = nullptr;
    try {
        if (collects_) reserved = new error_node;
        auto* fresh = detail::nursery_task<std::decay_t<F>>::make(*this, made_at, how,
                                                                  std::forward<F>(function));
        begin_task(*fresh, as, reserved);
    } catch (...) {
        delete reserved;
        if (as == admission::place && !simple_) give_place();
        throw;
    }
    return true;
}

// Runs `body(family)`, a task, with a new nursery, and awaits all children of the nursery. If the
// body throws, the children are cancelled, and the exception is thrown once they have ended.
// Otherwise throws like nursery::join. A function that takes no reference outlives the
// await.
template <class F>
    requires detail::returns_task<F&, nursery&>
task<void> async_with_nursery(F body, nursery_options how = {}) {
    nursery family(how);
    std::exception_ptr failed;
    try {
        co_await std::invoke(body, family);
    } catch (...) {
        failed = std::current_exception();
    }
    if (failed) {
        family.cancel();
        try {
            co_await family.async_join();
        } catch (...) {
            // The error of a child, which the body's error precedes.
        }
        std::rethrow_exception(failed);
    }
    co_await family.async_join();
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
