// SPDX-License-Identifier: Apache-2.0
// mergesort: the parallel stable sort. It needs room for all elements.
//
// Both halves are sorted in parallel, alternately in place and into the room, and then merged to
// the other side. A merge of many elements is divided at the middle of the longer run and at the
// place of that element in the other run; both parts are merged in parallel. The division is found
// once, and both parts obey it. So each element moves exactly once, even if the comparison is
// inconsistent.
//
// Errors. A merge never throws: when a comparison throws, the merge keeps the exception and moves
// the rest of its runs in order. After an exception, sort_half moves all elements back in place. So
// the range is a permutation of its elements again. Moves of elements must not throw.
#pragma once

#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/par/detail/branchless_merge.hpp"
#include "sennit/par/detail/quicksort.hpp"
#include "sennit/par/detail/room.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <new>

namespace sennit::par::detail {

template <class I, class Order>
class mergesort {
public:
    using value = std::iter_value_t<I>;

    mergesort(loop_control& loop, const Order& less, value* room)
        : loop_(loop), less_(less), room_(room) {}

    void run(I first, std::size_t n) {
        origin_ = first;
        sort_half(0, n, false);
    }

    // Merges the runs of n1 and n2 elements at `first`.
    void merge_runs(I first, std::size_t n1, std::size_t n2) {
        origin_ = first;
        move_to_room_in_parallel(0, n1 + n2);
        failure failed;
        merge<false>(failed, room_, n1, room_ + n1, n2, first);
        std::destroy_n(room_, n1 + n2);
        if (failed.error) std::rethrow_exception(failed.error);
    }

private:
    static constexpr std::size_t small = 24;
    static constexpr std::size_t forked = 1024;
    // Serial merges; half of it takes some microseconds.
    static constexpr std::size_t merged_serially = 16'384;

    // Sorts elements [from, from + n), from their place into the room or in place. If it throws,
    // all of them are back in their place.
    void sort_half(std::size_t from, std::size_t n, bool into_room) {
        const I place = advanced(origin_, from);
        if (n <= small) {
            insertion_sort(place, n, less_);
            if (into_room) move_to_room(from, n);
            return;
        }
        if (n > forked && loop_.in_scope() && loop_.dropped(0)) throw sennit::cancelled();
        const std::size_t half = n / 2;
        bool lower_moved = false;
        bool upper_moved = false;
        auto lower = [&, this] {
            sort_half(from, half, !into_room);
            lower_moved = !into_room;
        };
        auto upper = [&, this] {
            sort_half(from + half, n - half, !into_room);
            upper_moved = !into_room;
        };
        try {
            if (n > forked) {
                fork_in_loop(loop_, lower, upper);
            } else {
                lower();
                upper();
            }
        } catch (...) {
            if (lower_moved) move_back(from, half);
            if (upper_moved) move_back(from + half, n - half);
            throw;
        }
        failure failed;
        if (into_room) {
            merge<true>(failed, place, half, advanced(place, half), n - half, room_ + from);
            if (failed.error) move_back(from, n);
        } else {
            merge<false>(failed, room_ + from, half, room_ + from + half, n - half, place);
            std::destroy_n(room_ + from, n);
        }
        if (failed.error) std::rethrow_exception(failed.error);
    }

    void move_to_room(std::size_t from, std::size_t n) noexcept {
        I at = advanced(origin_, from);
        for (std::size_t i = 0; i < n; ++i, (void)++at)
            std::construct_at(room_ + from + i, std::ranges::iter_move(at));
    }
    void move_to_room_in_parallel(std::size_t from, std::size_t n) noexcept {
        if (n <= merged_serially) return move_to_room(from, n);
        auto lower = [&, this]() noexcept { move_to_room_in_parallel(from, n / 2); };
        auto upper = [&, this]() noexcept { move_to_room_in_parallel(from + n / 2, n - n / 2); };
        fork_in_loop(loop_, lower, upper);
    }
    void move_back(std::size_t from, std::size_t n) noexcept {
        I at = advanced(origin_, from);
        for (std::size_t i = 0; i < n; ++i, (void)++at) *at = std::move(room_[from + i]);
        std::destroy_n(room_ + from, n);
    }

    // The first exception of a merge.
    struct failure {
        base::spin_lock lock;
        std::exception_ptr error;
        void keep() noexcept {
            std::lock_guard guard(lock);
            if (!error) error = std::current_exception();
        }
    };

    template <bool IntoRoom, class To, class From>
    static void put_next(To& to, From& from) noexcept {
        if constexpr (IntoRoom)
            std::construct_at(to, std::ranges::iter_move(from));
        else
            *to = std::ranges::iter_move(from);
        ++to;
        ++from;
    }

    template <bool IntoRoom, class From, class To>
    void merge(failure& failed, From a, std::size_t na, From b, std::size_t nb, To to) noexcept {
        if (na + nb <= merged_serially || na == 0 || nb == 0)
            return merge_serially<IntoRoom>(failed, a, na, b, nb, to);
        // The elements of the second run that equal an element of the first one stand behind it.
        std::size_t ia = na / 2;
        std::size_t ib = nb / 2;
        try {
            if (na >= nb)
                ib = leading_count(
                    b, nb, [&](auto&& element) { return less_(element, *advanced(a, ia)); });
            else
                ia = leading_count(
                    a, na, [&](auto&& element) { return !less_(*advanced(b, ib), element); });
        } catch (...) {
            failed.keep();
        }
        auto lower = [&, this]() noexcept { merge<IntoRoom>(failed, a, ia, b, ib, to); };
        auto upper = [&, this]() noexcept {
            merge<IntoRoom>(failed, advanced(a, ia), na - ia, advanced(b, ib), nb - ib,
                            advanced(to, ia + ib));
        };
        fork_in_loop(loop_, lower, upper);
    }

    template <bool IntoRoom, class From, class To>
    void merge_serially(failure& failed, From a, std::size_t na, From b, std::size_t nb,
                        To to) noexcept {
        try {
            if constexpr (cheap_to_exchange<From>) {
                const From a_end = a + na;
                const From b_end = b + nb;
                struct rest { // counts what is left, also after an exception
                    From& at;
                    From end;
                    std::size_t& left;
                    void count() const { left = static_cast<std::size_t>(end - at); }
                    ~rest() { count(); }
                } rest_a{a, a_end, na}, rest_b{b, b_end, nb};
                while (na != 0 && nb != 0) {
                    branchless_merge(
                        a, b, to, std::min(na, nb),
                        [this](const value& x, const value& y) { return less_(y, x); },
                        [](To place, const value& element) {
                            if constexpr (IntoRoom)
                                std::construct_at(place, element);
                            else
                                *place = element;
                        });
                    rest_a.count();
                    rest_b.count();
                }
            } else {
                while (na != 0 && nb != 0) {
                    if (less_(*b, *a)) {
                        put_next<IntoRoom>(to, b);
                        --nb;
                    } else {
                        put_next<IntoRoom>(to, a);
                        --na;
                    }
                }
            }
        } catch (...) {
            failed.keep();
        }
        for (; na != 0; --na) put_next<IntoRoom>(to, a);
        for (; nb != 0; --nb) put_next<IntoRoom>(to, b);
    }

    loop_control& loop_;
    const Order less_;
    value* const room_;
    I origin_{};
};

} // namespace sennit::par::detail
