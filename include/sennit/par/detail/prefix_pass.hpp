// SPDX-License-Identifier: Apache-2.0
// The engine of the scans and of copy_if: a single pass over the elements, in which each chunk
// needs a value that depends on all elements in front of it (its prefix).
//
// Protocol. All workers take chunks from the front of the range, in order, as in search_loop.hpp. A
// chunk has a node, and is linked to the node of the chunk in front of it.
// N1 A worker takes a chunk and links its node, under the lock of the pass.
// N2 If the prefix of the chunk is known, the worker writes the final output at once, and learns
//    the prefix behind the chunk by that.
// N3 Otherwise the worker computes the contribution of the chunk, without output, and waits for its
//    prefix. It publishes the prefix behind the chunk first, and then writes the output.
// N4 After the worker has copied the prefix out of the node in front, it finishes `read` there.
// One worker alone always takes N2, so that its pass is the serial algorithm.
//
// Why a wait ends. Chunks are taken in order, so the chunk in front of a taken chunk has been taken
// by a worker that has begun it. The chunk in front of all others never waits.
//
// Waits. The prefix arrives after one chunk of another worker, about 10 µs, so a worker looks for
// it for some time, and then suspends. While a worker is suspended, no further worker enters: it
// would take a chunk, suspend, too, and leave its thread to the next one, until each chunk had a
// context of its own. After the wait the worker invites again.
//
// Life of the nodes. Each entering worker has two nodes in its frame, and uses them in turn. When
// the worker has finished a chunk, the chain of prefixes up to that chunk is known; so the node of
// its chunk before was read (N4), and may be used again. Before a worker leaves, it waits for
// `read` of its last node if that node has a successor. A worker that leaves early takes the rest
// of the range away first, so that no successor can come later.
//
// Errors. A chunk that throws publishes a failure in place of a prefix, and so do all chunks behind
// it. The pass throws the exception of the lowest chunk.
//
// Tested by tests/unit/par/scan_test.cpp and explored by tests/sim/scenarios/prefix_pass.cpp. The
// explorer notices a prefix that is announced before it is written, a worker that leaves while its
// node may be read, and a failure that is not handed on.
#pragma once

#include "sennit/detail/core/one_shot.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/par/detail/search_loop.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace sennit::par::detail {

// `Work` has a `prefix_type`, and these functions for a chunk [first, last) behind `prefix`:
// direct(first, last, prefix) writes the output and returns the prefix behind the chunk;
// contribute(first, last, scratch) returns the prefix behind the chunk if the chunk began the
// range; combine(prefix, contribution) returns the prefix behind the chunk; finish(first, last,
// prefix, scratch) writes the output. A `scratch_type` passes from contribute to finish; each
// worker keeps one for all its chunks. `longest_chunk` bounds the chunks.
template <class Work>
class prefix_pass : public loop_control {
public:
    using prefix_type = typename Work::prefix_type;

    prefix_pass(const Work& work, std::optional<prefix_type> begin, std::size_t count,
                const with& given)
        : loop_control(given), work_(work), begin_(std::move(begin)), count_(count) {}

    search_result enter() {
        if (suspended_.load_rlx() != 0 || ended()) return {}; // A hint: a guest leaves early.
        if (limited() && entered_.fetch_add(1) >= options.max_workers) return {};
        frame mine(options);
        search_result result;
        auto take_here = [&] { return take_chunks(mine); };
        // An invitation that no thief has taken is void: this worker has entered already.
        const void* const here = sched::current_context();
        auto invite = [this, here] {
            if (sched::current_context() == here) return search_result{};
            stolen_scope scope(*this);
            return enter();
        };
        while (!ended()) {
            auto [own, other] = sennit::detail::fork_two_on_worker(take_here, invite);
            if (own.index < result.index) result = std::move(own);
            if (other.index < result.index) result = std::move(other);
        }
        if (mine.last && has_successor(*mine.last)) mine.last->read.wait("the next chunk");
        return result;
    }

    // The prefix behind the last chunk. Valid after all workers have left without an error.
    std::optional<prefix_type> end() && { return std::move(end_); }

private:
    struct node {
        sched::one_shot known;                 // `prefix` is set, or the chunk has failed
        sched::one_shot read;                  // the successor has read `prefix`
        base::atomic<bool> contributes{false}; // the worker computes the contribution
        std::optional<prefix_type> prefix;
        bool has_successor = false; // guarded by lock_
    };

    struct frame {
        explicit frame(const with& options) noexcept
            : steps(with{.min_grain = std::min(options.min_grain, Work::longest_chunk),
                         .max_grain = std::min(options.max_grain, Work::longest_chunk)}) {}
        std::optional<node> nodes[2];
        int turn = 0;
        node* last = nullptr;   // the node of the newest chunk
        std::uint64_t idle = 0; // ticks of waits for the prefix of the newest chunk
        typename Work::scratch_type scratch;
        chunk_sizer steps;
    };

    bool ended() {
        std::lock_guard guard(lock_);
        return next_ >= count_;
    }
    // No further chunk is taken.
    void drop_rest() {
        std::lock_guard guard(lock_);
        next_ = count_;
    }

    // Takes chunks until none is left, or until the worker was suspended.
    search_result take_chunks(frame& mine) {
        search_result result;
        for (bool waited = false; !waited;) {
            if (dropped(0)) drop_rest(); // cancelled
            std::size_t first = 0;
            std::size_t end = 0;
            node* front = nullptr;
            {
                std::lock_guard guard(lock_);
                if (next_ >= count_) break;
                first = next_;
                end = next_ = mine.steps.next_end(first, count_);
                front = last_;
                if (front) front->has_successor = true;
                last_ = mine.last = &mine.nodes[mine.turn ^= 1].emplace();
            }
            if (!run_chunk(first, end, front, mine, result, waited)) {
                drop_rest();
                break;
            }
            // A wait says nothing about the elements. If it counted, workers that run ahead would
            // take ever shorter chunks, and wait longer.
            mine.steps.note_chunk(end - first, std::exchange(mine.idle, 0));
            sched::poll_steal_requests();
        }
        return result;
    }
    bool has_successor(const node& which) {
        std::lock_guard guard(lock_);
        return which.has_successor;
    }

    // The loops over the elements are separate functions, so that the protocol around them takes no
    // registers from them.
    using scratch = typename Work::scratch_type;
    [[gnu::noinline]] static prefix_type contribute(const Work& work, std::size_t first,
                                                    std::size_t end, scratch& own) {
        return work.contribute(first, end, own);
    }
    [[gnu::noinline]] static void finish(const Work& work, std::size_t first, std::size_t end,
                                         std::optional<prefix_type>&& prefix, scratch& own) {
        work.finish(first, end, std::move(prefix), own);
    }
    [[gnu::noinline]] static prefix_type direct(const Work& work, std::size_t first,
                                                std::size_t end,
                                                std::optional<prefix_type>&& prefix) {
        return work.direct(first, end, std::move(prefix));
    }

    // Returns false if the chunk or one in front of it has failed.
    bool run_chunk(std::size_t first, std::size_t end, node* front, frame& own,
                   search_result& result, bool& waited) noexcept {
        node& mine = *own.last;
        bool front_is_read = front == nullptr;
        try {
            std::optional<prefix_type> contribution;
            if (front && !arrives_soon(*front, own.idle)) {
                mine.contributes.store_rel(true); // Pairs with arrives_soon.
                contribution.emplace(contribute(work_, first, end, own.scratch));
            }
            std::optional<prefix_type> prefix;
            if (front) {
                const bool failed = wait_for(*front, waited, own.idle);
                if (!failed) prefix = front->prefix;
                front->read.finish();
                front_is_read = true;
                if (failed) {
                    mine.known.finish(true);
                    return false;
                }
            } else {
                prefix = begin_;
            }
            if (contribution) {
                mine.prefix.emplace(
                    work_.combine(std::as_const(*prefix), std::move(*contribution)));
                if (end == count_) end_ = mine.prefix;
                mine.known.finish();
                finish(work_, first, end, std::move(prefix), own.scratch);
            } else {
                mine.prefix.emplace(direct(work_, first, end, std::move(prefix)));
                if (end == count_) end_ = mine.prefix;
                mine.known.finish();
            }
            return true;
        } catch (...) {
            result = {first, std::current_exception()};
            if (!front_is_read) {
                (void)wait_for(*front, waited, own.idle);
                front->read.finish();
            }
            if (!mine.known.finished()) mine.known.finish(true);
            return false;
        }
    }
    // Looks for the prefix of a chunk for some time, and adds that time to `idle`.
    static bool look_for(const node& front, std::uint64_t longest, std::uint64_t& idle) noexcept {
        const std::uint64_t start = sched::ticks();
        for (;;) {
            bool known = false;
            for (int i = 0; i < 16 && !known; ++i) known = front.known.finished();
            const std::uint64_t looked = sched::ticks() - start;
            if (!known && looked < longest) continue;
            idle += looked;
            return known;
        }
    }
    // True if the prefix of a chunk is known, or becomes known while this worker looks. The chunk
    // in front began earlier. If it contributes only, its prefix is likely to arrive soon. Two
    // workers then alternate: one writes the output of its chunk directly, while the other one
    // contributes the next chunk. Otherwise each chunk would be read twice.
    static bool arrives_soon(const node& front, std::uint64_t& idle) noexcept {
        if (front.known.finished()) return true;
        // Pairs with run_chunk of the worker in front. An old value costs a contribution.
        return front.contributes.load_acq() && look_for(front, 3 * sched::ticks_per_us(), idle);
    }
    // Ten chunks of the usual length. A worker that was suspended continues late: its context waits
    // in the queue of the worker that woke it.
    static std::uint64_t longest_look() noexcept { return 10 * chunk_sizer::target(); }

    // Waits for the prefix of a chunk, and notes how long, and whether the worker was suspended.
    // Returns true if the chunk has failed.
    bool wait_for(node& front, bool& waited, std::uint64_t& idle) noexcept {
        if (!front.known.finished() && !look_for(front, longest_look(), idle)) {
            waited = true;
            const std::uint64_t start = sched::ticks();
            suspended_.fetch_add(1);
            front.known.wait("the prefix of a chunk");
            suspended_.fetch_sub(1);
            idle += sched::ticks() - start;
        }
        return front.known.failed();
    }

    const Work& work_;
    const std::optional<prefix_type> begin_;
    const std::size_t count_;
    std::optional<prefix_type> end_; // written by the worker of the last chunk
    base::atomic<unsigned> entered_{0};
    base::atomic<unsigned> suspended_{0}; // workers that wait for a prefix
    base::spin_lock lock_;                // guards the members below
    std::size_t next_ = 0;                // the first element that no worker has taken
    node* last_ = nullptr;                // the node of the newest chunk
};

// Runs the pass and returns the prefix behind the last chunk. `begin` is that of the first chunk.
template <class Work>
std::optional<typename Work::prefix_type>
run_prefix_pass(const with& options, std::size_t count, const Work& work,
                std::optional<typename Work::prefix_type> begin) {
    if (count == 0) return begin;
    prefix_pass<Work> pass(work, std::move(begin), count, options);
    auto enter = [&] { return pass.enter(); };
    search_result result = sched::free_slot() ? enter() : sennit::detail::on_default_runtime(enter);
    if (result.error) std::rethrow_exception(std::move(result.error));
    pass.throw_if_cancelled();
    return std::move(pass).end();
}

} // namespace sennit::par::detail
