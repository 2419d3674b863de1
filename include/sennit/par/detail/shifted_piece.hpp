// SPDX-License-Identifier: Apache-2.0
// The work that moves the elements of a range to the left by a short distance, in place, in
// parallel.
//
// The chunks of one worker grow a piece. The first elements of a piece, as many as the distance,
// would go to places of the piece in front, whose worker may not have read them. So the piece saves
// them in a room, and each later element goes to a place that the piece has read. The last places
// of a piece are holes, as many as it has saved elements. A join puts the saved elements of the
// high piece into the holes of the low one.
//
// A piece that ends puts its saved elements into its own holes. So the range is a permutation of
// its elements afterwards, also after a cancellation. If the piece is the whole range, its elements
// are then rotated by the distance.
//
// A piece whose room is refused is `raw`: its elements stay, and the join moves them.
#pragma once

#include "sennit/par/detail/call_forms.hpp"
#include "sennit/par/detail/room.hpp"

#include <memory>

namespace sennit::par::detail {

// True if elements can be moved to a room and back without an exception.
template <class I>
inline constexpr bool moves_to_room =
    std::is_nothrow_move_constructible_v<std::iter_value_t<I>> &&
    std::is_nothrow_move_assignable_v<std::iter_value_t<I>> && never_throws_going<I> &&
    std::same_as<std::iter_rvalue_reference_t<I>, std::iter_value_t<I>&&>;

template <class I>
class shifted_piece {
public:
    shifted_piece(I all, std::size_t begin, std::size_t distance) noexcept
        : all_(all), distance_(distance), first_(begin), last_(begin), room_(distance) {}
    shifted_piece(shifted_piece&& other) noexcept
        : all_(other.all_), distance_(other.distance_), first_(other.first_), last_(other.last_),
          saved_(std::exchange(other.saved_, 0)), room_(std::move(other.room_)) {}
    shifted_piece& operator=(shifted_piece&& other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~shifted_piece() { put_saved(0, saved_, last_ - saved_); }

    // Moves the elements [last(), to).
    void extend(std::size_t to) noexcept {
        std::size_t from = std::exchange(last_, to);
        if (raw()) return;
        if (const std::size_t count = std::min(to - from, distance_ - saved_); count != 0) {
            const I at = advanced(all_, from);
            std::uninitialized_move(at, advanced(at, count), room_.get() + saved_);
            saved_ += count;
            from += count;
        }
        if (from != to)
            std::ranges::move(advanced(all_, from), advanced(all_, to),
                              advanced(all_, from - distance_));
    }

    // Joins the piece behind this one.
    void join(shifted_piece high) noexcept {
        if (last_ != high.first_) return; // The loop was cancelled between both.
        if (high.raw()) return extend(high.last_);
        if (raw()) high.restore();
        last_ = high.last_;
        if (raw()) return;
        const std::size_t taken = std::min(distance_ - saved_, high.saved_);
        for (std::size_t i = 0; i != taken; ++i)
            std::construct_at(room_.get() + saved_ + i, std::move(high.room_.get()[i]));
        saved_ += taken;
        high.put_saved(taken, high.saved_, high.first_ + taken - distance_);
        std::destroy_n(high.room_.get(), taken);
        high.saved_ = 0;
    }

    bool raw() const noexcept { return room_.get() == nullptr; }

private:
    // Moves saved elements to places from `place` on, and destroys them in the room.
    void put_saved(std::size_t from, std::size_t to, std::size_t place) noexcept {
        if (from == to) return;
        std::ranges::move(room_.get() + from, room_.get() + to, advanced(all_, place));
        std::destroy(room_.get() + from, room_.get() + to);
    }
    // Moves all elements back, and makes the piece raw.
    void restore() noexcept {
        std::ranges::move_backward(advanced(all_, first_), advanced(all_, last_ - saved_),
                                   advanced(all_, last_));
        put_saved(0, std::exchange(saved_, 0), first_);
        room_ = {};
    }

    I all_;
    std::size_t distance_;
    std::size_t first_;
    std::size_t last_;
    std::size_t saved_ = 0;
    sort_room<std::iter_value_t<I>> room_;
};

template <class I>
struct shift_work {
    using value_type = shifted_piece<I>;
    static constexpr bool never_throws = true;

    I all;
    std::size_t distance;

    void run(std::optional<value_type>& piece, std::size_t from, std::size_t to) const noexcept {
        if (!piece) piece.emplace(all, from, distance);
        piece->extend(to);
    }
    value_type join(value_type low, value_type high) const noexcept {
        low.join(std::move(high));
        return low;
    }
};

// Rooms of a piece are at most this long, because each thief fills one before it can move on.
inline constexpr std::size_t longest_shift_bytes = 262'144;

template <class I>
constexpr bool is_short_shift(std::size_t distance) noexcept {
    return moves_to_room<I> && distance * sizeof(std::iter_value_t<I>) <= longest_shift_bytes;
}

// Rotates n elements to the left by `distance`, at most n.
template <class I>
void rotate_by_pieces(const with& options, I first, std::size_t n, std::size_t distance) {
    if (distance == 0 || distance == n) return;
    const auto whole = run_loop(shift_work<I>{first, distance}, {}, n, options);
    if (whole->raw()) std::ranges::rotate(first, advanced(first, distance), advanced(first, n));
}

} // namespace sennit::par::detail
