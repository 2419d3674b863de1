// SPDX-License-Identifier: Apache-2.0
// async_all: runs tasks at the same time, and waits for all of them.
//
//     auto [user, orders] = co_await sennit::async_all(load_user(id), load_orders(id));
//     std::vector<page> pages = co_await sennit::async_all(std::move(fetches));
//
// Use it where all results are needed. For the first result use async_any; for many inputs use
// async_for_each, which limits how many run at the same time.
//
// The await returns a std::tuple of the values, with std::monostate for void, or a std::vector for
// a vector of tasks (of std::monostate for void). If a task throws, the remaining tasks are
// cancelled; the await throws the first exception once all tasks have ended. A cancelled task
// throws `cancelled`, which is reported only if no other exception was thrown. All tasks have ended
// when the await returns or throws. g++ 12 destroys some temporaries of a co_await expression twice
// (GCC PR 99576): a lambda with captures that are not trivial must be named before the await. Cost:
// a strand for each task, in the frame of async_all; for a vector, allocated a few at a time.
#pragma once

#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/task/group.hpp"
#include "sennit/task/task.hpp"

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

namespace detail {

// Cancels the other children of its group at the first exception, and keeps that exception.
class first_error {
public:
    // Does nothing if another child has stored an exception before.
    void store(task_group& group, std::exception_ptr error) noexcept;
    // Once all children have ended.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    base::atomic<std::uint32_t> taken_{0};
    std::exception_ptr error_;
};

// True if the exception is `cancelled`.
bool is_cancelled(const std::exception_ptr& error) noexcept;

template <class T>
class all_child final : public group_child<T, all_child<T>> {
public:
    all_child(task_group& group, first_error& error, sched::runtime_core& where,
              const void* made_at) noexcept
        : group_child<T, all_child>(group, where, made_at), error_(error) {}
    void child_ended() noexcept {
        if (this->result.failed() && !is_cancelled(this->result.error()))
            error_.store(this->group_, this->result.error());
    }

private:
    first_error& error_;
};

// `made_at`: the code that called async_all, for reports.
template <class... T>
task<std::tuple<child_value<T>...>> run_all(const void* made_at, task<T>... tasks) {
    task_group group;
    first_error error;
    sched::runtime_core& where = *sched::current_runtime();
    std::tuple<std::optional<all_child<T>>...> children;
    co_await std::apply(
        [&](auto&... child) {
            (child.emplace(group, error, where, made_at).start(std::move(tasks)), ...);
            return group.join();
        },
        children);
    error.rethrow();
    co_return std::apply(
        [](auto&... child) { return std::tuple<child_value<T>...>{child->value()...}; }, children);
}

template <class T>
task<std::vector<child_value<T>>> run_all(const void* made_at, std::vector<task<T>> tasks) {
    task_group group;
    first_error error;
    sched::runtime_core& where = *sched::current_runtime();
    std::deque<all_child<T>> children; // Strands do not move.
    for (std::size_t i = 0; i < tasks.size(); ++i)
        children.emplace_back(group, error, where, made_at);
    for (std::size_t i = 0; i < tasks.size(); ++i) children[i].start(std::move(tasks[i]));
    co_await group.join();
    error.rethrow();
    std::vector<child_value<T>> values;
    values.reserve(children.size());
    for (all_child<T>& child : children) values.push_back(child.value());
    co_return values;
}

} // namespace detail

// Runs all tasks; returns their values as a tuple.
template <class... T>
    requires(sizeof...(T) > 0)
[[gnu::always_inline]] inline task<std::tuple<detail::child_value<T>...>>
async_all(task<T>... tasks) {
    return detail::run_all(sched::here(), std::move(tasks)...);
}
// Runs all tasks of the vector; returns their values in the same order.
template <class T>
[[gnu::always_inline]] inline task<std::vector<detail::child_value<T>>>
async_all(std::vector<task<T>> tasks) {
    return detail::run_all(sched::here(), std::move(tasks));
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
