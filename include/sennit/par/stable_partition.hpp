// SPDX-License-Identifier: Apache-2.0
// par::stable_partition: moves the elements that satisfy a predicate to the front, in parallel, and
// keeps the order of both groups.
//
//     auto late = sennit::par::stable_partition(orders, [](const order& o) { return !o.late; });
//
// Use `par::partition` if the order does not matter: it needs no memory.
//
// Guarantees. The predicate is called once for each element, by several workers at the same time.
// The range is a permutation of its elements afterwards, also if the predicate throws.
//
// Exceptions and cancellation as for `par::for_each`. Cost: room for all elements, of which the
// elements of the second group use their part. Each element moves once or twice; a worker that
// joins in moves its elements once more. If the memory is refused, or if a move of the elements may
// throw, it works in place, in O(n log n).
#pragma once

#include "sennit/par/detail/fork_in_loop.hpp"
#include "sennit/par/detail/shifted_piece.hpp"
#include "sennit/par/partition.hpp"
#include "sennit/par/sort.hpp"

namespace sennit::par {

namespace detail {

// The chunks of one worker grow a piece: [first, split) goes to the left. All other elements are in
// the room, from place `first` on. A piece that ends puts them back behind `split`.
template <class I>
class stably_partitioned_piece {
public:
    using value = std::iter_value_t<I>;

    stably_partitioned_piece(I all, value* room, std::size_t begin) noexcept
        : all_(all), room_(room), first_(begin), split_(begin), last_(begin) {}
    stably_partitioned_piece(stably_partitioned_piece&& other) noexcept
        : all_(other.all_), room_(std::exchange(other.room_, nullptr)), first_(other.first_),
          split_(other.split_), last_(other.last_) {}
    stably_partitioned_piece& operator=(stably_partitioned_piece&& other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~stably_partitioned_piece() {
        if (room_) put_back(0, last_ - split_);
    }

    template <class GoesLeft>
    void extend(std::size_t to, const GoesLeft& goes) {
        if constexpr (cheap_to_exchange<I>) {
            auto* const all = std::to_address(all_);
            value* right = room_ + first_ + (last_ - split_);
            value* left = all + split_;
            const auto commit = [&](std::size_t at) {
                split_ = static_cast<std::size_t>(left - all);
                last_ = at;
            };
            std::size_t at = last_;
            try {
                for (; at != to; ++at) {
                    const value moved = all[at];
                    const bool goes_left = goes(moved);
                    std::construct_at(right, moved);
                    *left = moved;
                    left += goes_left;
                    right += !goes_left;
                }
            } catch (...) {
                commit(at);
                throw;
            }
            commit(to);
        } else {
            for (I at = advanced(all_, last_); last_ != to; ++last_, (void)++at) {
                if (goes(*at)) {
                    if (split_ != last_) *advanced(all_, split_) = std::ranges::iter_move(at);
                    ++split_;
                } else {
                    std::construct_at(room_ + first_ + (last_ - split_),
                                      std::ranges::iter_move(at));
                }
            }
        }
    }

    void join(stably_partitioned_piece high) noexcept {
        if (last_ != high.first_) return; // The loop was cancelled between both.
        value* to = room_ + first_ + (last_ - split_);
        value* from = high.room_ + high.first_;
        for (std::size_t left = high.last_ - high.split_; left != 0; --left, ++to, ++from) {
            if (to == from) break;
            std::construct_at(to, std::move(*from));
            std::destroy_at(from);
        }
        if (split_ != high.first_)
            std::ranges::move(advanced(all_, high.first_), advanced(all_, high.split_),
                              advanced(all_, split_));
        split_ += high.split_ - high.first_;
        last_ = high.last_;
        high.room_ = nullptr;
    }

    // Puts the elements of the room back, in parallel. The cancellation does not stop it.
    std::size_t finish(loop_control& loop) && noexcept {
        put_back_in_parallel(loop, 0, last_ - split_);
        room_ = nullptr;
        return split_;
    }

private:
    void put_back(std::size_t from, std::size_t to) noexcept {
        value* const right = room_ + first_;
        std::ranges::move(right + from, right + to, advanced(all_, split_ + from));
        std::destroy(right + from, right + to);
    }
    void put_back_in_parallel(loop_control& loop, std::size_t from, std::size_t to) noexcept {
        if (to - from <= 16'384) return put_back(from, to);
        const std::size_t half = from + (to - from) / 2;
        auto lower = [&, this]() noexcept { put_back_in_parallel(loop, from, half); };
        auto upper = [&, this]() noexcept { put_back_in_parallel(loop, half, to); };
        fork_in_loop(loop, lower, upper);
    }

    I all_;
    value* room_; // null: the piece is empty
    std::size_t first_;
    std::size_t split_;
    std::size_t last_;
};

template <class I, class GoesLeft>
struct stable_partition_work {
    using value_type = stably_partitioned_piece<I>;
    static constexpr bool never_throws = false;

    I first;
    std::iter_value_t<I>* room;
    shared_callable<const GoesLeft> goes_left;

    void run(std::optional<value_type>& piece, std::size_t from, std::size_t to) const {
        if (!piece) piece.emplace(first, room, from);
        own_copy<const GoesLeft> goes = goes_left.call;
        piece->extend(to, goes);
    }
    value_type join(value_type low, value_type high) const noexcept {
        low.join(std::move(high));
        return low;
    }
};

// Partitions n elements without room. Returns the number of elements that go to the left.
template <class I, class GoesLeft>
std::size_t stable_partition_in_place(loop_control& loop, I first, std::size_t n,
                                      const GoesLeft& goes) {
    if (n == 0) return 0;
    if (n == 1) return goes(*first) ? 1 : 0;
    if (loop.in_scope() && loop.dropped(0)) throw sennit::cancelled();
    const std::size_t half = n / 2;
    std::size_t left1 = 0;
    std::size_t left2 = 0;
    auto lower = [&] { left1 = stable_partition_in_place(loop, first, half, goes); };
    auto upper = [&] {
        left2 = stable_partition_in_place(loop, advanced(first, half), n - half, goes);
    };
    if (n > 256) {
        fork_in_loop(loop, lower, upper);
    } else {
        lower();
        upper();
    }
    std::ranges::rotate(advanced(first, left1), advanced(first, half),
                        advanced(first, half + left2));
    return left1 + left2;
}

struct stable_partition_algorithm {
    template <class I, class Test, class Proj>
    static constexpr bool accepts = partition_algorithm::accepts<I, Test, Proj>;

    template <class I, class Test, class Proj>
    static std::ranges::subrange<I> run(const with& options, I first, std::size_t n, Test& test,
                                        Proj& proj) {
        using goes_left = projected_test<Test, Proj>;
        const goes_left goes{{test}, {proj}};
        if constexpr (moves_to_room<I>) {
            const sort_room<std::iter_value_t<I>> room(n);
            if (room.get() && n != 0) {
                using work = stable_partition_work<I, goes_left>;
                auto all = run_loop(work{first, room.get(), {goes}}, {}, n, options);
                std::size_t left = 0;
                loop_control loop(options);
                run_sort([&]() noexcept { left = std::move(*all).finish(loop); });
                return {advanced(first, left), advanced(first, n)};
            }
        }
        std::size_t left = 0;
        loop_control loop(options);
        run_sort([&] { left = stable_partition_in_place(loop, first, n, goes); });
        return {advanced(first, left), advanced(first, n)};
    }
};

} // namespace detail

// stable_partition(range, pred, proj = {}), stable_partition(first, last, pred, proj = {}), both
// with options in front. Blocks until the range is partitioned. Returns the elements that do not
// satisfy pred(proj(element)), as std::ranges::stable_partition does. Throws the exception of the
// lowest chunk that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::element_calls<detail::stable_partition_algorithm>>
    stable_partition{};

} // namespace sennit::par
