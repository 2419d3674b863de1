// SPDX-License-Identifier: Apache-2.0
// par::pack, pack_index, flatten: make one dense output from flags or from several ranges, in
// parallel.
//
//     sennit::par::pack(orders, is_late, late);       // the elements whose flag is true
//     sennit::par::pack_index(is_late, indices);      // the indices of the flags that are true
//     sennit::par::flatten(lines_of_files, lines);    // all elements of all ranges
//
// The output needs room for the result only, and must not overlap an input. Flags may be the
// elements of a std::vector<bool>. Guarantees, exceptions and cancellation as for `par::for_each`.
// Cost: as `par::copy_if`. flatten reads the sizes of the ranges first, and allocates one number
// for each range.
#pragma once

#include "sennit/par/copy.hpp"
#include "sennit/par/copy_if.hpp"
#include "sennit/par/scan.hpp"

#include <vector>

namespace sennit::par {

namespace detail {

template <class R>
concept flag_range =
    divisible_range<R> && std::convertible_to<std::ranges::range_reference_t<R>, bool>;

// Copies the elements whose flag is true.
template <class I, class Flags, class O>
std::ranges::in_out_result<I, O> pack_elements(const with& options, I first, std::size_t n,
                                               Flags flags, O out, std::size_t room) {
    return copy_kept(options, first, n, out, room, [flags](const I&, std::size_t index) {
        return static_cast<bool>(*advanced(flags, index));
    });
}

struct pack_calls {
    template <divisible_range R, flag_range F, divisible_range OR>
        requires writes<std::ranges::range_reference_t<R>, std::ranges::iterator_t<OR>>
    auto operator()(const with& options, R&& range, F&& flags, OR&& out) const {
        const std::size_t n = std::min(size_of(range), size_of(flags));
        return borrowed_in_out<R, OR>(pack_elements(options, std::ranges::begin(range), n,
                                                    std::ranges::begin(flags),
                                                    std::ranges::begin(out), size_of(out)));
    }
    template <divisible_range R, flag_range F, divisible_range OR>
        requires writes<std::ranges::range_reference_t<R>, std::ranges::iterator_t<OR>>
    auto operator()(R&& range, F&& flags, OR&& out) const {
        return (*this)(automatic, std::forward<R>(range), flags, std::forward<OR>(out));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::pack takes the options or nothing, the elements, their flags "
                      "(which convert to bool), and an output range");
    }
};

struct pack_index_calls {
    template <flag_range F, divisible_range OR>
        requires writes<std::size_t, std::ranges::iterator_t<OR>>
    auto operator()(const with& options, F&& flags, OR&& out) const {
        const auto indices = std::views::iota(std::size_t{0}, size_of(flags));
        return borrowed_iterator<OR>(pack_elements(options, indices.begin(), size_of(flags),
                                                   std::ranges::begin(flags),
                                                   std::ranges::begin(out), size_of(out))
                                         .out);
    }
    template <flag_range F, divisible_range OR>
        requires writes<std::size_t, std::ranges::iterator_t<OR>>
    auto operator()(F&& flags, OR&& out) const {
        return (*this)(automatic, flags, std::forward<OR>(out));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::pack_index takes the options or nothing, flags (which convert "
                      "to bool), and an output range for their indices");
    }
};

template <class R, class OR>
concept flattens =
    divisible_range<R> && divisible_range<std::ranges::range_reference_t<R>> &&
    std::is_lvalue_reference_v<std::ranges::range_reference_t<R>> && divisible_range<OR> &&
    writes<std::ranges::range_reference_t<std::ranges::range_reference_t<R>>,
           std::ranges::iterator_t<OR>>;

struct flatten_calls {
    template <class R, class OR>
        requires flattens<R, OR>
    auto operator()(const with& options, R&& ranges, OR&& out) const {
        const auto first = std::ranges::begin(ranges);
        const auto to = std::ranges::begin(out);
        const std::size_t room = size_of(out);
        std::vector<std::size_t> ends(size_of(ranges));
        inclusive_scan(
            options,
            std::views::transform(std::views::iota(std::size_t{0}, ends.size()),
                                  [first](std::size_t i) { return size_of(*advanced(first, i)); }),
            ends);
        const std::size_t count = ends.empty() ? 0 : std::min(room, ends.back());
        // A long range is divided by a loop of its own.
        with inner = options;
        inner.max_workers = options.max_workers == 1 ? 1 : 0;
        run_chunks(options, ends.size(), [&](std::size_t from, std::size_t end) {
            for (; from != end; ++from) {
                const std::size_t begin = from == 0 ? 0 : ends[from - 1];
                if (begin >= count) return;
                auto&& range = *advanced(first, from);
                const auto at = std::ranges::begin(range);
                const std::size_t fitting = std::min(ends[from], count) - begin;
                copy(inner, at, advanced(at, fitting), advanced(to, begin),
                     advanced(to, begin + fitting));
            }
        });
        return borrowed_iterator<OR>(advanced(to, count));
    }
    template <class R, class OR>
        requires flattens<R, OR>
    auto operator()(R&& ranges, OR&& out) const {
        return (*this)(automatic, ranges, std::forward<OR>(out));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::flatten takes the options or nothing, a range of ranges with "
                      "random access, and an output range for their elements");
    }
};

} // namespace detail

// pack(range, flags, out), also with options in front. Copies the elements whose flag is true.
// Blocks until they are written. Returns {in, out}: the end of the input, or the first element that
// did not fit; and the end of the written output. Throws like copy_if.
inline constexpr detail::algorithm<detail::pack_calls> pack{};
// pack_index(flags, out), also with options in front. Writes the indices of the flags that are
// true. Returns the end of the written output. Blocks and throws like pack.
inline constexpr detail::algorithm<detail::pack_index_calls> pack_index{};
// flatten(ranges, out), also with options in front. Copies the elements of all ranges, in their
// order. Returns the end of the written output. Blocks until it is written. Throws the exception of
// a copy, std::bad_alloc, and `cancelled`.
inline constexpr detail::algorithm<detail::flatten_calls> flatten{};

} // namespace sennit::par
