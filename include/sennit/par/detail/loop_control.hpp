// SPDX-License-Identifier: Apache-2.0
// loop_control: the part of a running parallel loop that does not depend on the loop's work: its
// options, the index at which it stops, its places for workers, and the scope that can cancel it.
//
// Stop index. `stop_at(i)` drops all chunks that begin behind index i and have not started. A loop
// stops at the lowest element that throws; a search stops at the lowest match.
//
// Places. A loop with `max_workers` has that number of places. A running range holds one place,
// also when it returns or throws. A worker takes a second place before it offers a part of its
// range. It gives one of the two back before the join, where it may wait for a thief. If the offer
// was not stolen, the worker continues with the other place. Otherwise the thief runs with that
// place, and leaves it to the waiting worker. So no more ranges run than there are places, and a
// waiting worker occupies none.
//
// Cancellation. A loop remembers the scope of the strand that started it. Each chunk begins with a
// look at that scope, on every worker. A stolen range runs in a scope of its own below it, so that
// cancellation also ends the blocked calls of its elements. After a cancellation the loop drops the
// chunks that have not started, and throws `cancelled`.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/par/with.hpp"

#include <cstddef>
#include <limits>
#include <optional>

namespace sennit::par::detail {

class loop_control {
public:
    // `given` must live as long as the loop.
    explicit loop_control(const with& given) noexcept
        : loop_control(given, sched::this_strand().scope) {}

    // False: a chunk that begins at `first` may start and offer its rest. True: the caller asks
    // `dropped`, and takes a place before it offers the rest. Loops without a scope and without a
    // limit thus pay for one comparison.
    [[gnu::always_inline]] bool asks_before(std::size_t first) const noexcept {
        // A hint: a worker that reads an old value does some work without result.
        return gate_.load_rlx() <= first;
    }
    // True if a chunk that begins at `first` must not start.
    [[gnu::noinline]] bool dropped(std::size_t first) noexcept {
        if (lowest() < first) return true;
        if (!scope_ || !scope_->cancelled()) return false;
        state_.fetch_or(cancelled_bit);
        return true;
    }
    // The lowest index at which the loop stops; the largest number if there is none.
    std::size_t lowest() const noexcept { return lowest_.load_rlx(); } // A hint, see above.

    void stop_at(std::size_t index) noexcept {
        lower(lowest_, index);
        lower(gate_, index);
    }

    bool limited() const noexcept { return options.max_workers != 0; }
    // Takes a place for one more range. False: there is none.
    [[gnu::noinline]] bool take_place() noexcept {
        if (!limited()) return true;
        unsigned state = state_.load();
        while ((state & ~cancelled_bit) > 1)
            if (state_.cas(state, state - 1)) return true;
        return false;
    }
    void give_place_back() noexcept {
        if (limited()) state_.fetch_add(1);
    }

    // Gives a place back at the end of the block.
    class place_guard {
    public:
        explicit place_guard(loop_control& loop) noexcept : loop_(loop) {}
        ~place_guard() { loop_.give_place_back(); }
        place_guard(const place_guard&) = delete;

    private:
        loop_control& loop_;
    };

    // Throws if the loop has dropped work because its scope was cancelled. Called after all ranges
    // have ended.
    void throw_if_cancelled() const {
        if (!scope_) [[likely]]
            return;
        // Pairs with nothing: the joins of the loop order the write in `dropped` before this read.
        if (state_.load_rlx() & cancelled_bit) throw sennit::cancelled();
    }
    bool in_scope() const noexcept { return scope_ != nullptr; }

    const with& options;

private:
    // The compiler knows the usual options and drops their tests.
    [[gnu::always_inline]] loop_control(const with& given, sched::cancel_scope* scope) noexcept
        : options(given), scope_(scope), state_(given.max_workers),
          gate_(scope != nullptr || given.max_workers != 0 ? 0 : never) {}

    friend class stolen_scope;
    static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
    static constexpr unsigned cancelled_bit = 1u << 31;

    static void lower(base::atomic<std::size_t>& word, std::size_t index) noexcept {
        std::size_t lowest = word.load();
        while (index < lowest && !word.cas(lowest, index)) {
        }
    }

    sched::cancel_scope* const scope_; // lives as long as the loop
    base::atomic<unsigned> state_; // cancelled_bit, and with a limit one more than the free places
    base::atomic<std::size_t> gate_; // 0 if chunks must ask in any case, otherwise lowest_
    base::atomic<std::size_t> lowest_{never};
};

// Puts the running strand below the loop's scope if the strand is a stolen child, which has none.
class stolen_scope {
public:
    explicit stolen_scope(loop_control& loop) noexcept {
        if (!loop.scope_) [[likely]]
            return;
        strand_ = &sched::this_strand();
        if (strand_->scope) {
            strand_ = nullptr; // the owner itself
            return;
        }
        strand_->scope = &scope_.emplace(loop.scope_);
    }
    ~stolen_scope() {
        if (strand_) strand_->scope = nullptr;
    }
    stolen_scope(const stolen_scope&) = delete;

private:
    sched::strand* strand_ = nullptr;
    std::optional<sched::cancel_scope> scope_;
};

} // namespace sennit::par::detail
