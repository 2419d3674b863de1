// SPDX-License-Identifier: Apache-2.0
// The waits of a task for a condition variable that are templates.
#pragma once

#include "sennit/condition_variable.hpp"
#include "sennit/task/task.hpp"

#include <mutex>
#include <utility>

// g++ 12 warns of a template coroutine in a header whose parameter is a lambda of an unnamed
// namespace: its frame has a member of a type without linkage. The frame has none either.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

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

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
