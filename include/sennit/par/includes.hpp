// SPDX-License-Identifier: Apache-2.0
// par::includes: says whether a sorted range contains all elements of another sorted range, in
// parallel.
//
//     bool complete = sennit::par::includes(delivered, ordered);
//
// Of a group of k equal elements in the second range, the first range must hold at least k. All
// workers stop soon after one of them has found an element that is missing.
//
// Guarantees, exceptions, cancellation and cost as for `par::for_each`; the comparison may be
// called for some elements behind a missing one. A worker that joins in needs about 2 log2(n)
// comparisons to find its place in both ranges.
#pragma once

#include "sennit/par/detail/quicksort.hpp"
#include "sennit/par/mismatch.hpp"

namespace sennit::par {

namespace detail {

// The elements of the second range are visited. The state is the number of elements of the first
// range in front of the place where the next one is searched.
template <class I1, class I2, class Less, class Proj1, class Proj2>
struct includes_work {
    using state_type = std::size_t;
    using value_type = no_value;
    static constexpr bool never_throws = false;

    I1 first1;
    std::size_t n1;
    I2 first2;
    loop_control** control;
    base::atomic<bool>* missing;
    shared_callable<Less> less;
    shared_callable<Proj1> proj1;
    shared_callable<Proj2> proj2;

    state_type start(std::size_t place) const {
        own_copy<Less> compare = less.call;
        own_copy<Proj1> part1 = proj1.call;
        own_copy<Proj2> part2 = proj2.call;
        auto&& key = std::invoke(part2, *advanced(first2, place));
        const std::size_t group = leading_count(first2, place, [&](auto&& element) -> bool {
            return std::invoke(compare, std::invoke(part2, element), key);
        });
        const std::size_t found = leading_count(first1, n1, [&](auto&& element) -> bool {
            return std::invoke(compare, std::invoke(part1, element), key);
        });
        // The equal elements in front of `place` have taken one element each.
        return std::min(n1, found + (place - group));
    }

    void run(std::optional<no_value>&, std::size_t from, std::size_t to, state_type& state) const {
        if (missing->load_rlx()) return; // A hint, which saves work.
        own_copy<Less> compare = less.call;
        own_copy<Proj1> part1 = proj1.call;
        own_copy<Proj2> part2 = proj2.call;
        std::size_t i = state;
        I1 at1 = advanced(first1, i);
        I2 at2 = advanced(first2, from);
        for (; from != to; ++from, (void)++at2) {
            auto&& key = std::invoke(part2, *at2);
            while (i != n1 && std::invoke(compare, std::invoke(part1, *at1), key)) {
                ++i;
                ++at1;
            }
            if (i == n1 || std::invoke(compare, key, std::invoke(part1, *at1))) {
                missing->store(true);
                (*control)->stop_at(0);
                return;
            }
            ++i;
            ++at1;
        }
        state = i;
    }
    no_value join(no_value, no_value) const noexcept { return {}; }
};

struct includes_algorithm : pairwise {
    template <class I1, class I2, class Less, class Proj1, class Proj2>
    static constexpr bool accepts =
        compares<Less, I1, I2, Proj1, Proj2> && compares<Less, I2, I1, Proj2, Proj1> &&
        compares<Less, I2, I2, Proj2, Proj2>;

    template <class I1, class I2, class Less, class Proj1, class Proj2>
    static bool run(const with& options, I1 first1, std::size_t n1, I2 first2, std::size_t n2,
                    Less& less, Proj1& proj1, Proj2& proj2) {
        if (n2 > n1) return false;
        if (n2 == 0) return true;
        using work = includes_work<I1, I2, Less, Proj1, Proj2>;
        base::atomic<bool> missing{false};
        loop_control* control = nullptr;
        const work all{first1, n1, first2, &control, &missing, {less}, {proj1}, {proj2}};
        lazy_loop<work> loop(all, options);
        control = &loop;
        run_whole(loop, {}, n2);
        return !missing.load();
    }
};

} // namespace detail

// includes(range1, range2, comp = less, proj1 = {}, proj2 = {}), includes(first1, last1, first2,
// last2, …), both with options in front. Blocks until no worker examines an element any more.
// Returns whether range1 contains the elements of range2. Throws the exception of a comparison, and
// `cancelled`.
inline constexpr detail::algorithm<
    detail::pair_calls<detail::includes_algorithm, std::ranges::less>>
    includes{};

} // namespace sennit::par
