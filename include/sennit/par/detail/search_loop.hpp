// SPDX-License-Identifier: Apache-2.0
// The engine of the searches: all workers take chunks from the front of one range, in order, until
// a worker finds a match.
//
// Protocol. `next_` is the first index that no worker has taken. A worker takes a chunk by moving
// `next_` behind it, examines the chunk, and takes the next one. When a worker enters, it forks the
// invitation of one further worker, which stays on its fork stack while it works. A thief of the
// invitation enters like that worker. So the workers enter one after the other, and only
// a free worker takes an invitation. A match lowers the stop index; chunks behind it are not taken.
// All chunks before a match have been taken, and the workers that took them finish them, so the
// lowest match is the first one. A worker examines at most one chunk behind the match.
//
// A lazily halved range (lazy_loop.hpp) would let the thief search the far half of the range
// without result while the match is near the front.
//
// Errors. A chunk that throws counts as a match at its first index, and keeps its exception. The
// search throws the exception of the lowest match. It therefore ends as the serial search does,
// except that elements behind the end are examined, too; their exceptions are dropped.
#pragma once

#include "sennit/detail/base/cache_line.hpp"
#include "sennit/par/detail/call_forms.hpp"

#include <cstddef>
#include <exception>
#include <limits>
#include <utility>

namespace sennit::par::detail {

inline constexpr std::size_t no_match = std::numeric_limits<std::size_t>::max();

struct search_result {
    std::size_t index = no_match;
    std::exception_ptr error;
};

// `body(first, last)` returns the index of the first match of a chunk, or `last`.
template <class Body>
class search_loop : public loop_control {
public:
    // `any`: a match drops all chunks, also those before it.
    search_loop(const Body& body, std::size_t count, const with& given, bool any) noexcept
        : loop_control(given), body_(body), count_(count), any_(any) {}

    search_result enter() {
        if (ended_before(next_.load_rlx())) return {}; // A hint: examine looks again.
        if (limited() && entered_.fetch_add(1) >= options.max_workers - 1) return examine();
        auto examine_here = [this] { return examine(); };
        auto invite = [this] {
            stolen_scope scope(*this);
            return enter();
        };
        auto [mine, theirs] = sennit::detail::fork_two_on_worker(examine_here, invite);
        return theirs.index < mine.index ? std::move(theirs) : std::move(mine);
    }

private:
    // True if no worker takes a chunk that begins at `first` or behind it. This stays true.
    bool ended_before(std::size_t first) noexcept {
        return first >= count_ || found_any() || dropped(first);
    }
    bool found_any() const noexcept { return any_ && lowest() != no_match; }

    // Takes and examines chunks. Its first match is its lowest one, because chunks are taken in
    // order.
    search_result examine() {
        chunk_sizer steps(options);
        std::size_t first = next_.load_rlx(); // Orders nothing: the index is all that passes.
        for (;;) {
            if (ended_before(first)) return {};
            const std::size_t end = steps.next_end(first, count_);
            if (!next_.cas_rlx(first, end)) continue; // A counter: it publishes nothing.
            search_result found = examine_chunk(first, end);
            if (found.index != no_match) {
                stop_at(found.index);
                return found;
            }
            steps.note_chunk(end - first);
            sched::poll_steal_requests();
            first = next_.load_rlx(); // A counter, as before the loop.
        }
    }

    // Looks at the stop index between parts of a chunk: its elements may have become expensive.
    search_result examine_chunk(std::size_t first, std::size_t last) noexcept {
        try {
            while (first < last) {
                const std::size_t end = last - first < part ? last : first + part;
                const std::size_t found = body_(first, end);
                if (found < end) return {found, {}};
                first = end;
                if (lowest() < first || found_any()) break;
            }
            return {};
        } catch (...) {
            return {first, std::current_exception()};
        }
    }

    static constexpr std::size_t part = 4096;

    const Body& body_;
    const std::size_t count_;
    const bool any_;
    base::atomic<unsigned> entered_{0};
    alignas(base::cache_line) base::atomic<std::size_t> next_{0};
};

// Returns the index of the first match among `count` elements, or `count`.
template <class Body>
std::size_t search(const with& options, std::size_t count, const Body& body, bool any = false) {
    if (count == 0) return 0;
    search_loop<Body> loop(body, count, options, any);
    auto enter = [&] { return loop.enter(); };
    search_result found = sched::free_slot() ? enter() : sennit::detail::on_default_runtime(enter);
    if (found.error) std::rethrow_exception(std::move(found.error));
    if (found.index != no_match) return found.index;
    loop.throw_if_cancelled();
    return count;
}

// Searches an element for which `test(*i)` holds.
template <class I, class Test>
std::size_t search_elements(const with& options, I first, std::size_t count, const Test& test,
                            bool any = false) {
    return search(
        options, count,
        [first, test = shared_callable{test}](std::size_t from, std::size_t to) {
            own_copy<const Test> matches = test.call;
            I at = advanced(first, from);
            // Unrolled by hand: compilers do not unroll a loop whose exit depends on the elements.
            for (; to - from >= 4; from += 4, (void)++at) {
                if (matches(*at)) return from;
                if (matches(*++at)) return from + 1;
                if (matches(*++at)) return from + 2;
                if (matches(*++at)) return from + 3;
            }
            for (; from != to; ++from, (void)++at)
                if (matches(*at)) return from;
            return to;
        },
        any);
}

} // namespace sennit::par::detail
