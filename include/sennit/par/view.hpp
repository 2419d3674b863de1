// SPDX-License-Identifier: Apache-2.0
// par::view and par::views: a chain of steps over a range that runs as one parallel loop.
//
//     namespace views = sennit::par::views;
//     double open = (sennit::par::view(orders) | views::filter(is_open)
//                    | views::transform(&order::price)).sum();
//     auto names = (sennit::par::view(people) | views::transform(&person::name)).collect();
//
// Use it where an algorithm of `sennit::par` would need a temporary range between two steps, and
// where a filter stands in front of a reduction. `std::views::transform`, `iota`, `take` and `drop`
// are ranges that `par::view` takes, too.
//
// Guarantees. Nothing runs before the last step, a member of the chain, is called. That call passes
// each element through all steps, and allocates nothing, except for `collect`. The functions are
// called by several workers at the same time. Values meet in the order of their elements. A chain
// may be run more than once. It refers to the range if that is an lvalue, and otherwise keeps it.
// Exceptions and cancellation as for `par::for_each`; a function may block.
//
// Cost: the loop that you would write by hand, and that of `par::for_each`.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

#include <vector>

namespace sennit::par {

namespace detail {

// A step passes on element x with the index i: `pass(i, x, next)` calls `next(y)` or does not.
// `indexed` says that it calls `next` exactly once. `passed<X>` is the type of y.
struct first_step {
    static constexpr bool indexed = true;
    template <class X>
    using passed = X;

    std::size_t limit(std::size_t n) const noexcept { return n; }
    template <class X, class Next>
    [[gnu::always_inline]] void pass(std::size_t, X&& x, Next&& next) const {
        next(std::forward<X>(x));
    }
};

template <class Before, class Step>
struct chained {
    static constexpr bool indexed = Before::indexed && Step::indexed;
    template <class X>
    using passed = typename Step::template passed<typename Before::template passed<X>>;

    Before before;
    Step step;

    std::size_t limit(std::size_t n) const { return step.limit(before.limit(n)); }
    template <class X, class Next>
    [[gnu::always_inline]] void pass(std::size_t i, X&& x, Next&& next) const {
        before.pass(i, std::forward<X>(x), [&, this](auto&& y) __attribute__((always_inline)) {
            step.pass(i, std::forward<decltype(y)>(y), next);
        });
    }
};

template <class F>
struct transform_step {
    static constexpr bool indexed = true;
    static constexpr bool needs_index = false;
    template <class X>
    using passed = std::invoke_result_t<const F&, X>;

    F f;

    std::size_t limit(std::size_t n) const noexcept { return n; }
    template <class X, class Next>
    [[gnu::always_inline]] void pass(std::size_t, X&& x, Next&& next) const {
        next(std::invoke(f, std::forward<X>(x)));
    }
};

template <class Test>
struct filter_step {
    static constexpr bool indexed = false;
    static constexpr bool needs_index = false;
    template <class X>
    using passed = X;

    Test test;

    std::size_t limit(std::size_t n) const noexcept { return n; }
    template <class X, class Next>
    [[gnu::always_inline]] void pass(std::size_t, X&& x, Next&& next) const {
        if (std::invoke(test, std::as_const(x))) next(std::forward<X>(x));
    }
};

struct enumerate_step {
    static constexpr bool indexed = true;
    static constexpr bool needs_index = true;
    template <class X>
    using passed = std::pair<std::size_t, X>;

    std::size_t limit(std::size_t n) const noexcept { return n; }
    template <class X, class Next>
    [[gnu::always_inline]] void pass(std::size_t i, X&& x, Next&& next) const {
        next(std::pair<std::size_t, X&&>(i, std::forward<X>(x)));
    }
};

template <class I>
struct zip_step {
    static constexpr bool indexed = true;
    static constexpr bool needs_index = true;
    template <class X>
    using passed = std::pair<X, std::iter_reference_t<I>>;

    I other;
    std::size_t n;

    std::size_t limit(std::size_t most) const noexcept { return std::min(n, most); }
    template <class X, class Next>
    [[gnu::always_inline]] void pass(std::size_t i, X&& x, Next&& next) const {
        next(std::pair<X&&, std::iter_reference_t<I>>(std::forward<X>(x), *advanced(other, i)));
    }
};

// A value that does not refer to an element.
template <class T>
struct stored {
    using type = T;
};
template <class A, class B>
struct stored<std::pair<A, B>> {
    using type = std::pair<typename stored<std::remove_cvref_t<A>>::type,
                           typename stored<std::remove_cvref_t<B>>::type>;
};

// Passes the elements of a chunk through the steps to `sink`.
template <class I, class Steps, class Sink>
[[gnu::always_inline]] inline void pass_elements(const I& begin, const Steps& steps,
                                                 std::size_t first, std::size_t last,
                                                 const Sink& sink) {
    I at = advanced(begin, first);
    for (; first != last; ++first, (void)++at) steps.pass(first, *at, sink);
}

// Folds the values that arrive with `op`; the first one becomes the partial value of the range.
template <class T, class I, class Steps, class Op>
struct view_fold_work {
    using value_type = T;
    static constexpr bool never_throws = false;

    I begin;
    Steps steps;
    Op op;

    [[gnu::always_inline]] void run(std::optional<T>& value, std::size_t first,
                                    std::size_t last) const {
        for (; !value && first != last; ++first)
            pass_elements(begin, steps, first, first + 1,
                          [&value](auto&& x) { value.emplace(std::forward<decltype(x)>(x)); });
        if (first == last) return;
        T sum = std::move(*value); // a local variable, which can live in a register
        pass_elements(begin, steps, first, last, [&sum, this](auto&& x) {
            sum = static_cast<T>(
                std::invoke(op, std::move(sum), static_cast<T>(std::forward<decltype(x)>(x))));
        });
        *value = std::move(sum);
    }
    T join(T low, T high) const {
        return static_cast<T>(std::invoke(op, std::move(low), std::move(high)));
    }
};

// Counts the values that arrive, without looking at them.
template <class I, class Steps>
struct view_count_work {
    using value_type = std::size_t;
    static constexpr bool never_throws = false;

    I begin;
    Steps steps;

    void run(std::optional<std::size_t>& value, std::size_t first, std::size_t last) const {
        std::size_t count = value.value_or(0);
        pass_elements(begin, steps, first, last, [&count](auto&&) { ++count; });
        value = count;
    }
    std::size_t join(std::size_t low, std::size_t high) const noexcept { return low + high; }
};

template <class T, class I, class Steps>
struct view_collect_work {
    using value_type = std::vector<T>;
    static constexpr bool never_throws = false;

    I begin;
    Steps steps;

    void run(std::optional<std::vector<T>>& value, std::size_t first, std::size_t last) const {
        if (!value) value.emplace();
        std::vector<T>& all = *value;
        pass_elements(begin, steps, first, last,
                      [&all](auto&& x) { all.push_back(T(std::forward<decltype(x)>(x))); });
    }
    std::vector<T> join(std::vector<T> low, std::vector<T> high) const {
        if (low.empty()) return high;
        low.insert(low.end(), std::make_move_iterator(high.begin()),
                   std::make_move_iterator(high.end()));
        return low;
    }
};

} // namespace detail

// A range and the steps behind it. Made by `par::view`, extended by operator| and a step of
// `par::views`, and run by one of the members, which block until all elements have passed.
template <std::ranges::view V, class Steps>
class lazy_view {
    using I = std::ranges::iterator_t<const V>;

public:
    // The type of the values that leave the last step.
    using passed = typename Steps::template passed<std::iter_reference_t<I>>;
    // A copy of such a value; pairs of references become pairs of values.
    using value_type = typename detail::stored<std::remove_cvref_t<passed>>::type;

    lazy_view(const with& options, V range, Steps steps)
        : options_(options), range_(std::move(range)), steps_(std::move(steps)) {}

    // Reduces the values after `init`, in order. `op` must be associative.
    template <class T, class Op = std::plus<>>
    T reduce(T init, Op op = {}) const {
        using work = detail::view_fold_work<T, I, Steps, Op>;
        return std::move(*detail::run_loop(work{begin(), steps_, std::move(op)},
                                           std::optional<T>(std::move(init)), size(), options_));
    }
    // The sum of the values, after value_type().
    value_type sum() const { return reduce(value_type()); }

    // The number of the values.
    std::size_t count() const {
        using work = detail::view_count_work<I, Steps>;
        return detail::run_loop(work{begin(), steps_}, {}, size(), options_).value_or(0);
    }

    // The first one of the least values; empty if there is none.
    template <class Less = std::ranges::less>
    std::optional<value_type> min(Less less = {}) const {
        return extreme([less](const value_type& a, const value_type& b) {
            return static_cast<bool>(std::invoke(less, b, a));
        });
    }
    // The last one of the greatest values; empty if there is none.
    template <class Less = std::ranges::less>
    std::optional<value_type> max(Less less = {}) const {
        return extreme([less](const value_type& a, const value_type& b) {
            return !static_cast<bool>(std::invoke(less, b, a));
        });
    }

    // Calls `f` with each value.
    template <class F>
    void for_each(F&& f) const {
        const detail::shared_callable<std::remove_reference_t<F>> call{f};
        detail::run_chunks(options_, size(),
                           [from = begin(), steps = steps_, call](std::size_t a, std::size_t b) {
                               detail::pass_elements(from, steps, a, b, [&call](auto&& x) {
                                   std::invoke(call.call, std::forward<decltype(x)>(x));
                               });
                           });
    }

    // Returns the values in a vector, in order.
    std::vector<value_type> collect() const {
        using work = detail::view_collect_work<value_type, I, Steps>;
        auto all = detail::run_loop(work{begin(), steps_}, {}, size(), options_);
        return all ? std::move(*all) : std::vector<value_type>();
    }

    // Writes the values to a range, as many as fit, and returns the end of the written part. Only
    // for chains without a filter.
    template <detail::divisible_range OR>
        requires(Steps::indexed && detail::writes<passed, std::ranges::iterator_t<OR>>)
    std::ranges::borrowed_iterator_t<OR> into(OR&& out) const {
        const std::size_t n = std::min(size(), detail::size_of(out));
        const auto to = std::ranges::begin(out);
        detail::run_chunks(
            options_, n, [from = begin(), steps = steps_, to](std::size_t a, std::size_t b) {
                auto in = detail::advanced(from, a);
                auto at = detail::advanced(to, a);
                for (; a != b; ++a, (void)++in, (void)++at)
                    steps.pass(a, *in, [&at](auto&& x) { *at = std::forward<decltype(x)>(x); });
            });
        return detail::borrowed_iterator<OR>(detail::advanced(to, n));
    }

    // Adds a step. `Step` is made by one of par::views.
    template <class Step>
        requires requires { Step::needs_index; }
    friend auto operator|(lazy_view before, Step step) {
        static_assert(Steps::indexed || !Step::needs_index,
                      "sennit: par::views::enumerate and zip count the elements of the range; put "
                      "them in front of the filter");
        using steps = detail::chained<Steps, Step>;
        return lazy_view<V, steps>(before.options_, std::move(before.range_),
                                   steps{std::move(before.steps_), std::move(step)});
    }

private:
    I begin() const { return std::ranges::begin(range_); }
    std::size_t size() const { return steps_.limit(detail::size_of(range_)); }

    template <class Takes>
    std::optional<value_type> extreme(const Takes& takes) const {
        const auto better = [&takes](value_type a, value_type b) {
            return takes(a, b) ? std::move(b) : std::move(a);
        };
        using work = detail::view_fold_work<value_type, I, Steps, decltype(better)>;
        std::optional<value_type> found; // A parameter would bring a false warning of g++ 12.
        if (const std::size_t n = size(); n != 0)
            found = detail::run_loop(work{begin(), steps_, better}, {}, n, options_);
        return found;
    }

    with options_;
    V range_;
    Steps steps_;
};

namespace detail {

struct view_calls {
    template <class R>
    static constexpr bool accepts = divisible_range<R> && std::ranges::viewable_range<R> &&
                                    divisible_range<const std::views::all_t<R>>;

    template <class R>
        requires(accepts<R>)
    auto operator()(const with& options, R&& range) const {
        return lazy_view<std::views::all_t<R>, first_step>(
            options, std::views::all(std::forward<R>(range)), first_step());
    }
    template <class R>
        requires(accepts<R>)
    auto operator()(R&& range) const {
        return (*this)(automatic, std::forward<R>(range));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::view takes the options or nothing, and a range with random "
                      "access and a size, whose constant form can be read");
    }
};

} // namespace detail

// view(range), also with options in front: a chain without steps over the range.
inline constexpr detail::algorithm<detail::view_calls> view{};

namespace views {

// Passes on f(value).
template <class F>
detail::transform_step<F> transform(F f) {
    return {std::move(f)};
}
// Passes on the values with test(value).
template <class Test>
detail::filter_step<Test> filter(Test test) {
    return {std::move(test)};
}
// Passes on pairs of the index in the range and the value. Must stand in front of all filters.
inline detail::enumerate_step enumerate() {
    return {};
}
// Passes on pairs of the value and the element of `other` with its index, as far as both reach.
// Must stand in front of all filters. `other` must live as long as the chain.
template <detail::divisible_range R>
    requires std::ranges::borrowed_range<R>
detail::zip_step<std::ranges::iterator_t<R>> zip(R&& other) {
    return {std::ranges::begin(other), detail::size_of(other)};
}

} // namespace views

} // namespace sennit::par
