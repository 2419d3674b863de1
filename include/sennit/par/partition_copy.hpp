// SPDX-License-Identifier: Apache-2.0
// par::partition_copy: copies the elements that satisfy a predicate to one output range, and the
// other elements to a second one, in order, in parallel and in a single pass.
//
//     auto [in, late_end, good_end] = sennit::par::partition_copy(orders, late, good, is_late);
//
// The predicate is called once for each element of a chunk, also for elements behind the end of a
// full output. Input and outputs must not overlap.
//
// Guarantees, exceptions, cancellation and cost as for `par::copy_if`.
#pragma once

#include "sennit/par/copy_if.hpp"

namespace sennit::par {

namespace detail {

// The prefix is the number of elements in front of a chunk that go to the first output.
template <class I, class O1, class O2, class Keeps>
struct partition_copy_work {
    using prefix_type = std::size_t;
    static constexpr std::size_t longest_chunk = 16'384;
    using scratch_type = typename copy_if_work<I, O1, Keeps>::scratch_type;

    copy_if_work<I, O1, Keeps> first_output;
    O2 out2;
    std::size_t room2;
    base::atomic<std::size_t>* full_at2; // the first element that did not fit there

    std::size_t contribute(std::size_t first, std::size_t last, scratch_type& scratch) const {
        return first_output.contribute(first, last, scratch);
    }
    std::size_t combine(std::size_t prefix, std::size_t contribution) const noexcept {
        return prefix + contribution;
    }
    void finish(std::size_t first, std::size_t last, std::optional<std::size_t> prefix,
                const scratch_type& scratch) const {
        std::size_t written = *prefix;
        I at = advanced(first_output.in, first);
        for (std::size_t i = 0; first != last; ++first, ++i, (void)++at)
            put(at, first, written, (scratch.matches[i / 64] >> (i % 64) & 1) != 0);
    }
    std::size_t direct(std::size_t first, std::size_t last,
                       std::optional<std::size_t> prefix) const {
        own_copy<const Keeps> matches = first_output.keeps.call;
        std::size_t written = *prefix;
        I at = advanced(first_output.in, first);
        for (; first != last; ++first, (void)++at) put(at, first, written, matches(at, first));
        return written;
    }

private:
    void put(const I& at, std::size_t index, std::size_t& written, bool to_first) const {
        if (to_first) {
            if (written < first_output.room)
                *advanced(first_output.out, written) = *at;
            else
                first_output.note_full(index, written);
            ++written;
            return;
        }
        const std::size_t other = index - written;
        if (other < room2)
            *advanced(out2, other) = *at;
        else if (other == room2)
            full_at2->store(index);
    }
};

struct partition_copy_calls {
    template <class I, class O1, class O2, class Test, class Proj>
    static constexpr bool accepts = tests<Test, I, Proj> && writes<std::iter_reference_t<I>, O1> &&
                                    writes<std::iter_reference_t<I>, O2>;

    template <class I, class O1, class O2, class Test, class Proj>
    static std::ranges::in_out_out_result<I, O1, O2>
    run(const with& options, I first, std::size_t n, O1 out1, std::size_t room1, O2 out2,
        std::size_t room2, Test& test, Proj& proj) {
        const auto goes_first = [test = shared_callable{test},
                                 proj = shared_callable{proj}](const I& at, std::size_t) {
            own_copy<Test> matches = test.call;
            own_copy<Proj> part = proj.call;
            return static_cast<bool>(std::invoke(matches, std::invoke(part, *at)));
        };
        using work = partition_copy_work<I, O1, O2, decltype(goes_first)>;
        base::atomic<std::size_t> full_at1{n};
        base::atomic<std::size_t> full_at2{n};
        const work all{{first, out1, room1, &full_at1, {goes_first}}, out2, room2, &full_at2};
        std::size_t in_first = *run_prefix_pass(options, n, all, std::optional<std::size_t>(0));
        // The elements in front of the first one that did not fit: one output holds its room of
        // them, the other output the rest.
        const std::size_t end = std::min(full_at1.load(), full_at2.load());
        if (end != n) in_first = full_at1.load() == end ? room1 : end - room2;
        return {advanced(first, end), advanced(out1, in_first), advanced(out2, end - in_first)};
    }

    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O1,
              output_end_of<O1> OS1, std::random_access_iterator O2, output_end_of<O2> OS2,
              class Test, class Proj = std::identity>
        requires(accepts<I, O1, O2, Test, Proj>)
    auto operator()(const with& options, I first, S last, O1 out1, OS1 out1_last, O2 out2,
                    OS2 out2_last, Test test, Proj proj = {}) const {
        return run(options, first, distance_of(first, last), out1, distance_of(out1, out1_last),
                   out2, distance_of(out2, out2_last), test, proj);
    }
    template <divisible_range R, divisible_range OR1, divisible_range OR2, class Test,
              class Proj = std::identity>
        requires(accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR1>,
                         std::ranges::iterator_t<OR2>, Test, Proj>)
    auto operator()(const with& options, R&& range, OR1&& out1, OR2&& out2, Test test,
                    Proj proj = {}) const {
        auto result =
            run(options, std::ranges::begin(range), size_of(range), std::ranges::begin(out1),
                size_of(out1), std::ranges::begin(out2), size_of(out2), test, proj);
        return std::ranges::in_out_out_result<std::ranges::borrowed_iterator_t<R>,
                                              std::ranges::borrowed_iterator_t<OR1>,
                                              std::ranges::borrowed_iterator_t<OR2>>{
            borrowed_iterator<R>(result.in), borrowed_iterator<OR1>(result.out1),
            borrowed_iterator<OR2>(result.out2)};
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O1,
              output_end_of<O1> OS1, std::random_access_iterator O2, output_end_of<O2> OS2,
              class Test, class Proj = std::identity>
        requires(accepts<I, O1, O2, Test, Proj>)
    auto operator()(I first, S last, O1 out1, OS1 out1_last, O2 out2, OS2 out2_last, Test test,
                    Proj proj = {}) const {
        return (*this)(automatic, first, last, out1, out1_last, out2, out2_last, std::move(test),
                       std::move(proj));
    }
    template <divisible_range R, divisible_range OR1, divisible_range OR2, class Test,
              class Proj = std::identity>
        requires(accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR1>,
                         std::ranges::iterator_t<OR2>, Test, Proj>)
    auto operator()(R&& range, OR1&& out1, OR2&& out2, Test test, Proj proj = {}) const {
        return (*this)(automatic, std::forward<R>(range), std::forward<OR1>(out1),
                       std::forward<OR2>(out2), std::move(test), std::move(proj));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::partition_copy takes the options or nothing, the elements, two "
                      "outputs (ranges, or two iterators of each) that they can be assigned to, a "
                      "predicate of one element, and a projection");
    }
};

} // namespace detail

// partition_copy(range, out1, out2, pred, proj = {}), partition_copy(first, last, out1, out1_last,
// out2, out2_last, pred, proj = {}), both with options in front. Copies the elements that satisfy
// pred(proj(element)) to out1, the other ones to out2. Blocks until all are written. Returns {in,
// out1, out2}: the end of the input, or the first element that did not fit into its output; and the
// ends of the written outputs, for the elements in front of that. What stands behind these ends is
// unspecified then. Throws the exception of the lowest chunk that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::partition_copy_calls> partition_copy{};

} // namespace sennit::par
