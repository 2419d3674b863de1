// SPDX-License-Identifier: Apache-2.0
// The waits of a task for a condition variable that are templates.
#pragma once

#include "sennit/condition_variable.hpp"
#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/task/task.hpp"

#include <chrono>
#include <cstdint>
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

template <class Predicate>
task<bool> condition_variable_any::async_wait_before(std::unique_lock<mutex>& lock,
                                                     std::int64_t deadline_ns, Predicate done) {
    while (!done()) {
        const cv_status ended = co_await async_wait_before(lock, deadline_ns);
        if (ended == cv_status::timeout) co_return done();
    }
    co_return true;
}

template <class Rep, class Period>
task<cv_status>
condition_variable_any::async_wait_for(std::unique_lock<mutex>& lock,
                                       std::chrono::duration<Rep, Period> duration) {
    return async_wait_before(lock, sched::deadline_in(duration));
}
template <class Rep, class Period, class Predicate>
task<bool> condition_variable_any::async_wait_for(std::unique_lock<mutex>& lock,
                                                  std::chrono::duration<Rep, Period> duration,
                                                  Predicate done) {
    check_predicate<Predicate>();
    return async_wait_before(lock, sched::deadline_in(duration), std::move(done));
}
template <class Rep, class Period>
task<cv_status> condition_variable::async_wait_for(std::unique_lock<mutex>& lock,
                                                   std::chrono::duration<Rep, Period> duration) {
    return condition_variable_any::async_wait_for(checked(lock), duration);
}
template <class Rep, class Period, class Predicate>
task<bool> condition_variable::async_wait_for(std::unique_lock<mutex>& lock,
                                              std::chrono::duration<Rep, Period> duration,
                                              Predicate done) {
    return condition_variable_any::async_wait_for(checked(lock), duration, std::move(done));
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
