// SPDX-License-Identifier: Apache-2.0
// The incarnation counter of a mailbox: its slot number, and the generation that tells one
// incarnation from the next.
//
// Threads. Any thread may read. The generation has one writer at a time: the thread that has taken
// the slot from the table and begins an incarnation, then the incarnation's batch, which ends it.
//
// State.
//   `generation_`   odd while an incarnation is alive, even before and after. It only grows, also
//                   across runtimes, so an address names one incarnation for ever
//   `slot_`         the number of the mailbox in the table; constant
//
// Protocol. `begin` publishes (release) all state that the incarnation begins with; `generation`
// (acquire) pairs with it. `end` and `ended` are sequentially consistent. A sender that waits for
// room sets the mark of waiting senders, then asks `ended`; the batch calls `end`, then looks at
// that mark (mailbox_capacity.hpp).
//
// Tested by tests/unit/actors/incarnation_counter_test.cpp; explored by
// tests/sim/scenarios/actor_life.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/message_node.hpp"

#include <cstdint>

namespace sennit::sched {

class incarnation_counter {
public:
    explicit incarnation_counter(std::uint32_t slot) noexcept : slot_(slot) {}

    // ---- any thread
    std::uint32_t slot() const noexcept { return slot_; }
    // Pairs with `begin`, for threads that walk all mailboxes or that got the address in a way that
    // orders nothing.
    std::uint32_t generation() const noexcept { return generation_.load_acq(); } // pairs with begin
    bool is_alive() const noexcept { return generation() % 2 != 0; }
    // True if `incarnation` is not alive. The sequentially consistent load never returns a
    // generation older than the caller's sequentially consistent stores: see mailbox_capacity.hpp.
    bool ended(address incarnation) const noexcept {
        return generation_.load() != incarnation.generation;
    }
    // True if `incarnation` is over: neither alive nor about to begin. The only place with this
    // condition.
    bool is_over(address incarnation) const noexcept {
        return (generation() | 1) != incarnation.generation;
    }
    // True if the mailbox has used up its generations.
    bool exhausted() const noexcept { return generation() >= UINT32_MAX - 2; }

    // ---- the incarnation itself
    //
    // The present generation. A message carries the happens-before from the incarnation's beginning
    // to its batch.
    std::uint32_t present() const noexcept {
        return generation_.load_rlx(); // owner: only the batch changes it during an incarnation
    }
    // The address of the present incarnation.
    address self() const noexcept { return {slot_, present()}; }
    // The address of the incarnation whose batch runs. An incarnation that ended within the batch
    // still counts; the next incarnation never does.
    address batch_address() const noexcept { return {slot_, (present() - 1) | 1}; }
    // Ends the incarnation, inside its batch. The store comes before the batch looks for waiting
    // senders.
    void end() noexcept { generation_.store(present() + 1); }

    // ---- the thread that has taken the slot from the table
    //
    // The generation of the incarnation that is about to begin.
    std::uint32_t next() const noexcept { return present() + 1; }
    // Begins an incarnation. The caller has written all that the incarnation needs.
    void begin() noexcept { generation_.store_rel(next()); } // pairs with generation
    // Skips one generation in which no incarnation begins: a handed-out address of that generation
    // never becomes alive.
    void skip() noexcept { generation_.store(present() + 2); }
    // Ends an incarnation that is still alive, where no other thread is left: a child of fork()
    // abandons its runtimes that way.
    void abandon() noexcept {
        if (present() % 2 != 0) end();
    }

private:
    base::atomic<std::uint32_t> generation_{0};
    const std::uint32_t slot_;
};

} // namespace sennit::sched
