// SPDX-License-Identifier: Apache-2.0
// par::mismatch, equal, lexicographical_compare, starts_with, ends_with: compare two ranges element
// by element, in parallel. They stop at the first pair that decides.
//
//     bool same = sennit::par::equal(old_image, new_image);
//     auto [at1, at2] = sennit::par::mismatch(expected, actual);
//     bool before = sennit::par::lexicographical_compare(key1, key2);
//
// Guarantees, exceptions, cancellation and cost as for `par::find_if`: the function may be called
// for some pairs behind the pair that decides.
#pragma once

#include "sennit/par/find.hpp"

namespace sennit::par {

namespace detail {

// Returns the first index below `count` at which `test` of the two elements is false, or `count`.
template <class I1, class I2, class Test, class Proj1, class Proj2>
std::size_t first_mismatch(const with& options, I1 first1, I2 first2, std::size_t count, Test& test,
                           Proj1& proj1, Proj2& proj2) {
    if constexpr (std::same_as<std::remove_const_t<Test>, std::ranges::equal_to> &&
                  numbers_in_a_row<I1, std::iter_value_t<I2>, Proj1> &&
                  numbers_in_a_row<I2, std::iter_value_t<I1>, Proj2>) {
        if (count == 0) return 0;
        return search(options, count,
                      [a = std::to_address(first1), b = std::to_address(first2)](std::size_t from,
                                                                                 std::size_t to) {
                          // Vector instructions compare 64 numbers at a time.
                          constexpr std::size_t block = 64;
                          for (; to - from >= block; from += block) {
                              mask_of<std::iter_value_t<I1>> differ = 0; // see find_number
                              for (std::size_t i = 0; i < block; ++i)
                                  differ |= static_cast<mask_of<std::iter_value_t<I1>>>(
                                      !(a[from + i] == b[from + i]));
                              if (differ != 0) break;
                          }
                          while (from != to && a[from] == b[from]) ++from;
                          return from;
                      });
    } else {
        return search(
            options, count,
            [first1, first2, test = shared_callable{test}, proj1 = shared_callable{proj1},
             proj2 = shared_callable{proj2}](std::size_t from, std::size_t to) {
                own_copy<Test> matches = test.call;
                own_copy<Proj1> part1 = proj1.call;
                own_copy<Proj2> part2 = proj2.call;
                I1 at1 = advanced(first1, from);
                I2 at2 = advanced(first2, from);
                for (; from != to; ++from, (void)++at1, (void)++at2)
                    if (!std::invoke(matches, std::invoke(part1, *at1), std::invoke(part2, *at2)))
                        return from;
                return to;
            });
    }
}

struct pairwise {
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static constexpr bool accepts = compares<F, I1, I2, Proj1, Proj2>;
    template <class R1, class R2, class Result>
    static auto borrowed(Result result) {
        return result;
    }
};

struct mismatch_algorithm : pairwise {
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static std::ranges::in_in_result<I1, I2> run(const with& options, I1 first1, std::size_t n1,
                                                 I2 first2, std::size_t n2, F& f, Proj1& proj1,
                                                 Proj2& proj2) {
        const std::size_t found =
            first_mismatch(options, first1, first2, std::min(n1, n2), f, proj1, proj2);
        return {advanced(first1, found), advanced(first2, found)};
    }
    template <class R1, class R2, class Result>
    static auto borrowed(Result result) {
        return borrowed_in_in<R1, R2>(result);
    }
};

struct equal_algorithm : pairwise {
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static bool run(const with& options, I1 first1, std::size_t n1, I2 first2, std::size_t n2, F& f,
                    Proj1& proj1, Proj2& proj2) {
        return n1 == n2 && first_mismatch(options, first1, first2, n1, f, proj1, proj2) == n1;
    }
};

struct starts_with_algorithm : pairwise {
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static bool run(const with& options, I1 first1, std::size_t n1, I2 first2, std::size_t n2, F& f,
                    Proj1& proj1, Proj2& proj2) {
        return n1 >= n2 && first_mismatch(options, first1, first2, n2, f, proj1, proj2) == n2;
    }
};
struct ends_with_algorithm : pairwise {
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static bool run(const with& options, I1 first1, std::size_t n1, I2 first2, std::size_t n2, F& f,
                    Proj1& proj1, Proj2& proj2) {
        return n1 >= n2 && first_mismatch(options, advanced(first1, n1 - n2), first2, n2, f, proj1,
                                          proj2) == n2;
    }
};

struct lexicographical_compare_algorithm : pairwise {
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static constexpr bool accepts =
        compares<F, I1, I2, Proj1, Proj2> && compares<F, I2, I1, Proj2, Proj1>;
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static bool run(const with& options, I1 first1, std::size_t n1, I2 first2, std::size_t n2,
                    F& less, Proj1& proj1, Proj2& proj2) {
        const std::size_t count = std::min(n1, n2);
        const auto equivalent = [less = shared_callable{less}](auto&& a, auto&& b) {
            own_copy<F> compare = less.call;
            return !std::invoke(compare, a, b) && !std::invoke(compare, b, a);
        };
        const std::size_t found =
            first_mismatch(options, first1, first2, count, equivalent, proj1, proj2);
        if (found == count) return n1 < n2;
        return static_cast<bool>(std::invoke(less, std::invoke(proj1, *advanced(first1, found)),
                                             std::invoke(proj2, *advanced(first2, found))));
    }
};

} // namespace detail

// mismatch(range1, range2, pred = equal_to, proj1 = {}, proj2 = {}), mismatch(first1, last1,
// first2, last2, …), both with options in front. Blocks until no worker examines an element any
// more. Returns {in1, in2}: the first pair that does not satisfy pred, or where the shorter range
// ends. Throws the exception of a pair in front of it, and `cancelled`.
inline constexpr detail::algorithm<
    detail::pair_calls<detail::mismatch_algorithm, std::ranges::equal_to>>
    mismatch{};
// Like mismatch, but returns whether the ranges are equal, lengths included.
inline constexpr detail::algorithm<
    detail::pair_calls<detail::equal_algorithm, std::ranges::equal_to>>
    equal{};
// Like mismatch, but returns whether range1 begins with range2.
inline constexpr detail::algorithm<
    detail::pair_calls<detail::starts_with_algorithm, std::ranges::equal_to>>
    starts_with{};
// Like mismatch, but returns whether range1 ends with range2.
inline constexpr detail::algorithm<
    detail::pair_calls<detail::ends_with_algorithm, std::ranges::equal_to>>
    ends_with{};
// lexicographical_compare(range1, range2, comp = less, proj1 = {}, proj2 = {}),
// lexicographical_compare(first1, last1, first2, last2, …), both with options in front. Returns
// true if range1 is less than range2. Blocks and throws like mismatch.
inline constexpr detail::algorithm<
    detail::pair_calls<detail::lexicographical_compare_algorithm, std::ranges::less>>
    lexicographical_compare{};

} // namespace sennit::par
