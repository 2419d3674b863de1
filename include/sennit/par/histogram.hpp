// SPDX-License-Identifier: Apache-2.0
// par::histogram: counts the elements of each bucket, in parallel.
//
//     std::vector<std::size_t> bytes = sennit::par::histogram(text, 256, to_byte);
//
// Use it for up to some ten thousand buckets: each thief counts in an array of its own, which the
// join adds to the array of its victim. For keys that are no small numbers use
// `par::collect_reduce`.
//
// Guarantees, exceptions and cancellation as for `par::for_each`. A bucket that does not exist
// throws std::out_of_range. Cost: one worker runs the serial loop. Each worker that joins in
// allocates the counts of all buckets.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

#include <concepts>
#include <stdexcept>
#include <vector>

namespace sennit::par {

namespace detail {

template <class I, class Key>
struct histogram_work {
    using value_type = std::vector<std::size_t>;
    static constexpr bool never_throws = false;

    I first;
    std::size_t buckets;
    shared_callable<Key> key;

    void run(std::optional<value_type>& counts, std::size_t from, std::size_t to) const {
        if (!counts) counts.emplace(buckets);
        own_copy<Key> bucket_of = key.call;
        std::size_t* const all = counts->data();
        const std::size_t most = buckets; // a local copy, which the counts cannot change
        I at = advanced(first, from);
        const auto bucket = [&](const I& place) {
            const auto found = static_cast<std::size_t>(std::invoke(bucket_of, *place));
            if (found >= most) [[unlikely]]
                refuse_bucket();
            return found;
        };
        // The buckets of four elements are known before the first count changes.
        for (; to - from >= 4; from += 4, (void)(at += 4)) {
            const std::size_t found[] = {bucket(at), bucket(at + 1), bucket(at + 2),
                                         bucket(at + 3)};
            for (const std::size_t i : found) ++all[i];
        }
        for (; from != to; ++from, (void)++at) ++all[bucket(at)];
    }
    [[noreturn, gnu::noinline, gnu::cold]] static void refuse_bucket() {
        throw std::out_of_range("sennit: [SNT-315] an element of par::histogram belongs to a "
                                "bucket that does not exist; give more buckets");
    }
    value_type join(value_type low, value_type high) const noexcept {
        for (std::size_t i = 0; i != low.size(); ++i) low[i] += high[i];
        return low;
    }
};

template <class I, class Key>
concept counts_by =
    std::invocable<Key&, std::iter_reference_t<I>> &&
    std::integral<std::remove_cvref_t<std::invoke_result_t<Key&, std::iter_reference_t<I>>>>;

struct histogram_calls {
    template <class I, class Key>
    static std::vector<std::size_t> run(const with& options, I first, std::size_t n,
                                        std::size_t buckets, Key& key) {
        auto counts = run_loop(histogram_work<I, Key>{first, buckets, {key}}, {}, n, options);
        return counts ? std::move(*counts) : std::vector<std::size_t>(buckets);
    }

    template <std::random_access_iterator I, sized_end_of<I> S, class Key = std::identity>
        requires counts_by<I, Key>
    auto operator()(const with& options, I first, S last, std::size_t buckets, Key key = {}) const {
        return run(options, first, distance_of(first, last), buckets, key);
    }
    template <divisible_range R, class Key = std::identity>
        requires counts_by<std::ranges::iterator_t<R>, Key>
    auto operator()(const with& options, R&& range, std::size_t buckets, Key key = {}) const {
        return run(options, std::ranges::begin(range), size_of(range), buckets, key);
    }
    template <std::random_access_iterator I, sized_end_of<I> S, class Key = std::identity>
        requires counts_by<I, Key>
    auto operator()(I first, S last, std::size_t buckets, Key key = {}) const {
        return run(automatic, first, distance_of(first, last), buckets, key);
    }
    template <divisible_range R, class Key = std::identity>
        requires counts_by<std::ranges::iterator_t<R>, Key>
    auto operator()(R&& range, std::size_t buckets, Key key = {}) const {
        return run(automatic, std::ranges::begin(range), size_of(range), buckets, key);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::histogram takes the options or nothing, the elements, the "
                      "number of buckets, and a function of an element that returns an integer, "
                      "its bucket");
    }
};

} // namespace detail

// histogram(range, buckets, key = {}), histogram(first, last, buckets, key = {}), both with options
// in front. Returns the number of elements with key(element) == i as element i of a vector of
// `buckets` numbers. Blocks until all elements are counted. Throws std::out_of_range, the exception
// of the key, std::bad_alloc, and `cancelled`.
inline constexpr detail::algorithm<detail::histogram_calls> histogram{};

} // namespace sennit::par
