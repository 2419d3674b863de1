// SPDX-License-Identifier: Apache-2.0
// par::search, contains_subrange, find_end, find_first_of: search a sequence, or one of several
// elements, in a range, in parallel. They stop at the match.
//
//     auto where = sennit::par::search(text, word);
//     auto last = sennit::par::find_end(text, word);
//     auto space = sennit::par::find_first_of(text, separators);
//
// Each place is tried from left to right, as in std: at most n · m comparisons of n elements with a
// sequence of m. The second range is examined by several workers at the same time.
//
// Guarantees, exceptions, cancellation and cost as for `par::find_if`: the predicate may be called
// for some places behind the match; find_end searches from the back.
#pragma once

#include "sennit/par/find.hpp"
#include "sennit/par/mismatch.hpp"

namespace sennit::par {

namespace detail {

// Says whether the sequence stands at a place of the range.
template <class I1, class I2, class Test, class Proj1, class Proj2>
struct sequence_test {
    I1 first1;
    I2 first2;
    std::size_t length;
    [[no_unique_address]] shared_callable<Test> test;
    [[no_unique_address]] shared_callable<Proj1> proj1;
    [[no_unique_address]] shared_callable<Proj2> proj2;

    // Returns the first place in [from, to) where the sequence stands, or `to`.
    std::size_t find(std::size_t from, std::size_t to) const {
        if constexpr (finds_numbers) {
            const auto* const numbers = std::to_address(first1);
            // Vector instructions pay where the first element of the sequence is rare.
            constexpr std::size_t rare_from = 32;
            for (; to - from > rare_from; from = find_number(numbers, from, to, *first2)) {
                const std::size_t end = from + rare_from;
                const std::size_t found = find_one_by_one(from, end);
                if (found != end) return found;
                from = end;
            }
        }
        return find_one_by_one(from, to);
    }

    static constexpr bool finds_numbers =
        numbers_in_a_row<I1, std::iter_value_t<I2>, Proj1> && std::same_as<Proj2, std::identity> &&
        std::same_as<std::remove_const_t<Test>, std::ranges::equal_to>;

    std::size_t find_one_by_one(std::size_t from, std::size_t to) const {
        own_copy<Test> matches = test.call;
        own_copy<Proj1> part1 = proj1.call;
        own_copy<Proj2> part2 = proj2.call;
        I1 at = advanced(first1, from);
        for (; from != to; ++from, (void)++at)
            if (std::invoke(matches, std::invoke(part1, *at), std::invoke(part2, *first2)) &&
                (*this)(from, 1))
                break;
        return from;
    }

    // Compares from element `begin` of the sequence on.
    bool operator()(std::size_t place, std::size_t begin = 0) const {
        own_copy<Test> matches = test.call;
        own_copy<Proj1> part1 = proj1.call;
        own_copy<Proj2> part2 = proj2.call;
        I1 at1 = advanced(first1, place + begin);
        I2 at2 = advanced(first2, begin);
        for (std::size_t left = length - begin; left != 0; --left, (void)++at1, (void)++at2)
            if (!std::invoke(matches, std::invoke(part1, *at1), std::invoke(part2, *at2)))
                return false;
        return true;
    }
};

struct search_algorithm : pairwise {
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static std::ranges::subrange<I1> run(const with& options, I1 first1, std::size_t n1, I2 first2,
                                         std::size_t n2, F& f, Proj1& proj1, Proj2& proj2) {
        if (n2 == 0) return {first1, first1};
        const I1 last1 = advanced(first1, n1);
        if (n2 > n1) return {last1, last1};
        const std::size_t places = n1 - n2 + 1;
        const sequence_test<I1, I2, F, Proj1, Proj2> stands_at{first1, first2,  n2,
                                                               {f},    {proj1}, {proj2}};
        const std::size_t found =
            detail::search(options, places, [&stands_at](std::size_t from, std::size_t to) {
                return stands_at.find(from, to);
            });
        if (found == places) return {last1, last1};
        return {advanced(first1, found), advanced(first1, found + n2)};
    }
    template <class R1, class R2, class Result>
    static auto borrowed(Result result) {
        return detail::borrowed<R1>(result);
    }
};

struct find_end_algorithm : search_algorithm {
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static std::ranges::subrange<I1> run(const with& options, I1 first1, std::size_t n1, I2 first2,
                                         std::size_t n2, F& f, Proj1& proj1, Proj2& proj2) {
        const I1 last1 = advanced(first1, n1);
        if (n2 == 0 || n2 > n1) return {last1, last1};
        const std::size_t places = n1 - n2 + 1;
        const sequence_test<I1, I2, F, Proj1, Proj2> stands_at{first1, first2,  n2,
                                                               {f},    {proj1}, {proj2}};
        const std::size_t found =
            detail::search(options, places, [&stands_at, places](std::size_t from, std::size_t to) {
                while (from != to && !stands_at(places - 1 - from)) ++from;
                return from;
            });
        if (found == places) return {last1, last1};
        const std::size_t place = places - 1 - found;
        return {advanced(first1, place), advanced(first1, place + n2)};
    }
};

struct find_first_of_algorithm : search_algorithm {
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static I1 run(const with& options, I1 first1, std::size_t n1, I2 first2, std::size_t n2, F& f,
                  Proj1& proj1, Proj2& proj2) {
        const auto is_one = [first2, n2, f = shared_callable{f}, proj1 = shared_callable{proj1},
                             proj2 = shared_callable{proj2}](auto&& element) {
            own_copy<F> matches = f.call;
            own_copy<Proj1> part1 = proj1.call;
            own_copy<Proj2> part2 = proj2.call;
            I2 at = first2;
            for (std::size_t left = n2; left != 0; --left, (void)++at)
                if (std::invoke(matches, std::invoke(part1, element), std::invoke(part2, *at)))
                    return true;
            return false;
        };
        return advanced(first1, search_elements(options, first1, n1, is_one));
    }
};

struct contains_subrange_algorithm : pairwise {
    template <class I1, class I2, class F, class Proj1, class Proj2>
    static bool run(const with& options, I1 first1, std::size_t n1, I2 first2, std::size_t n2, F& f,
                    Proj1& proj1, Proj2& proj2) {
        return n2 == 0 ||
               !search_algorithm::run(options, first1, n1, first2, n2, f, proj1, proj2).empty();
    }
};

} // namespace detail

// search(range1, range2, pred = equal_to, proj1 = {}, proj2 = {}), search(first1, last1, first2,
// last2, …), both with options in front. Blocks until no worker examines an element any more.
// Returns the first part of range1 that equals range2, as a subrange; an empty one at the end if
// there is none, and one at the begin if range2 is empty. Throws the exception of a place in front
// of the match, and `cancelled`.
inline constexpr detail::algorithm<
    detail::pair_calls<detail::search_algorithm, std::ranges::equal_to>>
    search{};
// Like search, for the last part; an empty subrange at the end if range2 is empty.
inline constexpr detail::algorithm<
    detail::pair_calls<detail::find_end_algorithm, std::ranges::equal_to>>
    find_end{};
// Like search, but returns an iterator to the first element of range1 that equals an element of
// range2, the end if there is none.
inline constexpr detail::algorithm<
    detail::pair_calls<detail::find_first_of_algorithm, std::ranges::equal_to>>
    find_first_of{};
// Like search, but returns whether there is such a part; true if range2 is empty.
inline constexpr detail::algorithm<
    detail::pair_calls<detail::contains_subrange_algorithm, std::ranges::equal_to>>
    contains_subrange{};

} // namespace sennit::par
