// SPDX-License-Identifier: Apache-2.0
// par::set_union, set_intersection, set_difference, set_symmetric_difference: the set operations
// over two sorted ranges, in parallel and in a single pass.
//
//     auto [in1, in2, out] = sennit::par::set_union(old_keys, new_keys, all_keys);
//     all_keys.erase(out, all_keys.end());
//     sennit::par::set_difference(orders, paid, open, {}, &order::id, &payment::order_id);
//
// Ranges may hold equal elements. Of a group with m elements in the first range and k in the second
// one, the result has max(m, k), min(m, k), max(m - k, 0) or |m - k| elements, and these are the
// elements that `std` takes. The output needs room for the result only. It must not overlap an
// input.
//
// Guarantees, exceptions and cancellation as for `par::for_each`. Cost: one worker runs the serial
// algorithm, for arithmetic keys without branches that depend on the elements. A worker that runs
// ahead needs some tens of comparisons to find its chunk. It keeps the result of numbers in up to
// 256 KiB, which it allocates; it walks the chunk twice for other elements, and if that memory is
// refused.
#pragma once

#include "sennit/par/detail/prefix_pass.hpp"
#include "sennit/par/detail/room.hpp"
#include "sennit/par/detail/set_path.hpp"
#include "sennit/par/merge.hpp"

namespace sennit::par {

namespace detail {

// Which elements a set operation writes: those of one range only, and pairs.
template <bool Only1, bool Only2, bool Both>
struct set_rule {
    static constexpr bool only1 = Only1;
    static constexpr bool only2 = Only2;
    static constexpr bool both = Both;
};

// The prefix is the place in front of a chunk, and the number of elements written there.
template <class Rule, class Path, class I1, class I2, class O>
struct set_work {
    struct prefix_type {
        set_place place;
        std::size_t written;
    };
    static constexpr std::size_t longest_chunk = 16'384;
    static constexpr bool branchless =
        Path::cheap_keys && cheap_to_exchange<I1> && cheap_to_exchange<I2> &&
        std::same_as<std::iter_value_t<I1>, std::iter_value_t<I2>> &&
        std::is_trivially_default_constructible_v<std::iter_value_t<I1>> &&
        std::is_copy_assignable_v<std::iter_value_t<I1>> &&
        std::indirectly_writable<O, const std::iter_value_t<I1>&>;

    // Where the chunk begins, and its result if that is cheap to copy.
    struct scratch_type {
        set_place begin{0, 0};
        std::size_t found = 0;
        std::optional<sort_room<std::iter_value_t<I1>>> room;
        std::iter_value_t<I1>* result = nullptr;
    };

    Path path;
    O out;
    std::size_t room;
    set_place* full_at; // the place of the first element that did not fit

    prefix_type contribute(std::size_t first, std::size_t last, scratch_type& scratch) const {
        scratch.begin = path.cut(first, scratch.begin);
        scratch.result = nullptr;
        prefix_type at{scratch.begin, 0};
        if constexpr (branchless) {
            if (!scratch.room) scratch.room.emplace(longest_chunk);
            scratch.result = scratch.room->get();
            // An inconsistent comparison may cut the chunk in front too early.
            if (scratch.result && scratch.begin.sum() >= first) {
                walk(at, last, longest_chunk, [to = scratch.result](const auto& element) mutable {
                    *to = element;
                    ++to;
                });
                scratch.found = at.written;
                return at;
            }
            scratch.result = nullptr;
        }
        walk(at, last, no_limit, [](auto&&) {});
        return at;
    }
    prefix_type combine(const prefix_type& prefix, const prefix_type& contribution) const noexcept {
        return {contribution.place, prefix.written + contribution.written};
    }
    void finish(std::size_t first, std::size_t last, std::optional<prefix_type> prefix,
                const scratch_type& scratch) const {
        if constexpr (branchless) {
            if (scratch.result && prefix->written <= room &&
                scratch.found <= std::min(room - prefix->written, longest_chunk)) {
                std::copy_n(scratch.result, scratch.found, advanced(out, prefix->written));
                return;
            }
        }
        (void)direct(first, last, prefix_type{scratch.begin, prefix->written});
    }
    prefix_type direct(std::size_t, std::size_t last, std::optional<prefix_type> prefix) const {
        prefix_type at = *prefix;
        if (at.written > room) return at;
        walk(at, last, room, [to = advanced(out, at.written)](auto&& element) mutable {
            *to = element;
            ++to;
        });
        if (at.written > room) *full_at = at.place; // The output became full in this chunk.
        return at;
    }

private:
    static constexpr std::size_t no_limit = static_cast<std::size_t>(-1) / 2;

    // Walks from `at` to the cut at `last`, and calls `write` for each element of the result. Stops
    // at the first element that exceeds `limit` elements, and adds it to `at.written`.
    template <class Write>
    void walk(prefix_type& at, std::size_t last, std::size_t limit, Write write) const {
        prefix_type now = at;
        if constexpr (branchless) {
            // Branches are faster where most steps are like the step before, or most are not.
            while (walk_blocks(now, last, limit, write))
                walk_steps(now, std::min(last, now.place.sum() + predictable), limit, write);
        }
        if (walk_steps(now, last, limit, write)) walk_tails(now, last, limit, write);
        at = now;
    }

    // The number of steps from `at` that need no look at the bounds.
    std::size_t free_steps(const prefix_type& at, std::size_t last,
                           std::size_t limit) const noexcept {
        const auto [i, j] = at.place;
        if (i + j >= last || at.written > limit) return 0;
        return std::min({path.n1 - i, path.n2 - j, (last - i - j + 1) / 2, limit - at.written});
    }

    // Walks until a range is exhausted. Returns false if the limit is exceeded.
    template <class Write>
    bool walk_steps(prefix_type& at, std::size_t last, std::size_t limit, Write& write) const {
        own_copy<typename Path::less_type> less = path.less.call;
        own_copy<typename Path::proj1_type> proj1 = path.proj1.call;
        own_copy<typename Path::proj2_type> proj2 = path.proj2.call;
        const auto [begin, written_before] = at;
        I1 at1 = advanced(path.first1, begin.taken1);
        I2 at2 = advanced(path.first2, begin.taken2);
        std::size_t i = begin.taken1;
        std::size_t j = begin.taken2;
        std::size_t written = written_before;
        bool fits = true;
        while (i + j < last && i != path.n1 && j != path.n2 && fits) {
            std::size_t steps = free_steps({{i, j}, written}, last, limit);
            const bool full = steps == 0;
            for (steps = full ? 1 : steps; steps != 0; --steps) {
                if (std::invoke(less, std::invoke(proj1, *at1), std::invoke(proj2, *at2))) {
                    if constexpr (Only1) {
                        if (full)
                            fits = false;
                        else
                            write(*at1);
                        ++written;
                        if (full) break;
                    }
                    ++i, (void)++at1;
                } else if (std::invoke(less, std::invoke(proj2, *at2), std::invoke(proj1, *at1))) {
                    if constexpr (Only2) {
                        if (full)
                            fits = false;
                        else
                            write(*at2);
                        ++written;
                        if (full) break;
                    }
                    ++j, (void)++at2;
                } else {
                    if constexpr (Both) {
                        if (full)
                            fits = false;
                        else
                            write(*at1);
                        ++written;
                        if (full) break;
                    }
                    ++i, (void)++at1;
                    ++j, (void)++at2;
                }
            }
        }
        at = {{i, j}, written};
        return fits;
    }

    // Walks in blocks of steps that need no look at the bounds. The result of a block is collected
    // in a buffer, because the last element may not belong to the result. Returns true behind a
    // block whose steps a processor predicts, and false if no further block fits.
    template <class Write>
    bool walk_blocks(prefix_type& at, std::size_t last, std::size_t limit, Write& write) const {
        own_copy<typename Path::less_type> less = path.less.call;
        own_copy<typename Path::proj1_type> proj1 = path.proj1.call;
        own_copy<typename Path::proj2_type> proj2 = path.proj2.call;
        std::iter_value_t<I1> buffer[block + 1];
        for (;;) {
            const std::size_t steps = std::min(free_steps(at, last, limit), block);
            if (steps < 8) return false;
            auto* a = std::to_address(path.first1) + at.place.taken1;
            auto* b = std::to_address(path.first2) + at.place.taken2;
            const auto* const begin1 = a;
            const auto* const begin2 = b;
            std::size_t in_result = 0;
            std::size_t changes = 0;
            bool took1 = false;
            bool took2 = false;
            for (std::size_t left = steps; left != 0; --left) {
                const auto& key1 = std::invoke(proj1, *a);
                const auto& key2 = std::invoke(proj2, *b);
                const bool take1 = !std::invoke(less, key2, key1);
                // An inconsistent comparison must not take neither.
                const bool take2 = !take1 | !std::invoke(less, key1, key2);
                buffer[in_result] = take1 ? *a : *b;
                if constexpr (Only1 && Only2 && Both)
                    ++in_result;
                else
                    in_result += (Only1 & take1 & !take2) | (Only2 & take2 & !take1) |
                                 (Both & take1 & take2);
                a += take1;
                b += take2;
                changes += (take1 != took1) | (take2 != took2);
                took1 = take1;
                took2 = take2;
            }
            for (std::size_t k = 0; k != in_result; ++k) write(buffer[k]);
            const auto moved1 = static_cast<std::size_t>(a - begin1);
            const auto moved2 = static_cast<std::size_t>(b - begin2);
            at.place.taken1 += moved1;
            at.place.taken2 += moved2;
            at.written += in_result;
            if (is_predicted(changes, steps)) return true;
        }
    }

    // Walks through the rest of the range that is not exhausted.
    template <class Write>
    void walk_tails(prefix_type& at, std::size_t last, std::size_t limit, Write& write) const {
        auto& [place, written] = at;
        const auto tail = [&](std::size_t& taken, std::size_t n, auto first, bool in_result) {
            std::size_t steps = place.sum() < last ? std::min(n - taken, last - place.sum()) : 0;
            if (!in_result) {
                taken += steps;
                return;
            }
            const std::size_t fitting = std::min(steps, limit - written);
            auto from = advanced(first, taken);
            for (std::size_t left = fitting; left != 0; --left, (void)++from) write(*from);
            taken += fitting;
            written += steps == fitting ? fitting : fitting + 1;
        };
        if (place.taken2 == path.n2) tail(place.taken1, path.n1, path.first1, Only1);
        if (place.taken1 == path.n1 && written <= limit)
            tail(place.taken2, path.n2, path.first2, Only2);
    }

    static constexpr bool Only1 = Rule::only1;
    static constexpr bool Only2 = Rule::only2;
    static constexpr bool Both = Rule::both;
    static constexpr std::size_t block = 64;
    static constexpr std::size_t predictable = 1024; // steps with branches before the next block
};

template <class Rule>
struct set_algorithm {
    template <class I1, class I2, class O, class Less, class Proj1, class Proj2>
    static constexpr bool accepts_two =
        merges<I1, I2, O, Less, Proj1, Proj2> && compares<Less, I1, I2, Proj1, Proj2> &&
        compares<Less, I1, I1, Proj1, Proj1> && compares<Less, I2, I2, Proj2, Proj2>;

    template <class I1, class I2, class O, class Less, class Proj1, class Proj2>
    static std::ranges::in_in_out_result<I1, I2, O>
    run_two(const with& options, I1 first1, std::size_t n1, I2 first2, std::size_t n2, O out,
            std::size_t room, Less& less, Proj1& proj1, Proj2& proj2) {
        using path = set_path<I1, I2, Less, Proj1, Proj2>;
        using work = set_work<Rule, path, I1, I2, O>;
        set_place end{n1, n2};
        const work all{path{first1, n1, first2, n2, {less}, {proj1}, {proj2}}, out, room, &end};
        using prefix = typename work::prefix_type;
        const auto result = run_prefix_pass(options, n1 + n2, all, std::optional(prefix{}));
        return {advanced(first1, end.taken1), advanced(first2, end.taken2),
                advanced(out, std::min(result->written, room))};
    }
};
template <bool Only1, bool Only2, bool Both>
using set_calls =
    algorithm<pair_output_calls<set_algorithm<set_rule<Only1, Only2, Both>>, std::ranges::less>>;

} // namespace detail

// set_union(range1, range2, out, comp = less, proj1 = {}, proj2 = {}), set_union(first1, last1,
// first2, last2, out, out_last, …), both with options in front. Writes the elements that stand in
// at least one range; of a pair, the one of range1. Blocks until the result is written. Returns
// {in1, in2, out}: the ends, or the elements at which the output was full. Throws the exception of
// the lowest chunk that throws, and `cancelled`.
inline constexpr detail::set_calls<true, true, true> set_union{};
// Like set_union, but writes the elements of range1 that stand in both ranges.
inline constexpr detail::set_calls<false, false, true> set_intersection{};
// Like set_union, but writes the elements of range1 that do not stand in range2.
inline constexpr detail::set_calls<true, false, false> set_difference{};
// Like set_union, but writes the elements that stand in one of the ranges only.
inline constexpr detail::set_calls<true, true, false> set_symmetric_difference{};

} // namespace sennit::par
