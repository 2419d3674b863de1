// SPDX-License-Identifier: Apache-2.0
// Threads: any.
// State: `slot::object` (an exchange by any thread), `free_` and `objects_` (the lock).
// Protocol. T1: a borrower exchanges its worker's slot with null; an object that it gets belongs to
// it. T2: it gets null, and takes an object from the list, or from the slot of another worker. P1:
// a borrower that returns an object exchanges its worker's slot with the object. P2: an object that
// it gets in exchange belongs to it, and goes to the list.
// Why it is correct. An exchange gives each value that was in a slot to exactly one thread, so an
// object is in one slot, in the list, or with one borrower. The exchange of P1 releases the
// borrower's writes, and that of T1, T2 and P2 acquires them; the lock orders the list. Which
// worker's slot it is matters for the speed only: a thread may migrate before the exchange.
#include "sennit/lease_pool.hpp"

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/verbs.hpp"

#include <mutex>

namespace sennit::detail {

lease_slots::lease_slots()
    : mask_(sched::shard_count() - 1), slots_(std::make_unique<slot[]>(sched::shard_count())) {}

lease_slots::~lease_slots() = default;

lease_node* lease_slots::take() noexcept {
    // Pairs with put.
    lease_node* own = slots_[sched::current_shard() & mask_].object.exchange_acq(nullptr);
    return own ? own : take_elsewhere();
}

lease_node* lease_slots::take_elsewhere() noexcept {
    {
        std::lock_guard guard(lock_);
        if (lease_node* one = free_) {
            free_ = one->next;
            return one;
        }
    }
    for (unsigned i = 0; i <= mask_; ++i) {
        if (!slots_[i].object.load_rlx()) continue; // a hint: the exchange decides
        // Pairs with put.
        if (lease_node* one = slots_[i].object.exchange_acq(nullptr)) return one;
    }
    return nullptr;
}

void lease_slots::add() noexcept {
    std::lock_guard guard(lock_);
    ++objects_;
}

void lease_slots::put(lease_node& object) noexcept {
    // Pairs with take, take_elsewhere and put.
    lease_node* other = slots_[sched::current_shard() & mask_].object.exchange_acq_rel(&object);
    if (!other) return;
    std::lock_guard guard(lock_);
    other->next = free_;
    free_ = other;
}

lease_node* lease_slots::take_all(const char* message) noexcept {
    lease_node* all = nullptr;
    std::size_t count = 0;
    const auto add_to_all = [&](lease_node& one) {
        one.next = all;
        all = &one;
        ++count;
    };
    std::lock_guard guard(lock_);
    while (lease_node* one = free_) {
        free_ = one->next;
        add_to_all(*one);
    }
    // Orders nothing: the caller has waited for all users of the pool.
    for (unsigned i = 0; i <= mask_; ++i)
        if (lease_node* one = slots_[i].object.load_rlx()) {
            slots_[i].object.store_rlx(nullptr); // orders nothing, like the load
            add_to_all(*one);
        }
    SENNIT_CHECK(count == objects_, message);
    return all;
}

void lease_slots::put_all(lease_node* list) noexcept {
    std::lock_guard guard(lock_);
    free_ = list;
}

} // namespace sennit::detail
