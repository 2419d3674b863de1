// SPDX-License-Identifier: Apache-2.0
// checkpoints, checkpointed, SENNIT_FOR, SENNIT_WHILE: loops that yield by themselves, for code
// that computes for long and neither blocks nor forks.
//
//     for (const page& each : sennit::checkpointed(pages)) index(each);   // a range
//     SENNIT_FOR (int i = 0; i < n; ++i) sum += weight(i);                // an ordinary loop
//     SENNIT_WHILE (!solved(board)) improve(board);
//     sennit::checkpoints look;                                           // in a recursion
//     …
//     look();
//
// Use it where a pass takes from some nanoseconds to one time slice. Do not use it inside a
// critical section that other tasks wait for, or where nothing may change between two passes,
// because other tasks run there.
//
// Each pass of the loop is a checkpoint: it offers forks to workers that ask (sennit::checkpoint).
// At the end of the time slice (200 µs by default) it runs the other ready tasks of this worker
// (this_fiber::yield), and throws `cancelled` when the surrounding nursery or with_timeout is
// cancelled. This is not preemption: a pass is not interrupted. On a thread that is no worker, the
// end of the slice yields the processor to other threads. One fiber at a time may use an object.
// Cost: about 1 ns a pass, one reading of the clock (20 ns) every 1 to 1,024 passes, depending on
// the slice, and one yield per slice. If nothing else is ready on the only worker, timers that are
// due are polled every 61 slices.
#pragma once

#include "sennit/checkpoint.hpp"
#include "sennit/detail/base/refused.hpp"

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

    // Marks one pass. Blocks only while it yields. Throws `cancelled`.
    void operator()() {
        if (--left_ == 0) [[unlikely]]
            look();
        checkpoint();
    }

    // For SENNIT_FOR: returns true at the first call only.
    bool begin_loop() noexcept { return !std::exchange(begun_, true); }

private:
    void look();

    std::int64_t slice_ns_;
    std::int64_t began_ns_ = 0; // the start of this slice; 0: no slice has started
    std::int64_t looked_ns_ = 0;
    std::uint32_t stride_ = 1; // passes between two readings of the clock
    std::uint32_t left_ = 1;   // passes until the next reading
    bool begun_ = false;
};

// The elements of a range, with a checkpoint before each element except the first. It is an input
// range that can be traversed once.
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

// Returns the elements of `range` with checkpoints between them. An lvalue `range` must live as
// long as the loop; an rvalue is stored in the view.
template <std::ranges::viewable_range Range>
auto checkpointed(Range&& range, std::chrono::nanoseconds slice = checkpoints::usual_slice) {
    return checkpointed_view<std::views::all_t<Range>>(std::views::all(std::forward<Range>(range)),
                                                       slice);
}
// Explains a call that the overload above refuses.
template <class Range>
base::refused_call checkpointed(Range&&, std::chrono::nanoseconds = checkpoints::usual_slice) {
    static_assert(base::refused<Range>,
                  "sennit: checkpointed takes a range, which is a variable or can be moved");
    return {};
}

} // namespace sennit

// `for` and `while` with a checkpoint at the beginning of each pass. `break` and `continue` have
// their usual meaning.
#define SENNIT_FOR(...) SENNIT_LOOP_(SENNIT_UNIQUE_(__COUNTER__), for (__VA_ARGS__))
#define SENNIT_WHILE(...) SENNIT_LOOP_(SENNIT_UNIQUE_(__COUNTER__), while (__VA_ARGS__))

#define SENNIT_UNIQUE_(number) SENNIT_JOIN_(sennit_checkpoints_, number)
#define SENNIT_JOIN_(name, number) name##number
#define SENNIT_LOOP_(name, head) SENNIT_LOOP_NAMED_(name, head)
#define SENNIT_LOOP_NAMED_(name, ...)                                                              \
    for (::sennit::checkpoints name; name.begin_loop();) __VA_ARGS__ if (name(), false) {          \
        }                                                                                          \
    else
