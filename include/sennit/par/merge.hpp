// SPDX-License-Identifier: Apache-2.0
// par::merge: merges two sorted ranges into an output range, in parallel.
//
//     sennit::par::merge(old_keys, new_keys, all_keys);
//     sennit::par::merge(a, b, out, std::ranges::greater());
//
// The merge is stable: elements of the first range stand in front of equal elements of the second
// one. It writes as many elements as the output has room for. The output must not overlap an input.
//
// Guarantees, exceptions, cancellation and cost as for `par::for_each`. A worker that joins in
// needs about 2 log2(n) comparisons to find its place in both ranges.
#pragma once

#include "sennit/par/detail/branchless_merge.hpp"

namespace sennit::par {

namespace detail {

template <class I1, class I2, class O, class Less, class Proj1, class Proj2>
struct merge_work {
    // The elements of each range that stand in front of a place in the output.
    struct state_type {
        std::size_t taken1;
        std::size_t taken2;
    };
    using value_type = no_value;
    static constexpr bool never_throws = false;
    // Copies of the elements are compared, so that they can be selected without a branch.
    static constexpr bool branchless =
        cheap_to_exchange<I1> && cheap_to_exchange<I2> &&
        std::same_as<std::iter_value_t<I1>, std::iter_value_t<I2>> &&
        compares<Less, const std::iter_value_t<I1>*, const std::iter_value_t<I1>*, Proj2, Proj1> &&
        std::indirectly_writable<O, const std::iter_value_t<I1>&>;

    I1 first1;
    std::size_t n1;
    I2 first2;
    std::size_t n2;
    O out;
    shared_callable<Less> less;
    shared_callable<Proj1> proj1;
    shared_callable<Proj2> proj2;

    bool second_is_less(std::size_t i, std::size_t j) const {
        own_copy<Less> compare = less.call;
        own_copy<Proj1> part1 = proj1.call;
        own_copy<Proj2> part2 = proj2.call;
        return static_cast<bool>(std::invoke(compare, std::invoke(part2, *advanced(first2, j)),
                                             std::invoke(part1, *advanced(first1, i))));
    }

    // Finds the state at `place` by a binary search of the number of elements from the first range.
    state_type start(std::size_t place) const {
        std::size_t low = place > n2 ? place - n2 : 0;
        std::size_t high = std::min(place, n1);
        while (low < high) {
            const std::size_t i = low + (high - low) / 2;
            // Element i of the first range stands in front of `place` unless the last element that
            // the second range would contribute is less than it.
            if (second_is_less(i, place - i - 1))
                high = i;
            else
                low = i + 1;
        }
        return {low, place - low};
    }

    void run(std::optional<no_value>&, std::size_t from, std::size_t to, state_type& state) const {
        auto [i, j] = state;
        I1 at1 = advanced(first1, i);
        I2 at2 = advanced(first2, j);
        O to_at = advanced(out, from);
        own_copy<Less> compare = less.call;
        own_copy<Proj1> part1 = proj1.call;
        own_copy<Proj2> part2 = proj2.call;
        if constexpr (branchless) {
            while (alternates(n1, n2) && from != to && i != n1 && j != n2) {
                const std::size_t steps = std::min({to - from, n1 - i, n2 - j});
                const I1 begin1 = at1;
                branchless_merge(
                    at1, at2, to_at, steps,
                    [&](const auto& x, const auto& y) -> bool {
                        return std::invoke(compare, std::invoke(part2, y), std::invoke(part1, x));
                    },
                    [](const O& place, const auto& value) { *place = value; });
                const auto taken1 = static_cast<std::size_t>(at1 - begin1);
                i += taken1;
                j += steps - taken1;
                from += steps;
            }
        }
        for (; from != to && i != n1 && j != n2; ++from, (void)++to_at) {
            if (std::invoke(compare, std::invoke(part2, *at2), std::invoke(part1, *at1))) {
                *to_at = *at2;
                ++at2;
                ++j;
            } else {
                *to_at = *at1;
                ++at1;
                ++i;
            }
        }
        for (; from != to && i != n1; ++from, ++i, (void)++at1, (void)++to_at) *to_at = *at1;
        for (; from != to && j != n2; ++from, ++j, (void)++at2, (void)++to_at) *to_at = *at2;
        state = {i, j};
    }
    no_value join(no_value, no_value) const noexcept { return {}; }
};

template <class I1, class I2, class O, class Less, class Proj1, class Proj2>
concept merges = compares<Less, I2, I1, Proj2, Proj1> && writes<std::iter_reference_t<I1>, O> &&
                 writes<std::iter_reference_t<I2>, O>;

struct merge_algorithm {
    template <class I1, class I2, class O, class Less, class Proj1, class Proj2>
    static constexpr bool accepts_two = merges<I1, I2, O, Less, Proj1, Proj2>;

    template <class I1, class I2, class O, class Less, class Proj1, class Proj2>
    static std::ranges::in_in_out_result<I1, I2, O>
    run_two(const with& options, I1 first1, std::size_t n1, I2 first2, std::size_t n2, O out,
            std::size_t room, Less& less, Proj1& proj1, Proj2& proj2) {
        using work = merge_work<I1, I2, O, Less, Proj1, Proj2>;
        const work all{first1, n1, first2, n2, out, {less}, {proj1}, {proj2}};
        const std::size_t count = std::min(n1 + n2, room);
        run_loop(all, {}, count, options);
        const auto end = all.start(count);
        return {advanced(first1, end.taken1), advanced(first2, end.taken2), advanced(out, count)};
    }
};

} // namespace detail

// merge(range1, range2, out, comp = less, proj1 = {}, proj2 = {}), merge(first1, last1, first2,
// last2, out, out_last, …), both with options in front. Blocks until all are written. Returns
// {in1, in2, out} where it stopped. Throws the exception of the lowest place of the output whose
// comparison or copy throws, and `cancelled`.
inline constexpr detail::algorithm<
    detail::pair_output_calls<detail::merge_algorithm, std::ranges::less>>
    merge{};

} // namespace sennit::par
