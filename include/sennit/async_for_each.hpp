// SPDX-License-Identifier: Apache-2.0
// async_for_each: awaits a task for each element of a range or of a channel, a bounded number of
// them at a time.
//
//     co_await sennit::async_for_each(addresses, 16, [&](const url& u) -> sennit::task<> {
//         store(co_await fetch(u));
//     });
//     co_await sennit::async_for_each(requests, 16, handle); // until the channel is closed
//
// Use it for many inputs that wait. For computation use par::for_each, which divides the range
// among the workers.
//
// The elements are taken in order, one whenever a task has ended, so a lazy range or a channel is
// read no faster than it is served. At most `most` strands are made, which share the function. If a
// task throws, the other tasks are cancelled and no element is taken any more; the await throws the
// first exception once all have ended. The range and the function must outlive the await. An
// element of an input range is moved into a variable that lives as long as its task. `most` must
// not be zero: std::invalid_argument.
#pragma once

#include "sennit/async_all.hpp"
#include "sennit/channel.hpp"
#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/mutex.hpp"
#include "sennit/task/task.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

namespace detail {

[[noreturn]] void refuse_zero_tasks();

// Hands out the elements of a range, one at a time.
template <class Range>
class element_source {
    using iterator = std::ranges::iterator_t<Range>;
    using reference = std::ranges::range_reference_t<Range>;
    static constexpr bool stays =
        std::ranges::forward_range<Range> && std::is_reference_v<reference>;

public:
    // The element's address, or its value if the range does not keep it.
    using element = std::conditional_t<stays, std::remove_reference_t<reference>*,
                                       std::optional<std::ranges::range_value_t<Range>>>;

    explicit element_source(Range& range) : next_(std::ranges::begin(range)), range_(range) {}
    mutex& lock() noexcept { return lock_; }
    // Called with the lock held. Empty: there is none.
    element take() {
        if (next_ == std::ranges::end(range_)) return {};
        element one = [&]() -> element {
            if constexpr (stays)
                return std::addressof(*next_);
            else
                return *next_;
        }();
        ++next_;
        return one;
    }

private:
    mutex lock_;
    iterator next_;
    Range& range_;
};

template <class Range, class F>
task<void> serve_range(element_source<Range>& from, F& function) {
    for (;;) {
        std::unique_lock<mutex> held = co_await from.lock().async_scoped_lock();
        typename element_source<Range>::element one = from.take();
        held.unlock();
        if (!one) co_return;
        co_await std::invoke(function, *one);
    }
}

template <class T, class F>
task<void> serve_channel(channel<T>& from, F& function) {
    for (;;) {
        std::optional<T> one = co_await from.async_pop();
        if (!one) co_return;
        co_await std::invoke(function, *std::move(one));
    }
}

// Runs `count` tasks that `make()` returns, and waits for all. Throws the first exception.
// `made_at`: the code that called async_for_each, for reports.
template <class Make>
task<void> serve_with(const void* made_at, std::size_t count, Make make) {
    if (count == 0) refuse_zero_tasks();
    std::vector<task<void>> tasks;
    for (std::size_t i = 0; i < count; ++i) tasks.push_back(make());
    co_await run_all(made_at, std::move(tasks));
}

template <class Range, class F>
task<void> for_each_element(const void* made_at, Range& range, std::size_t most, F function) {
    element_source<Range> source(range);
    std::size_t count = most;
    if constexpr (std::ranges::sized_range<Range>)
        if (most != 0)
            count = std::max<std::size_t>(
                1, std::min(most, static_cast<std::size_t>(std::ranges::size(range))));
    co_await serve_with(made_at, count,
                        [&source, &function] { return serve_range<Range>(source, function); });
}
template <class T, class F>
task<void> for_each_received(const void* made_at, channel<T>& from, std::size_t most, F function) {
    co_await serve_with(made_at, most,
                        [&from, &function] { return serve_channel(from, function); });
}

} // namespace detail

// Awaits `function(element)` for each element, at most `most` at a time.
template <std::ranges::input_range Range, class F>
    requires detail::returns_task<F&, std::ranges::range_reference_t<Range>>
[[gnu::always_inline]] inline task<void> async_for_each(Range& range, std::size_t most,
                                                        F function) {
    return detail::for_each_element(sched::here(), range, most, std::move(function));
}

// Awaits `function(value)` for each value of the channel until it is closed and drained, at most
// `most` at a time.
template <class T, class F>
    requires detail::returns_task<F&, T>
[[gnu::always_inline]] inline task<void> async_for_each(channel<T>& from, std::size_t most,
                                                        F function) {
    return detail::for_each_received(sched::here(), from, most, std::move(function));
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
