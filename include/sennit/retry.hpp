// SPDX-License-Identifier: Apache-2.0
// retry: calls a function until it returns, with growing delays between the attempts.
//
//     const reply r = sennit::retry({.attempts = 5, .backoff = {.first = 10ms, .jitter = 0.5}},
//                                   [&] { return ask(server); },
//                                   sennit::retry_on<std::system_error, sennit::timed_out>);
//
// Use it for calls that may succeed later: a server that restarts, a lock in a database. The call
// must be safe to repeat. To limit one attempt put a `with_timeout` inside the function; to limit
// all attempts together put it around `retry`. To start again an actor that failed use a
// `supervisor`, which has the same `backoff`.
//
// The exception of the last attempt leaves `retry`. An exception that the predicate refuses leaves
// it at once. `cancelled` is never retried, and ends a delay, too: `retry` then throws `cancelled`.
// The function runs in the caller's fiber. Blocking: as the function does, and in the delays, in
// which the worker runs other tasks. Thread safety: any thread or fiber may call it. Cost of a
// successful first attempt: that of a try block.
#pragma once

#include "sennit/backoff.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/detail/base/refused.hpp"

#include <concepts>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

namespace sennit {

struct retry_policy {
    unsigned attempts = 5; // in total, at least 1
    struct backoff backoff{.first = std::chrono::milliseconds(100), .jitter = 0.5};
};

namespace detail {

// Throws std::invalid_argument if the policy is out of range.
void check(const retry_policy& policy);
// Sleeps after failure number `failures`. Throws `cancelled`.
void delay_attempt(const retry_policy& policy, unsigned failures);

template <class P>
concept retry_predicate =
    std::predicate<P&, const std::exception&> || std::predicate<P&, std::exception_ptr>;

template <retry_predicate P>
bool may_retry(P& predicate, std::exception_ptr error) {
    if constexpr (std::predicate<P&, const std::exception&>) {
        try {
            std::rethrow_exception(std::move(error));
        } catch (const std::exception& known) {
            return std::invoke(predicate, known);
        } catch (...) {
            return false; // the predicate knows nothing of it
        }
    } else {
        return std::invoke(predicate, std::move(error));
    }
}

struct retry_all {
    bool operator()(const std::exception_ptr&) const noexcept { return true; }
};

template <class... E>
struct retry_these {
    bool operator()(const std::exception& error) const noexcept {
        return (... || (dynamic_cast<const E*>(&error) != nullptr));
    }
};

} // namespace detail

// A predicate for retry: the exception is of one of the classes, or of a class derived from one.
template <std::derived_from<std::exception>... E>
inline constexpr detail::retry_these<E...> retry_on{};

// Calls `function()` up to `policy.attempts` times, until it returns, and returns its result. After
// an exception, `predicate` decides whether to try again: it gets the exception as a `const
// std::exception&` or as a std::exception_ptr. A predicate of the first form refuses all other
// exceptions. Throws the last exception, `cancelled`, the exceptions of the predicate, and
// std::invalid_argument for a policy that is out of range.
template <class F, class P>
    requires std::invocable<F&> && detail::retry_predicate<P>
std::invoke_result_t<F&> retry(const retry_policy& policy, F&& function, P predicate) {
    detail::check(policy);
    for (unsigned failures = 1;; ++failures) {
        try {
            return std::invoke(function);
        } catch (const cancelled&) {
            throw;
        } catch (...) {
            if (failures >= policy.attempts ||
                !detail::may_retry(predicate, std::current_exception()))
                throw;
        }
        detail::delay_attempt(policy, failures);
    }
}
// Like retry with a predicate that is true for all exceptions.
template <class F>
    requires std::invocable<F&>
std::invoke_result_t<F&> retry(const retry_policy& policy, F&& function) {
    return retry(policy, function, detail::retry_all());
}
// Explain calls that the other overloads refuse.
template <class F, class P>
base::refused_call retry(const retry_policy&, F&&, P) {
    static_assert(base::refused<F, P>,
                  "sennit: retry calls the function without arguments, and the predicate with a "
                  "const std::exception& or a std::exception_ptr; capture arguments in a lambda");
    return {};
}
template <class F>
base::refused_call retry(const retry_policy& policy, F&& function) {
    return retry(policy, function, detail::retry_all());
}

} // namespace sennit
