// SPDX-License-Identifier: Apache-2.0
// distribution: moves elements into buckets, in parallel, in their order within each bucket.
//
// The elements are divided into blocks, whose number depends on the elements only. First the
// elements of each bucket are counted in each block. The sums of these counts, bucket by bucket and
// block by block, are the places at which each block writes. So blocks are independent in both
// passes, and the result does not depend on the workers.
#pragma once

#include "sennit/par/detail/fork_in_loop.hpp"
#include "sennit/par/detail/room.hpp"

#include <algorithm>
#include <cstddef>

namespace sennit::par::detail {

// Calls `body(i)` for the parts [from, to), in parallel. A cancellation does not stop it.
template <class Body>
void for_parts(loop_control& loop, std::size_t from, std::size_t to,
               const Body& body) noexcept(noexcept(body(from))) {
    while (to - from > 1) {
        const std::size_t half = from + (to - from) / 2;
        auto lower = [&]() noexcept(noexcept(body(from))) { for_parts(loop, from, half, body); };
        auto upper = [&]() noexcept(noexcept(body(from))) { for_parts(loop, half, to, body); };
        return fork_in_loop(loop, lower, upper);
    }
    if (from != to) body(from);
}

// Calls `body(first, last)` for parts of at most `size` of n elements, in parallel.
template <class Body>
void for_slices(loop_control& loop, std::size_t n, std::size_t size,
                const Body& body) noexcept(noexcept(body(n, n))) {
    for_parts(loop, 0, n / size + (n % size != 0),
              [&](std::size_t part) noexcept(noexcept(body(n, n))) {
                  body(part * size, std::min(n, (part + 1) * size));
              });
}

class distribution {
public:
    distribution(std::size_t n, std::size_t buckets) noexcept
        : n_(n), buckets_(buckets), block_(std::max({n / 64 + 1, least_block, 16 * buckets})),
          blocks_(n / block_ + (n % block_ != 0)), counts_(blocks_ * buckets) {}

    bool refused() const noexcept { return counts_.get() == nullptr; }

    // Counts the elements. `bucket_of(i)` is the bucket of element i.
    template <class BucketOf>
    void count(loop_control& loop, const BucketOf& bucket_of) {
        for_parts(loop, 0, blocks_, [&](std::size_t block) {
            std::size_t* const counts = counts_of(block);
            std::fill_n(counts, buckets_, std::size_t{0});
            const std::size_t last = std::min(n_, (block + 1) * block_);
            for (std::size_t i = block * block_; i != last; ++i) ++counts[bucket_of(i)];
        });
        std::size_t sum = 0;
        for (std::size_t bucket = 0; bucket != buckets_; ++bucket)
            for (std::size_t block = 0; block != blocks_; ++block)
                sum += std::exchange(counts_of(block)[bucket], sum);
    }
    // Calls `move(i, place)` for each element. `bucket_of` must return the buckets of `count`.
    template <class BucketOf, class Move>
    void scatter(loop_control& loop, const BucketOf& bucket_of, const Move& move) noexcept {
        for_parts(loop, 0, blocks_, [&](std::size_t block) noexcept {
            std::size_t* const places = counts_of(block);
            const std::size_t last = std::min(n_, (block + 1) * block_);
            for (std::size_t i = block * block_; i != last; ++i) move(i, places[bucket_of(i)]++);
        });
    }
    // The end of a bucket, after `scatter`; its begin is the end of the bucket before.
    std::size_t end(std::size_t bucket) const noexcept {
        return counts_.get()[(blocks_ - 1) * buckets_ + bucket];
    }
    std::size_t begin(std::size_t bucket) const noexcept {
        return bucket == 0 ? 0 : end(bucket - 1);
    }

private:
    static constexpr std::size_t least_block = 65'536;

    std::size_t* counts_of(std::size_t block) const noexcept {
        return counts_.get() + block * buckets_;
    }

    std::size_t n_;
    std::size_t buckets_;
    std::size_t block_;
    std::size_t blocks_;
    sort_room<std::size_t> counts_; // of a block, bucket by bucket
};

} // namespace sennit::par::detail
