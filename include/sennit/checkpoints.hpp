// SPDX-License-Identifier: Apache-2.0
// checkpoints, checkpointed, SENNIT_FOR, SENNIT_WHILE: loops that give way by themselves, for code
// that computes for long and neither blocks nor forks.
//
//     for (const page& each : sennit::checkpointed(pages)) index(each);      // a range
//     SENNIT_FOR (int i = 0; i < n; ++i) sum += weight(i);                   // a loop as it was
//     SENNIT_WHILE (!solved(board)) improve(board);
//     sennit::checkpoints look;                                              // or by hand, in a
//     recursion … look();
//
// Each pass of the loop is a checkpoint: it offers forks to workers that ask (sennit::checkpoint),
// and when the time slice is over, 200 us if not said, it lets what else is ready on this worker
// run first (this_fiber::yield) and throws `cancelled` when the surrounding nursery or with_timeout
// is over. Use it where passes take from some nanoseconds to the slice. Not inside a critical
// section that others wait for, nor where nothing may change between two passes: others run there.
// This is no preemption: a pass is not interrupted. On threads that are no workers the slice's end
// gives the processor to others. One object, one fiber at a time. Cost: about a ns a pass, a look
// at the clock (20 ns) every 1 to 1,024 passes, as fits the slice, a yield per slice. Timers that
// are due while nothing else is ready on the only worker are looked at every 61 slices.
#pragma once

#include "sennit/checkpoint.hpp"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <utility>

namespace sennit {

class checkpoints {
public:
    static constexpr std::chrono::nanoseconds usual_slice{200'000};

    explicit checkpoints(std::chrono::nanoseconds slice = usual_slice) noexcept
        : slice_ns_(slice.count()) {}

    // One pass. Throws `cancelled`.
    void operator()() {
        if (--left_ == 0) [[unlikely]]
            look();
        checkpoint();
    }

    // For SENNIT_FOR: true once.
    bool begin_loop() noexcept { return !std::exchange(begun_, true); }

private:
    void look();

    std::int64_t slice_ns_;
    std::int64_t began_ns_ = 0; // of this slice; 0: none yet
    std::int64_t looked_ns_ = 0;
    std::uint32_t stride_ = 1; // passes between two looks at the clock
    std::uint32_t left_ = 1;   // until the next
    bool begun_ = false;
};

// The elements of a range, with a checkpoint before each but the first. An input range, gone
// through once.
template <std::ranges::view V>
    requires std::ranges::input_range<V>
class checkpointed_view : public std::ranges::view_interface<checkpointed_view<V>> {
public:
    explicit checkpointed_view(V base, std::chrono::nanoseconds slice)
        : base_(std::move(base)), look_(slice) {}

    class iterator {
    public:
        using value_type = std::ranges::range_value_t<V>;
        using difference_type = std::ranges::range_difference_t<V>;

        decltype(auto) operator*() const { return *at_; }
        iterator& operator++() {
            ++at_;
            (*look_)();
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(const std::ranges::sentinel_t<V>& end) const { return at_ == end; }

    private:
        friend checkpointed_view;
        iterator(std::ranges::iterator_t<V> at, checkpoints& look)
            : at_(std::move(at)), look_(&look) {}
        std::ranges::iterator_t<V> at_;
        checkpoints* look_;
    };

    iterator begin() { return iterator(std::ranges::begin(base_), look_); }
    std::ranges::sentinel_t<V> end() { return std::ranges::end(base_); }

private:
    V base_;
    checkpoints look_;
};

// `range` must live as long as the loop if it is an lvalue; else it is kept.
template <std::ranges::viewable_range Range>
auto checkpointed(Range&& range, std::chrono::nanoseconds slice = checkpoints::usual_slice) {
    return checkpointed_view<std::views::all_t<Range>>(std::views::all(std::forward<Range>(range)),
                                                       slice);
}

} // namespace sennit

// `for` and `while` with a checkpoint at the beginning of each pass. `break` and `continue` mean
// what they always do.
#define SENNIT_FOR(...) SENNIT_LOOP_(SENNIT_UNIQUE_(__COUNTER__), for (__VA_ARGS__))
#define SENNIT_WHILE(...) SENNIT_LOOP_(SENNIT_UNIQUE_(__COUNTER__), while (__VA_ARGS__))

#define SENNIT_UNIQUE_(number) SENNIT_JOIN_(sennit_checkpoints_, number)
#define SENNIT_JOIN_(name, number) name##number
#define SENNIT_LOOP_(name, head) SENNIT_LOOP_NAMED_(name, head)
#define SENNIT_LOOP_NAMED_(name, ...)                                                              \
    for (::sennit::checkpoints name; name.begin_loop();) __VA_ARGS__ if (name(), false) {          \
        }                                                                                          \
    else
