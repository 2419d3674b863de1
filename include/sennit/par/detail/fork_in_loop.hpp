// SPDX-License-Identifier: Apache-2.0
// fork_in_loop: a fork of two parts of an algorithm that obeys the limit of workers and the
// cancellation of the algorithm. Divide-and-conquer algorithms use it in place of fork_join.
#pragma once

#include "sennit/fork_join.hpp"
#include "sennit/par/detail/loop_control.hpp"

namespace sennit::par::detail {

// Runs `lower` and `upper`, in parallel if the algorithm has a free place. Both return nothing.
// Throws the exception of `lower`, otherwise that of `upper`.
template <class F, class G>
[[gnu::always_inline]] inline void fork_in_loop(loop_control& loop, F& lower, G& upper) {
    if (!loop.limited() && !loop.in_scope()) [[likely]] {
        (void)sennit::detail::fork_two_on_worker(lower, upper);
        return;
    }
    if (!loop.take_place()) {
        lower();
        upper();
        return;
    }
    auto lower_then_place = [&] {
        loop_control::place_guard place(loop);
        lower();
    };
    auto upper_in_scope = [&] {
        stolen_scope scope(loop);
        upper();
    };
    (void)sennit::detail::fork_two_on_worker(lower_then_place, upper_in_scope);
}

} // namespace sennit::par::detail
