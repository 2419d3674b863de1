// SPDX-License-Identifier: Apache-2.0
// par::copy_if: copies the elements that satisfy a predicate to an output range, in order, in
// parallel and in a single pass.
//
//     auto [in, out] = sennit::par::copy_if(orders, late, is_late);
//     late.erase(out, late.end());
//
// The output needs room for the matches only. The predicate is called once for each element of a
// chunk, also for elements behind the end of a full output. Input and output must not overlap.
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

// The prefix is the number of matches in front of a chunk.
template <class I, class O, class Test, class Proj>
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
    shared_callable<Test> test;
    shared_callable<Proj> proj;

    std::size_t contribute(std::size_t first, std::size_t last, scratch_type& scratch) const {
        own_copy<Test> matches = test.call;
        own_copy<Proj> part = proj.call;
        I at = advanced(in, first);
        std::size_t found = 0;
        for (std::size_t word = 0; first != last; ++word) {
            std::uint64_t bits = 0;
            const std::size_t end = std::min(last, first + 64);
            for (unsigned bit = 0; first != end; ++first, ++bit, (void)++at)
                if (std::invoke(matches, std::invoke(part, *at))) bits |= std::uint64_t{1} << bit;
            scratch.matches[word] = bits;
            found += static_cast<std::size_t>(std::popcount(bits));
        }
        return found;
    }
    std::size_t combine(std::size_t prefix, std::size_t contribution) const noexcept {
        return prefix + contribution;
    }
    void finish(std::size_t first, std::size_t last, std::optional<std::size_t> prefix,
                const scratch_type& scratch) const {
        std::size_t written = *prefix;
        for (std::size_t word = 0; first < last; ++word, first += 64) {
            for (std::uint64_t bits = scratch.matches[word]; bits != 0; bits &= bits - 1) {
                const std::size_t at = first + static_cast<std::size_t>(std::countr_zero(bits));
                if (written >= room) return note_full(at, written);
                *advanced(out, written++) = *advanced(in, at);
            }
        }
    }
    std::size_t direct(std::size_t first, std::size_t last,
                       std::optional<std::size_t> prefix) const {
        own_copy<Test> matches = test.call;
        own_copy<Proj> part = proj.call;
        std::size_t written = *prefix;
        I at = advanced(in, first);
        for (; first != last; ++first, (void)++at) {
            if (!std::invoke(matches, std::invoke(part, *at))) continue;
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

struct copy_if_algorithm {
    template <class I, class O, class Test, class Proj>
    static constexpr bool accepts = tests<Test, I, Proj> && writes<std::iter_reference_t<I>, O>;

    template <class I, class O, class Test, class Proj>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room, Test& test, Proj& proj) {
        using work = copy_if_work<I, O, Test, Proj>;
        base::atomic<std::size_t> full_at{n};
        const work all{first, out, room, &full_at, {test}, {proj}};
        const std::size_t found = *run_prefix_pass(options, n, all, std::optional<std::size_t>(0));
        return {advanced(first, full_at.load()), advanced(out, std::min(found, room))};
    }
};

} // namespace detail

// copy_if(range, out, pred, proj = {}), copy_if(first, last, out, out_last, pred, proj = {}), both
// with options in front. Blocks until all matches are written. Returns {in, out}: the end of the
// input, or the first match that did not fit; and the end of the written output. Throws the
// exception of the lowest chunk that throws, and `cancelled`.
inline constexpr detail::algorithm<
    detail::output_calls<detail::copy_if_algorithm, detail::none_given>>
    copy_if{};

} // namespace sennit::par
