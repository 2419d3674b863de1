// SPDX-License-Identifier: Apache-2.0
// The reductions: a fold over a lazy loop, and a fold over a fixed tree of blocks.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

#include <algorithm>

namespace sennit::par::detail {

// Folds the values of a source with `reduce`. `source.at(i)` is a cursor at index i: `value()`
// returns the value there, `next()` moves to the next index.
template <class T, class Source, class Reduce>
struct fold_work {
    using value_type = T;
    using cursor = decltype(std::declval<const Source&>().at(std::size_t()));
    using element = decltype(std::declval<cursor&>().value());
    static constexpr bool never_throws =
        Source::never_throws && std::is_nothrow_constructible_v<T, element> &&
        std::is_nothrow_invocable_v<Reduce&, T, T> &&
        std::is_nothrow_constructible_v<T, std::invoke_result_t<Reduce&, T, T>> &&
        std::is_nothrow_move_assignable_v<T> && std::is_nothrow_move_constructible_v<T>;

    [[no_unique_address]] Source source;
    [[no_unique_address]] own_copy<Reduce> reduce;

    [[gnu::always_inline]] void run(std::optional<T>& value, std::size_t first,
                                    std::size_t last) const {
        own_copy<Reduce> add = reduce;
        cursor at = source.at(first);
        std::size_t left = last - first;
        if (!value) {
            value.emplace(at.value());
            at.next();
            --left;
        }
        T sum = std::move(*value); // a local variable, which can live in a register
        // The additions of a group do not wait for each other. Compilers may not regroup
        // floating-point numbers, and regroup integers by themselves.
        if constexpr (std::is_floating_point_v<T>) {
            const auto next = [&] {
                T here = static_cast<T>(at.value());
                at.next();
                return here;
            };
            const auto two = [&] {
                T low = next();
                T high = next();
                return static_cast<T>(std::invoke(add, std::move(low), std::move(high)));
            };
            const auto four = [&] {
                T low = two();
                T high = two();
                return static_cast<T>(std::invoke(add, std::move(low), std::move(high)));
            };
            for (; left >= 8; left -= 8) {
                T low = four();
                T high = four();
                T group = static_cast<T>(std::invoke(add, std::move(low), std::move(high)));
                sum = static_cast<T>(std::invoke(add, std::move(sum), std::move(group)));
            }
        }
        for (; left != 0; --left, at.next())
            sum = static_cast<T>(std::invoke(add, std::move(sum), static_cast<T>(at.value())));
        *value = std::move(sum);
    }
    T join(T low, T high) const {
        own_copy<Reduce> add = reduce;
        return std::invoke(add, std::move(low), std::move(high));
    }
};

// The type that a cursor returns: never a reference to a temporary.
template <class T>
using returned_t = std::conditional_t<std::is_rvalue_reference_v<T>, std::remove_cvref_t<T>, T>;

// The elements of one range, transformed.
template <class I, class F>
struct one_source {
    static constexpr bool never_throws =
        never_throws_going<I> && std::is_nothrow_invocable_v<F&, std::iter_reference_t<I>>;

    struct cursor {
        I iterator;
        own_copy<F> transform;
        [[gnu::always_inline]] returned_t<std::invoke_result_t<F&, std::iter_reference_t<I>>>
        value() {
            return std::invoke(transform, *iterator);
        }
        [[gnu::always_inline]] void next() { ++iterator; }
    };
    [[gnu::always_inline]] cursor at(std::size_t index) const {
        return {advanced(begin, index), transform};
    }

    I begin;
    [[no_unique_address]] own_copy<F> transform;
};

// The elements of two ranges, combined by one function.
template <class I1, class I2, class F>
struct two_sources {
    static constexpr bool never_throws =
        never_throws_going<I1> && never_throws_going<I2> &&
        std::is_nothrow_invocable_v<F&, std::iter_reference_t<I1>, std::iter_reference_t<I2>>;

    struct cursor {
        I1 iterator1;
        I2 iterator2;
        own_copy<F> transform;
        using result =
            std::invoke_result_t<F&, std::iter_reference_t<I1>, std::iter_reference_t<I2>>;
        [[gnu::always_inline]] returned_t<result> value() {
            return std::invoke(transform, *iterator1, *iterator2);
        }
        [[gnu::always_inline]] void next() {
            ++iterator1;
            ++iterator2;
        }
    };
    [[gnu::always_inline]] cursor at(std::size_t index) const {
        return {advanced(begin1, index), advanced(begin2, index), transform};
    }

    I1 begin1;
    I2 begin2;
    own_copy<F> transform;
};

// Evaluates the deterministic tree over the blocks [first, last), of which there is at least one.
template <class Work>
typename Work::value_type fold_block(const Work& work, std::size_t block, std::size_t count,
                                     std::size_t index) {
    partial<Work> value;
    run_chunk<Work>(work, value, index * block,
                    std::min(count - index * block, block) + index * block);
    return std::move(*value);
}
template <class Work>
typename Work::value_type fold_blocks(const Work& work, std::size_t block, std::size_t count,
                                      std::size_t first, std::size_t last) {
    if (last - first == 1) return fold_block(work, block, count, first);
    const std::size_t half = first + (last - first) / 2;
    auto lower = [&] { return fold_blocks(work, block, count, first, half); };
    auto upper = [&] { return fold_blocks(work, block, count, half, last); };
    auto [low, high] = sennit::detail::fork_two_on_worker(lower, upper);
    return work.join(std::move(low), std::move(high));
}

// fold_blocks for a loop that is in a scope or has a limit of workers. Throws `cancelled`.
template <class Work>
typename Work::value_type fold_blocks_special(lazy_loop<Work>& loop, std::size_t block,
                                              std::size_t count, std::size_t first,
                                              std::size_t last) {
    if (last - first == 1) {
        if (loop.dropped(0)) throw sennit::cancelled();
        return fold_block(loop.work, block, count, first);
    }
    const std::size_t half = first + (last - first) / 2;
    auto lower = [&] { return fold_blocks_special(loop, block, count, first, half); };
    auto upper = [&] { return fold_blocks_special(loop, block, count, half, last); };
    if (!loop.take_place()) {
        auto low = lower();
        return loop.work.join(std::move(low), upper());
    }
    auto lower_then_place = [&] {
        loop_control::place_guard place(loop);
        return lower();
    };
    auto upper_in_scope = [&] {
        stolen_scope scope(loop);
        return upper();
    };
    auto [low, high] = sennit::detail::fork_two_on_worker(lower_then_place, upper_in_scope);
    return loop.work.join(std::move(low), std::move(high));
}

inline std::size_t block_size(std::size_t count, const with& options) noexcept {
    if (options.min_grain != 0) return options.min_grain;
    return std::clamp<std::size_t>(count / 256, 1, 4096);
}

template <class Work>
typename Work::value_type fold_in_blocks(const Work& work, typename Work::value_type init,
                                         std::size_t count, const with& options) {
    if (count == 0) return init;
    const std::size_t block = block_size(count, options);
    const std::size_t blocks = count / block + (count % block != 0);
    auto all = [&] {
        return work.join(std::move(init), fold_blocks(work, block, count, 0, blocks));
    };
    lazy_loop<Work> loop(work, options);
    auto all_special = [&] {
        return work.join(std::move(init), fold_blocks_special(loop, block, count, 0, blocks));
    };
    if (loop.limited() || loop.in_scope())
        return sched::free_slot() ? all_special() : sennit::detail::on_default_runtime(all_special);
    return sched::free_slot() ? all() : sennit::detail::on_default_runtime(all);
}

// Reduces `count` values of `source` after `init`.
template <class T, class Source, class Reduce>
T fold(const with& options, T init, std::size_t count, const Source& source, Reduce& reduce) {
    const fold_work<T, Source, Reduce> work{source, reduce};
    if (options.deterministic) return fold_in_blocks(work, std::move(init), count, options);
    return std::move(*run_loop(work, std::optional<T>(std::move(init)), count, options));
}

template <class T, class F, class... I>
concept transform_to =
    std::invocable<F&, std::iter_reference_t<I>...> &&
    std::convertible_to<std::invoke_result_t<F&, std::iter_reference_t<I>...>, T>;
template <class T, class F>
concept reduction_of =
    std::invocable<F&, T, T> && std::convertible_to<std::invoke_result_t<F&, T, T>, T>;

} // namespace sennit::par::detail
