// SPDX-License-Identifier: Apache-2.0
// when_all, when_any: one future for many futures, as in the Concurrency TS. wait_all,
// wait_first_success, wait_all_values: blocking waits for many futures.
//
//     // the first future that is ready
//     auto [index, futures] = sennit::when_any(std::move(mirrors)).get();
//     // all values, or the first error
//     std::vector<int> sums = sennit::wait_all_values(std::move(parts));
//     // the first value
//     page best = sennit::wait_first_success(std::move(attempts));
//
// They take work that runs already, and cancel none of it. `race` starts its functions itself, and
// cancels and awaits the losers.
//
// The functions take future<T> objects, which are moved in. when_all and when_any also take
// shared_future<T> objects, which are copied from lvalues. when_all and when_any never block, and
// errors stay in their futures. The waits block as future::get does and are points of cancellation:
// they throw `cancelled`, and drop the futures that they were given. A when_any leaves nothing
// behind in the futures that were not ready.
// Thread safety: any thread or fiber may call them. Exceptions: future_error (no_state) when a
// future has no state, std::bad_alloc. Cost: two allocations, and for each future a lock and two
// counts.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/exception_list.hpp"
#include "sennit/future.hpp"
#include "sennit/promise.hpp"
#include "sennit/when/detail/gather.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sennit {

// The result of when_any: all futures in their order, and the index of a ready future; SIZE_MAX if
// there are no futures.
template <class Sequence>
struct when_any_result {
    std::size_t index;
    Sequence futures;
};

namespace detail {

// A future that may be taken: an rvalue, or a shared_future.
template <class T>
concept future_argument =
    is_any_future<std::remove_cvref_t<T>> && std::is_constructible_v<std::decay_t<T>, T>;

template <class I>
concept future_iterator = std::input_iterator<I> && is_any_future<std::iter_value_t<I>>;

template <class I, class S>
std::vector<std::iter_value_t<I>> take_futures(I first, S last) {
    std::vector<std::iter_value_t<I>> taken;
    for (; first != last; ++first)
        if constexpr (std::is_copy_constructible_v<std::iter_value_t<I>>)
            taken.push_back(*first);
        else
            taken.push_back(std::ranges::iter_move(first));
    return taken;
}

// The sequence of the values of futures: void for T = void, std::reference_wrapper for references.
template <class T>
struct values_of {
    using type =
        std::vector<std::conditional_t<std::is_reference_v<T>,
                                       std::reference_wrapper<std::remove_reference_t<T>>, T>>;
};
template <>
struct values_of<void> {
    using type = void;
};

} // namespace detail

// Return a future that becomes ready when all the given futures are ready. Do not block.
template <detail::future_argument... F>
future<std::tuple<std::decay_t<F>...>> when_all(F&&... futures) {
    using sequence = std::tuple<std::decay_t<F>...>;
    return detail::gather<sequence>(detail::decisive::none, sequence(std::forward<F>(futures)...));
}
template <class T>
    requires detail::is_any_future<T>
future<std::vector<T>> when_all(std::vector<T> futures) {
    return detail::gather<std::vector<T>>(detail::decisive::none, std::move(futures));
}
template <detail::future_iterator I, std::sentinel_for<I> S>
future<std::vector<std::iter_value_t<I>>> when_all(I first, S last) {
    return when_all(detail::take_futures(std::move(first), std::move(last)));
}

// Return a future that becomes ready when one of the given futures is ready, or immediately if
// there are none. Do not block.
template <detail::future_argument... F>
future<when_any_result<std::tuple<std::decay_t<F>...>>> when_any(F&&... futures) {
    using sequence = std::tuple<std::decay_t<F>...>;
    return detail::gather<when_any_result<sequence>>(detail::decisive::any,
                                                     sequence(std::forward<F>(futures)...));
}
template <class T>
    requires detail::is_any_future<T>
future<when_any_result<std::vector<T>>> when_any(std::vector<T> futures) {
    return detail::gather<when_any_result<std::vector<T>>>(detail::decisive::any,
                                                           std::move(futures));
}
template <detail::future_iterator I, std::sentinel_for<I> S>
future<when_any_result<std::vector<std::iter_value_t<I>>>> when_any(I first, S last) {
    return when_any(detail::take_futures(std::move(first), std::move(last)));
}

// Block until all futures are ready. They take no values, and throw none of the futures' errors.
template <class... F>
    requires(detail::is_any_future<F> && ...)
void wait_all(const F&... futures) {
    (futures.wait(), ...);
}
template <detail::future_iterator I, std::sentinel_for<I> S>
void wait_all(I first, S last) {
    for (; first != last; ++first) (*first).wait();
}
template <class T>
    requires detail::is_any_future<T>
void wait_all(const std::vector<T>& futures) {
    wait_all(futures.begin(), futures.end());
}

// Blocks until one future has a value, and returns the value. When all futures have failed, it
// throws an exception_list with the errors in the order of the futures. The list is empty if there
// are no futures.
template <class T>
T wait_first_success(std::vector<future<T>> futures) {
    using gathered = when_any_result<std::vector<future<T>>>;
    auto [winner, all] =
        detail::gather<gathered>(detail::decisive::value, std::move(futures)).get();
    if (winner != detail::gathering::nobody) return all[winner].get();
    std::vector<std::exception_ptr> errors;
    for (const future<T>& each : all) errors.push_back(detail::future_access::take_error(each));
    throw exception_list(std::move(errors));
}

// Blocks until all futures have values, and returns them in order. Throws the first error as soon
// as there is one. The vector holds T, or std::reference_wrapper<U> when T is U&; the function
// returns void when T is void.
template <class T>
typename detail::values_of<T>::type wait_all_values(std::vector<future<T>> futures) {
    using gathered = when_any_result<std::vector<future<T>>>;
    auto [failed, all] =
        detail::gather<gathered>(detail::decisive::error, std::move(futures)).get();
    if (failed != detail::gathering::nobody)
        std::rethrow_exception(detail::future_access::take_error(all[failed]));
    if constexpr (!std::is_void_v<T>) {
        typename detail::values_of<T>::type values;
        values.reserve(all.size());
        for (future<T>& each : all) values.push_back(each.get());
        return values;
    }
}

// Explains a call that the other overloads refuse.
template <class... F>
base::refused_call when_all(F&&...) {
    static_assert(base::refused<F...>,
                  "sennit: when_all takes futures, and a sennit::future only by std::move; pass "
                  "futures, a std::vector of them, or two iterators");
    return {};
}
template <class... F>
base::refused_call when_any(F&&...) {
    static_assert(base::refused<F...>,
                  "sennit: when_any takes futures, and a sennit::future only by std::move; pass "
                  "futures, a std::vector of them, or two iterators");
    return {};
}
template <class... F>
base::refused_call wait_all(const F&...) {
    static_assert(base::refused<F...>, "sennit: wait_all takes futures; pass futures, a "
                                       "std::vector of them, or two iterators");
    return {};
}

} // namespace sennit
