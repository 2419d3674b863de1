// SPDX-License-Identifier: Apache-2.0
// par::replace_copy, par::replace_copy_if: copy a range, with a new value in place of some
// elements, in parallel.
//
//     sennit::par::replace_copy_if(readings, clean, is_noise, 0.0);
//
// Input and output must not overlap. Guarantees, exceptions, cancellation and cost as for
// `par::for_each`.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par {

namespace detail {

template <class I, class O, class T, class Proj>
inline constexpr bool copies_or_replaces =
    projects<Proj, I> && writes<std::iter_reference_t<I>, O> && writes<const T&, O>;

struct replace_copy_if_algorithm {
    template <class I, class O, class Test, class T, class Proj>
    static constexpr bool accepts = tests<Test, I, Proj> && copies_or_replaces<I, O, T, Proj>;
    template <class I, class O, class Test, class T, class Proj>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room, Test& test, const T& value,
                                                Proj& proj) {
        const std::size_t count = std::min(n, room);
        run_chunks(options, count,
                   [first, out, test = shared_callable{test},
                    value = shared_callable<const T>{value},
                    proj = shared_callable{proj}](std::size_t from, std::size_t to) {
                       own_copy<Test> matches = test.call;
                       own_copy<const T> own = value.call;
                       own_copy<Proj> part = proj.call;
                       I at = advanced(first, from);
                       O to_at = advanced(out, from);
                       for (; from != to; ++from, (void)++at, (void)++to_at) {
                           if (std::invoke(matches, std::invoke(part, *at)))
                               *to_at = own;
                           else
                               *to_at = *at;
                       }
                   });
        return {advanced(first, count), advanced(out, count)};
    }
};
struct replace_copy_algorithm {
    template <class I, class O, class Old, class T, class Proj>
    static constexpr bool accepts =
        equals_elements<Old, I, Proj> && copies_or_replaces<I, O, T, Proj>;
    template <class I, class O, class Old, class T, class Proj>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room, const Old& old, const T& value,
                                                Proj& proj) {
        const auto equals = equality_with(old);
        return replace_copy_if_algorithm::run(options, first, n, out, room, equals, value, proj);
    }
};

// algorithm(range, out, value or predicate, new value, projection), also with two iterators of
// each.
template <class Algorithm>
struct replace_copy_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class A, class T, class Proj = std::identity>
        requires(Algorithm::template accepts<I, O, std::remove_reference_t<A>, T, Proj>)
    auto operator()(const with& options, I first, S last, O out, OS out_last, A&& which,
                    const T& value, Proj proj = {}) const {
        return Algorithm::run(options, first, distance_of(first, last), out,
                              distance_of(out, out_last), which, value, proj);
    }
    template <divisible_range R, divisible_range OR, class A, class T, class Proj = std::identity>
        requires(
            Algorithm::template accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>,
                                        std::remove_reference_t<A>, T, Proj>)
    auto operator()(const with& options, R&& range, OR&& out, A&& which, const T& value,
                    Proj proj = {}) const {
        return borrowed_in_out<R, OR>(Algorithm::run(options, std::ranges::begin(range),
                                                     size_of(range), std::ranges::begin(out),
                                                     size_of(out), which, value, proj));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class A, class T, class Proj = std::identity>
        requires(Algorithm::template accepts<I, O, std::remove_reference_t<A>, T, Proj>)
    auto operator()(I first, S last, O out, OS out_last, A&& which, const T& value,
                    Proj proj = {}) const {
        return Algorithm::run(automatic, first, distance_of(first, last), out,
                              distance_of(out, out_last), which, value, proj);
    }
    template <divisible_range R, divisible_range OR, class A, class T, class Proj = std::identity>
        requires(
            Algorithm::template accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>,
                                        std::remove_reference_t<A>, T, Proj>)
    auto operator()(R&& range, OR&& out, A&& which, const T& value, Proj proj = {}) const {
        return borrowed_in_out<R, OR>(Algorithm::run(automatic, std::ranges::begin(range),
                                                     size_of(range), std::ranges::begin(out),
                                                     size_of(out), which, value, proj));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, the elements, "
                      "an output (a range, or two iterators of it), a value (or a predicate of one "
                      "element), and a new value; the output must take elements and that value");
    }
};

} // namespace detail

// replace_copy(range, out, old_value, new_value, proj = {}), replace_copy(first, last, out,
// out_last, …), both with options in front. Copies the elements, and new_value in place of those
// with proj(element) == old_value, as far as the output reaches. Blocks until all are copied.
// Returns {in, out} where it stopped. Throws the exception of the first element that throws, and
// `cancelled`.
inline constexpr detail::algorithm<detail::replace_copy_calls<detail::replace_copy_algorithm>>
    replace_copy{};
// Like replace_copy, with new_value in place of the elements that satisfy pred(proj(element)).
inline constexpr detail::algorithm<detail::replace_copy_calls<detail::replace_copy_if_algorithm>>
    replace_copy_if{};

} // namespace sennit::par
