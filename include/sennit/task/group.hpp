// SPDX-License-Identifier: Apache-2.0
// task_group: the children of an async_all, async_any or async_for_each, and the task that waits
// for them.
//
// A group has a scope of cancellation inside the scope of its task. Each child is a strand of its
// own with a scope inside the group's. All children have ended when the group's task continues.
//
// `unfinished_` counts the children that have not ended, and one for the waiting task, until that
// task has published its wait. The decrement that reaches zero continues the task: the last child
// by waking it, or the task itself by not suspending. Each decrement releases the child's result to
// the task, and the last one acquires all of them.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/task_result.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/task/task.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sennit::detail {

class task_group {
public:
    // Made by a running task, for its own use.
    task_group() noexcept : scope_(sched::current_scope()) {}
    task_group(const task_group&) = delete;

    sched::cancel_scope& scope() noexcept { return scope_; }
    // Before a child starts.
    void add_child() noexcept { unfinished_.fetch_add_rlx(1); } // Orders nothing: not started yet.
    // Called by a child, last. The group may be gone when the call returns.
    void end_child() noexcept {
        // Pairs with the decrements of the other children and of the waiting task.
        if (unfinished_.fetch_sub_acq_rel(1) == 1) sched::wake(*waiter_);
    }

    // Waits until all children have ended. Not a point of cancellation: the scope cancels them.
    class join_awaiter : public sched::awaitable {
    public:
        explicit join_awaiter(task_group& of) noexcept : group_(of) {}
        static constexpr bool await_ready() noexcept { return false; }
        [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> caller) noexcept {
            return group_.suspend(caller);
        }
        static void await_resume() noexcept { (void)sched::task_wait::end(); }

    private:
        task_group& group_;
    };
    join_awaiter join() noexcept { return join_awaiter(*this); }

private:
    bool suspend(std::coroutine_handle<> caller) noexcept;

    sched::cancel_scope scope_;
    base::atomic<std::uint32_t> unfinished_{1};
    sched::wait_point* waiter_ = nullptr; // Written before the waiting task's decrement.
};

// A child of a group. `Self` derives from it and has `child_ended()`, which is called in the child,
// after its result is stored and before the group learns that it has ended.
template <class T, class Self>
class alignas(16) group_child : public sched::task_strand {
public:
    group_child(task_group& group, sched::runtime_core& where, const void* made_at) noexcept
        : task_strand(where, calls_at_end<&group_child::ended>, made_at), group_(group),
          scope_(&group.scope()) {
        identity().scope = &scope_;
    }
    void start(task<T>&& what) noexcept {
        group_.add_child();
        task_strand::start(task_access::begin(std::move(what), result, end()));
    }
    // Once the child has ended. Returns its value, once, or throws its exception.
    child_value<T> value() { return take_child(result); }
    task_result<T> result;

protected:
    task_group& group_;

private:
    static void ended(task_strand& self) noexcept {
        auto& me = static_cast<Self&>(self);
        task_group& group = me.group_;
        me.child_ended();
        group.end_child();
    }
    sched::cancel_scope scope_;
};

} // namespace sennit::detail
