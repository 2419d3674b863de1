// SPDX-License-Identifier: Apache-2.0
// The waits of a task for a condition variable that are templates.
#pragma once

#include "sennit/condition_variable.hpp"
#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/task/task.hpp"

#include <mutex>
#include <utility>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

template <class Predicate>
task<void> condition_variable_any::async_wait(std::unique_lock<mutex>& lock, Predicate done) {
    check_predicate<Predicate>();
    while (!done()) co_await async_wait(lock);
}

template <class Predicate>
task<void> condition_variable::async_wait(std::unique_lock<mutex>& lock, Predicate done) {
    return condition_variable_any::async_wait(checked(lock), std::move(done));
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
