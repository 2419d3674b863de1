// SPDX-License-Identifier: Apache-2.0
// par::copy_if, remove_copy_if, remove_copy, unique_copy: copy some elements to an output range, in
// order, in parallel and in a single pass.
//
//     auto [in, out] = sennit::par::copy_if(orders, late, is_late);
//     late.erase(out, late.end());
//     sennit::par::unique_copy(sorted_names, names);
//
// The output needs room for the copied elements only. The predicate is called once for each element
// of a chunk, also for elements behind the end of a full output. Input and output must not overlap.
//
// Guarantees, exceptions and cancellation as for `par::for_each`. Cost: one worker runs the serial
// algorithm. A worker that runs ahead stores one bit for each element. No allocation.
#pragma once

#include "sennit/par/detail/prefix_pass.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace sennit::par {

namespace detail {

// `keeps(at, index)` says whether the element with that index is copied. The prefix is the number
// of such elements in front of a chunk.
template <class I, class O, class Keeps>
struct copy_if_work {
    using prefix_type = std::size_t;
    static constexpr std::size_t longest_chunk = 16'384;
    struct scratch_type {
        std::array<std::uint64_t, longest_chunk / 64> matches;
    };

    I in;
    O out;
    std::size_t room;
    base::atomic<std::size_t>* full_at; // the first match that did not fit
    shared_callable<const Keeps> keeps;

    std::size_t contribute(std::size_t first, std::size_t last, scratch_type& scratch) const {
        std::size_t found = 0;
        for (std::size_t word = 0; first != last; ++word) {
            const std::size_t end = std::min(last, first + 64);
            scratch.matches[word] = matches_of(first, end);
            found += static_cast<std::size_t>(std::popcount(scratch.matches[word]));
            first = end;
        }
        return found;
    }
    std::size_t combine(std::size_t prefix, std::size_t contribution) const noexcept {
        return prefix + contribution;
    }
    void finish(std::size_t first, std::size_t last, std::optional<std::size_t> prefix,
                const scratch_type& scratch) const {
        std::size_t written = *prefix;
        for (std::size_t word = 0; first < last; ++word, first += 64)
            written = write(first, scratch.matches[word], written);
    }
    std::size_t direct(std::size_t first, std::size_t last,
                       std::optional<std::size_t> prefix) const {
        std::size_t written = *prefix;
        bool predicted = true;
        while (first != last) {
            const std::size_t end = std::min(last, first + (predicted ? 256 : 64));
            const std::size_t before = written;
            if (predicted)
                written = write_by_branches(first, end, written);
            else
                written = write(first, matches_of(first, end), written);
            // A processor predicts the answers if nearly all of them are equal.
            const std::size_t found = written - before;
            predicted = std::min(found, end - first - found) * 10 <= end - first;
            first = end;
        }
        return written;
    }

    // Bit i says whether element first + i is copied; at most 64 elements.
    std::uint64_t matches_of(std::size_t first, std::size_t end) const {
        own_copy<const Keeps> matches = keeps.call;
        I at = advanced(in, first);
        std::uint64_t bits = 0;
        for (unsigned bit = 0; first != end; ++first, ++bit, (void)++at)
            bits |= std::uint64_t{static_cast<bool>(matches(at, first))} << bit;
        return bits;
    }
    // Writes the elements of these bits. Returns the number of matches up to there.
    std::size_t write(std::size_t first, std::uint64_t bits, std::size_t written) const {
        const auto next = [&] { return first + static_cast<std::size_t>(std::countr_zero(bits)); };
        const std::size_t all = written + static_cast<std::size_t>(std::popcount(bits));
        const std::size_t fitting = std::min(all, room);
        for (; written < fitting; bits &= bits - 1)
            *advanced(out, written++) = *advanced(in, next());
        if (written < all && written == room) full_at->store(next());
        return all;
    }
    // Faster than `write` where the processor predicts the answers of the predicate.
    std::size_t write_by_branches(std::size_t first, std::size_t last, std::size_t written) const {
        own_copy<const Keeps> matches = keeps.call;
        I at = advanced(in, first);
        if (written < room && last - first <= room - written) {
            O to = advanced(out, written);
            for (; first != last; ++first, (void)++at) {
                if (!matches(at, first)) continue;
                *to = *at;
                ++to, (void)++written;
            }
            return written;
        }
        for (; first != last; ++first, (void)++at) {
            if (!matches(at, first)) continue;
            if (written < room)
                *advanced(out, written) = *at;
            else
                note_full(first, written);
            ++written;
        }
        return written;
    }

    // Exactly one match has as many matches in front of it as there is room.
    void note_full(std::size_t at, std::size_t written) const noexcept {
        if (written == room) full_at->store(at);
    }
};

template <class I, class O, class Keeps>
std::ranges::in_out_result<I, O> copy_kept(const with& options, I first, std::size_t n, O out,
                                           std::size_t room, const Keeps& keeps) {
    base::atomic<std::size_t> full_at{n};
    const copy_if_work<I, O, Keeps> all{first, out, room, &full_at, {keeps}};
    const std::size_t found = *run_prefix_pass(options, n, all, std::optional<std::size_t>(0));
    return {advanced(first, full_at.load()), advanced(out, std::min(found, room))};
}

template <bool Wanted>
struct copy_if_algorithm {
    template <class I, class O, class Test, class Proj>
    static constexpr bool accepts = tests<Test, I, Proj> && writes<std::iter_reference_t<I>, O>;

    template <class I, class O, class Test, class Proj>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room, Test& test, Proj& proj) {
        return copy_kept(
            options, first, n, out, room,
            [test = shared_callable{test}, proj = shared_callable{proj}](const I& at, std::size_t) {
                own_copy<Test> matches = test.call;
                own_copy<Proj> part = proj.call;
                return static_cast<bool>(std::invoke(matches, std::invoke(part, *at))) == Wanted;
            });
    }
};

struct remove_copy_algorithm {
    template <class I, class O, class T, class Proj>
    static constexpr bool accepts =
        equals_elements<T, I, Proj> && writes<std::iter_reference_t<I>, O>;

    template <class I, class O, class T, class Proj>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room, T& value, Proj& proj) {
        const auto equals = equality_with(std::as_const(value));
        return copy_if_algorithm<false>::run(options, first, n, out, room, equals, proj);
    }
};

struct unique_copy_algorithm {
    template <class I, class O, class Equal, class Proj>
    static constexpr bool accepts =
        compares<Equal, I, I, Proj, Proj> && writes<std::iter_reference_t<I>, O>;

    template <class I, class O, class Equal, class Proj>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room, Equal& equal, Proj& proj) {
        return copy_kept(options, first, n, out, room,
                         [equal = shared_callable{equal},
                          proj = shared_callable{proj}](const I& at, std::size_t index) {
                             if (index == 0) return true;
                             own_copy<Equal> same = equal.call;
                             own_copy<Proj> part = proj.call;
                             return !std::invoke(same, std::invoke(part, *(at - 1)),
                                                 std::invoke(part, *at));
                         });
    }
};

} // namespace detail

// copy_if(range, out, pred, proj = {}), copy_if(first, last, out, out_last, pred, proj = {}), both
// with options in front. Blocks until all matches are written. Returns {in, out}: the end of the
// input, or the first match that did not fit; and the end of the written output. Throws the
// exception of the lowest chunk that throws, and `cancelled`.
inline constexpr detail::algorithm<
    detail::output_calls<detail::copy_if_algorithm<true>, detail::none_given>>
    copy_if{};
// Like copy_if, for the elements that do not satisfy the predicate.
inline constexpr detail::algorithm<
    detail::output_calls<detail::copy_if_algorithm<false>, detail::none_given>>
    remove_copy_if{};
// Like copy_if, for the elements with proj(element) != value: remove_copy(range, out, value, proj =
// {}).
inline constexpr detail::algorithm<
    detail::output_calls<detail::remove_copy_algorithm, detail::none_given>>
    remove_copy{};
// Like copy_if, for the first element of each group of neighbours that are equal:
// unique_copy(range, out, comp = equal_to, proj = {}). `comp` must be an equivalence relation.
inline constexpr detail::algorithm<
    detail::output_calls<detail::unique_copy_algorithm, std::ranges::equal_to>>
    unique_copy{};

} // namespace sennit::par
