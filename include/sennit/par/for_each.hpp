// SPDX-License-Identifier: Apache-2.0
// par::for_each: calls one callable for each element of a random-access range, in parallel.
//
// Use it for any loop whose iterations do not depend on each other, even over cheap elements: the
// loop chooses its chunks itself. Do not use it to spawn tasks that wait for each other; elements
// of one chunk run one after the other.
//
//     sennit::par::for_each(pixels, [](pixel& p) { p = tone_map(p); });
//     sennit::par::for_each(sennit::par::grain{4}, rows.begin(), rows.end(), solve);
//     sennit::par::for_each(orders, round_up, &order::price);
//
// Guarantees. Each element is visited exactly once; neighbours in one chunk are visited in order.
// All calls have ended when the loop returns or throws. Several workers call `f` at the same time;
// `f` is copied if it is trivially copyable and at most 64 bytes. A call of `f` may wait in any
// call of Sennit, fork, or run a loop of its own. A system call blocks its worker. On a thread that
// is no worker, the loop runs on the default runtime and blocks the thread.
//
// Exceptions. The loop throws the exception of the first element, in order, that throws. Chunks
// behind that element that have not started are dropped.
//
// Cancellation. Each chunk begins with a look at the surrounding nursery or with_timeout, on every
// worker. After a cancellation the loop drops the chunks that have not started, and throws
// `cancelled`.
//
// The loop sizes a chunk by the time that the elements before it took. If elements suddenly become
// a thousand times more expensive, one worker still finishes its present chunk: at most a sixteenth
// of the rest of the range, or 2.5 µs of the cheap elements. `with{.max_grain = n}` bounds a chunk.
//
// Cost with one worker: the time of the plain loop and about 20 ns for each chunk. That is 5 ns
// for one element, and 40 to 110 ns for up to 10,000 cheap elements (g++ 12 -O3, Intel Xeon). With
// two workers it is 200 ns for 100 elements and 1.7 µs for 10,000 (AMD EPYC), because the second
// worker takes a part. No allocation.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par {

namespace detail {

// Calls `f(proj(*i))` for n iterators, and returns the end.
template <class I, class F, class Proj>
I visit_elements(const with& options, I first, std::size_t n, F& f, Proj& proj) {
    run_chunks(options, n,
               [first, f = shared_callable{f}, proj = shared_callable{proj}](
                   std::size_t from, std::size_t to) noexcept(never_throws_calling<F, I, Proj>) {
                   own_copy<F> call = f.call;
                   own_copy<Proj> part = proj.call;
                   I at = advanced(first, from);
                   for (std::size_t left = to - from; left != 0; --left, (void)++at)
                       std::invoke(call, std::invoke(part, *at));
               });
    return advanced(first, n);
}

struct for_each_algorithm {
    template <class I, class F, class Proj>
    static constexpr bool accepts = visits<F, I, Proj> && !shares_words<I>;

    template <class I, class F, class Proj>
    static I run(const with& options, I first, std::size_t n, F& f, Proj& proj) {
        return visit_elements(options, first, n, f, proj);
    }
};

} // namespace detail

// for_each(range, f, proj = {}), for_each(first, last, f, proj = {}), and both forms with options
// in front. Calls `f(proj(element))` for each element. Blocks until all calls have ended. Returns
// the end of the range. Throws the exception of the first element that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::element_calls<detail::for_each_algorithm>> for_each{};

} // namespace sennit::par
