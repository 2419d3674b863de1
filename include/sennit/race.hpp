// SPDX-License-Identifier: Apache-2.0
// race: runs several functions at the same time and returns the first result. The other functions
// are cancelled.
//
//     const page p = sennit::race([&] { return fetch(mirror_a); }, [&] { return fetch(mirror_b);
//     });
//
// Use it for alternatives of which one is enough: mirrors, hedged requests, a cache against a
// server. For a call against a time limit use `with_timeout`. `wait_first_success` differs: it
// takes futures of work that runs already, and neither cancels nor awaits the losers.
//
// Each function runs in a fiber of its own, in a nursery. The first function that returns wins. Its
// return cancels the other functions, and `race` returns when all of them have ended, so nothing
// that they use must live longer. An exception makes a function lose and cancels nothing. If all
// functions throw, `race` throws an exception_list with the exceptions in the order of the
// functions; the list is empty if there were no functions.
// Blocking: until all functions have ended. Cancellation: throws `cancelled`, and cancels all
// functions. Thread safety: any thread or fiber may call it. Cost: a child of a nursery for each
// function.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/exception_list.hpp"
#include "sennit/nursery.hpp"

#include <concepts>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

struct no_value {};

template <class R>
class race_of {
    using kept = std::conditional_t<std::is_void_v<R>, no_value, R>;

public:
    // Starts a function, which lives until `result` has returned or thrown.
    template <class F>
    void enter(F& function) {
        std::exception_ptr& error = errors_.emplace_back();
        family_.start([this, &error, &function] { run(error, function); });
    }
    R result() {
        family_.join();
        if (!winner_) throw exception_list({errors_.begin(), errors_.end()});
        if constexpr (!std::is_void_v<R>) return std::move(*winner_);
    }

private:
    template <class F>
    void run(std::exception_ptr& error, F& function) {
        try {
            if constexpr (std::is_void_v<R>) {
                std::invoke(function);
                if (first()) winner_.emplace();
            } else {
                R value = std::invoke(function);
                if (first()) winner_.emplace(std::move(value));
            }
        } catch (const cancelled&) {
            if (family_.cancelled()) throw; // by the winner, or from above
            error = std::current_exception();
            return;
        } catch (...) {
            error = std::current_exception();
            return;
        }
        family_.cancel();
    }
    bool first() noexcept {
        std::lock_guard guard(lock_);
        return !std::exchange(decided_, true);
    }

    base::spin_lock lock_; // guards decided_
    bool decided_ = false;
    std::optional<kept> winner_;            // of the function that `first` has chosen
    std::deque<std::exception_ptr> errors_; // one for each function; they stay where they are
    nursery family_; // last, so that the functions end before the other members
};

template <class... F>
using race_result = std::common_type_t<std::invoke_result_t<F&>...>;

template <class... F>
concept racers = (std::invocable<F&> && ...) && requires { typename race_result<F...>; };

} // namespace detail

// Calls all functions at the same time and returns the first result, converted to the common type
// of the results.
template <class... F>
    requires(sizeof...(F) > 1) && detail::racers<F...>
detail::race_result<F...> race(F&&... functions) {
    detail::race_of<detail::race_result<F...>> all;
    (all.enter(functions), ...);
    return all.result();
}
// Calls all functions of the range at the same time and returns the first result.
template <std::ranges::forward_range R>
    requires std::is_lvalue_reference_v<std::ranges::range_reference_t<R>> &&
             detail::racers<std::ranges::range_reference_t<R>>
detail::race_result<std::ranges::range_reference_t<R>> race(R&& functions) {
    detail::race_of<detail::race_result<std::ranges::range_reference_t<R>>> all;
    for (auto& one : functions) all.enter(one);
    return all.result();
}
// Explains a call that the other overloads refuse.
template <class... F>
base::refused_call race(F&&...) {
    static_assert(base::refused<F...>,
                  "sennit: race takes two or more functions, or a container of functions; it calls "
                  "them without arguments, and their results have a common type");
    return {};
}

} // namespace sennit
