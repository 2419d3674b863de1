// SPDX-License-Identifier: Apache-2.0
// set_path: the way of the set algorithms through two sorted ranges, and where it can be cut.
//
// Each step of the serial algorithm compares the next elements of both ranges. It takes the smaller
// one, or both if they are equal. The way is therefore a sequence of places (i, j), where i and j
// elements have been taken. i + j grows by one or two with each step. The way can be cut at any
// number d: the cut is the first place with i + j >= d. `cut` finds the place by searches, without
// walking there.
//
// In a group of equal elements, m in the first range and k in the second one, the first min(m, k)
// steps take pairs. The rest of the longer part follows. A cut inside a group needs only the begin
// of the group and its lengths. So a long group is divided, too.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par::detail {

struct set_place {
    std::size_t taken1;
    std::size_t taken2;
    std::size_t sum() const noexcept { return taken1 + taken2; }
};

template <class I1, class I2, class Less, class Proj1, class Proj2>
struct set_path {
    using less_type = Less;
    using proj1_type = Proj1;
    using proj2_type = Proj2;

    I1 first1;
    std::size_t n1;
    I2 first2;
    std::size_t n2;
    [[no_unique_address]] shared_callable<Less> less;
    [[no_unique_address]] shared_callable<Proj1> proj1;
    [[no_unique_address]] shared_callable<Proj2> proj2;

    // True for keys whose comparison is cheaper than a branch that is often mispredicted.
    static constexpr bool cheap_keys =
        std::is_arithmetic_v<std::remove_cvref_t<projected_t<I1, Proj1>>> &&
        std::is_arithmetic_v<std::remove_cvref_t<projected_t<I2, Proj2>>>;

    std::size_t length() const noexcept { return n1 + n2; }

    // Returns the first place of the way with a sum of at least `sum`. `near` is a place at or in
    // front of it; the search takes time by the logarithm of the distance.
    set_place cut(std::size_t sum, const set_place& near) const {
        if (sum <= near.sum()) return near;
        if (sum >= length()) return {n1, n2};
        own_copy<Less> compare = less.call;
        own_copy<Proj1> part1 = proj1.call;
        own_copy<Proj2> part2 = proj2.call;
        const auto key1 = [&](std::size_t i) -> decltype(auto) {
            return std::invoke(part1, *advanced(first1, i));
        };
        const auto key2 = [&](std::size_t j) -> decltype(auto) {
            return std::invoke(part2, *advanced(first2, j));
        };
        // The place that a stable merge has reached after `sum` elements, see merge.hpp. The merge
        // takes the elements of the first range earlier than the way does.
        const std::size_t least = std::max(near.taken1, sum > n2 ? sum - n2 : 0);
        const std::size_t most = std::min(sum, n1);
        const std::size_t i =
            least + leading_near(most - least, [&](std::size_t k) -> bool {
                return !std::invoke(compare, key2(sum - least - k - 1), key1(least + k));
            });
        const std::size_t j = sum - i;
        // The next element of the merge belongs to a group, whose begin is at or before the place.
        const auto cut_group = [&](auto&& key) {
            const std::size_t same1 = leading_near(i, [&](std::size_t k) -> bool {
                return !std::invoke(compare, key1(i - k - 1), key);
            });
            const std::size_t same2 = leading_near(j, [&](std::size_t k) -> bool {
                return !std::invoke(compare, key2(j - k - 1), key);
            });
            const std::size_t m = same1 + leading_near(n1 - i, [&](std::size_t k) -> bool {
                                      return !std::invoke(compare, key, key1(i + k));
                                  });
            const std::size_t n = same2 + leading_near(n2 - j, [&](std::size_t k) -> bool {
                                      return !std::invoke(compare, key, key2(j + k));
                                  });
            const std::size_t inside = same1 + same2;
            const std::size_t pairs = std::min({m, n, inside / 2 + inside % 2});
            const std::size_t rest = inside > 2 * pairs ? inside - 2 * pairs : 0;
            return set_place{i - same1 + std::min(m, pairs + (m > n ? rest : 0)),
                             j - same2 + std::min(n, pairs + (m > n ? 0 : rest))};
        };
        if (i < n1 && (j == n2 || !std::invoke(compare, key2(j), key1(i))))
            return cut_group(key1(i));
        return cut_group(key2(j));
    }

private:
    // Returns how many of the first `n` numbers satisfy `test`, if none behind them does. Takes
    // time by the logarithm of the result.
    template <class Test>
    static std::size_t leading_near(std::size_t n, const Test& test) {
        std::size_t low = 0;
        std::size_t step = 1;
        while (low + step <= n && test(low + step - 1)) {
            low += step;
            step *= 2;
        }
        std::size_t high = std::min(n, low + step - 1);
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (test(middle))
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
};

} // namespace sennit::par::detail
