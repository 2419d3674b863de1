// SPDX-License-Identifier: Apache-2.0
// async_any: runs tasks at the same time, and returns the result of the first that ends.
//
//     std::variant<page, page> first = co_await sennit::async_any(fetch(near), fetch(far));
//     auto [index, value] = co_await sennit::async_any(std::move(attempts));     // a vector
//
// Use it for alternatives: the first answer counts. async_first_success ignores tasks that fail, as
// long as one succeeds. For events that need no task of their own use async_select.
//
// The other tasks are cancelled, and have ended when the await returns. Exactly one result is
// returned; the other values are destroyed, and the other exceptions dropped. For several tasks the
// result is a std::variant whose index is the number of the task (std::monostate for void). For a
// vector it is async_any_result: the number and the value. async_any throws the exception of the
// first task that ends, if it ended by one. async_first_success throws exception_list if all fail.
// If the awaiting task is cancelled before a task has won, the await throws `cancelled`.
#pragma once

#include "sennit/async_all.hpp"
#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/exception_list.hpp"
#include "sennit/task/group.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

// The result of async_any for a vector: the number of the task, and its value.
template <class T>
struct async_any_result {
    std::size_t index;
    detail::child_value<T> value;
};

namespace detail {

enum class win_by : bool { end, success };

// Decides which child wins.
class race_outcome {
public:
    explicit race_outcome(win_by rule) noexcept : rule_(rule) {}
    // Called by a child that has ended.
    void child_ended(task_group& group, std::size_t index, bool failed, bool cut_short) noexcept;
    // Once all children have ended: the number of the winner, or `no_winner`.
    std::size_t winner() const noexcept {
        // Orders nothing: the join of the group does.
        return winner_.load_rlx();
    }
    static constexpr std::size_t no_winner = SIZE_MAX;

private:
    const win_by rule_;
    base::atomic<std::size_t> winner_{no_winner};
};

template <class T>
class race_child final : public group_child<T, race_child<T>> {
public:
    race_child(task_group& group, race_outcome& outcome, std::size_t index,
               sched::runtime_core& where, const void* made_at) noexcept
        : group_child<T, race_child>(group, where, made_at), outcome_(outcome), index_(index) {}
    void child_ended() noexcept {
        const bool failed = this->result.failed();
        outcome_.child_ended(this->group_, index_, failed,
                             failed && is_cancelled(this->result.error()));
    }

private:
    race_outcome& outcome_;
    const std::size_t index_;
};

// No child has won: they were cancelled, or all failed.
[[noreturn]] void throw_lost_race(std::vector<std::exception_ptr> errors);

template <std::size_t I, class Variant, class Children>
Variant winner_value(std::size_t index, Children& children) {
    if constexpr (I + 1 < std::tuple_size_v<Children>) {
        if (index != I) return winner_value<I + 1, Variant>(index, children);
    }
    return Variant(std::in_place_index<I>, std::get<I>(children)->value());
}

// `made_at`: the code that called async_any or async_first_success, for reports.
template <class... T>
task<std::variant<child_value<T>...>> race_tasks(const void* made_at, win_by rule,
                                                 task<T>... tasks) {
    task_group group;
    race_outcome outcome(rule);
    sched::runtime_core& where = *sched::current_runtime();
    std::tuple<std::optional<race_child<T>>...> children;
    co_await std::apply(
        [&](auto&... child) {
            std::size_t i = 0;
            // All are constructed first: a child that has ended may decide the race.
            (child.emplace(group, outcome, i++, where, made_at), ...);
            (child->start(std::move(tasks)), ...);
            return group.join();
        },
        children);
    if (outcome.winner() == race_outcome::no_winner)
        throw_lost_race(std::apply(
            [](auto&... child) {
                return std::vector<std::exception_ptr>{child->result.error()...};
            },
            children));
    co_return winner_value<0, std::variant<child_value<T>...>>(outcome.winner(), children);
}

template <class T>
task<async_any_result<T>> race_tasks(const void* made_at, win_by rule, std::vector<task<T>> tasks) {
    if (tasks.empty())
        throw std::invalid_argument("sennit: [SNT-242] async_any: the vector has no tasks, so none "
                                    "can win; pass one task or more");
    task_group group;
    race_outcome outcome(rule);
    sched::runtime_core& where = *sched::current_runtime();
    std::deque<race_child<T>> children; // Strands do not move.
    for (std::size_t i = 0; i < tasks.size(); ++i)
        children.emplace_back(group, outcome, i, where, made_at);
    for (std::size_t i = 0; i < tasks.size(); ++i) children[i].start(std::move(tasks[i]));
    co_await group.join();
    if (outcome.winner() == race_outcome::no_winner) {
        std::vector<std::exception_ptr> errors;
        for (race_child<T>& child : children) errors.push_back(child.result.error());
        throw_lost_race(std::move(errors));
    }
    co_return async_any_result<T>{outcome.winner(), children[outcome.winner()].value()};
}

} // namespace detail

// Returns the result of the first task that ends.
template <class... T>
    requires(sizeof...(T) > 0)
[[gnu::always_inline]] inline auto async_any(task<T>... tasks) {
    return detail::race_tasks(sched::here(), detail::win_by::end, std::move(tasks)...);
}
template <class T>
[[gnu::always_inline]] inline auto async_any(std::vector<task<T>> tasks) {
    return detail::race_tasks(sched::here(), detail::win_by::end, std::move(tasks));
}
// Returns the value of the first task that ends without an exception.
template <class... T>
    requires(sizeof...(T) > 0)
[[gnu::always_inline]] inline auto async_first_success(task<T>... tasks) {
    return detail::race_tasks(sched::here(), detail::win_by::success, std::move(tasks)...);
}
template <class T>
[[gnu::always_inline]] inline auto async_first_success(std::vector<task<T>> tasks) {
    return detail::race_tasks(sched::here(), detail::win_by::success, std::move(tasks));
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
