// SPDX-License-Identifier: Apache-2.0
#include "core/diagnostics/task_table.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace sennit::sched {

namespace {
// Slots of a chunk. A chunk is as large as all chunks before it, within these limits.
constexpr std::size_t smallest_chunk = 64;
constexpr std::size_t largest_chunk = 4096;
} // namespace

task_table::~task_table() {
    for (chunk* one = newest_.load_rlx(); one;) { // The owner has ended.
        chunk* const older = one->older;
        ::operator delete(one);
        one = older;
    }
}

task_table::slot* task_table::add(task_strand& who) noexcept {
    if (!first_free_) find_free_slots();
    slot* const found = first_free_;
    if (!found) return nullptr;
    // SAFETY: the address that `make_free` has stored, plus 1.
    first_free_ = reinterpret_cast<slot*>(found->load_rlx() - 1); // Only the owner touches it.
    found->store_rlx(reinterpret_cast<std::uintptr_t>(&who));     // Orders nothing.
    return found;
}

void task_table::make_free(slot& one) noexcept {
    one.store_rlx(reinterpret_cast<std::uintptr_t>(first_free_) + 1); // Orders nothing.
    first_free_ = &one;
}

void task_table::find_free_slots() noexcept {
    if (!next_to_collect_) next_to_collect_ = newest_.load_rlx(); // Orders nothing: own.
    if (chunk* const one = next_to_collect_) {
        next_to_collect_ = one->older;
        if (collect(*one) >= one->size / 2) return;
    }
    grow();
}

std::size_t task_table::collect(chunk& from) noexcept {
    std::size_t found = 0;
    for (std::size_t i = from.size; i-- > 0;) {
        slot& each = from.slots()[i];
        if (each.load_rlx() != 0) continue; // Orders nothing.
        make_free(each);
        ++found;
    }
    return found;
}

void task_table::grow() noexcept {
    const std::size_t before = capacity_.load_rlx(); // Orders nothing: own.
    const std::size_t size = std::clamp(before, smallest_chunk, largest_chunk);
    void* const memory = ::operator new(sizeof(chunk) + size * sizeof(slot), std::nothrow);
    if (!memory) return;
    auto* const fresh = ::new (memory) chunk{newest_.load_rlx(), size}; // Orders nothing: own.
    for (std::size_t i = size; i-- > 0;) make_free(*std::construct_at(fresh->slots() + i, 0u));
    // A snapshot reads both while this thread is suspended.
    newest_.store_rlx(fresh);           // Orders nothing.
    capacity_.store_rlx(before + size); // Orders nothing.
}

} // namespace sennit::sched
