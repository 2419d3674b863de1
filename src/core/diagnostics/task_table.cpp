// SPDX-License-Identifier: Apache-2.0
#include "core/diagnostics/task_table.hpp"

#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

namespace sennit::sched {

namespace {
// Slots of a chunk. A chunk is as large as all chunks before it, within these limits.
constexpr std::size_t smallest_chunk = 64;
constexpr unsigned largest_chunk_bits = 12;
constexpr std::size_t largest_chunk = std::size_t{1} << largest_chunk_bits;

// The chunks of the process by their numbers, from 1 up. With 2^16 chunks, more than 200 million
// tasks are listed.
class chunk_directory {
public:
    // Any thread. Returns 0 if there is no free number.
    std::uint32_t add(void* chunk) noexcept {
        std::lock_guard guard(lock);
        std::uint32_t found = first_free_;
        if (found != 0)
            // SAFETY: `remove` has stored the next free number.
            first_free_ = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at_[found]));
        else if (last_ + 1 < at_.size())
            found = ++last_;
        if (found != 0) at_[found] = chunk;
        return found;
    }
    void remove(std::uint32_t number) noexcept {
        std::lock_guard guard(lock);
        at_[number] = reinterpret_cast<void*>(std::uintptr_t{first_free_});
        first_free_ = number;
    }
    // No lock: the entry was written before a strand entered the chunk, and stays.
    void* operator[](std::uint32_t number) const noexcept { return at_[number]; }

    base::spin_lock lock; // Guards the changes.

private:
    std::array<void*, std::size_t{1} << (32 - largest_chunk_bits - 4)> at_{};
    std::uint32_t first_free_ = 0;
    std::uint32_t last_ = 0; // All zero, so that the directory takes no place in the file.
};
constinit chunk_directory task_chunks[1]{};
const base::atfork_lock hold_task_chunks(task_chunks, task_chunks[0].lock);
} // namespace

inline task_table::slot& task_table::slot_of(number one) noexcept {
    auto& its = *static_cast<chunk*>(task_chunks[0][one >> largest_chunk_bits]);
    return its.slots()[one % largest_chunk];
}

void task_table::remove(number of) noexcept {
    slot_of(of).store_rlx(0); // Orders nothing, see the header.
}

task_table::~task_table() {
    for (chunk* one = newest_.load_rlx(); one;) { // The owner has ended.
        chunk* const older = one->older;
        task_chunks[0].remove(one->first_number >> largest_chunk_bits);
        ::operator delete(one);
        one = older;
    }
}

task_table::number task_table::add(task_strand& who) noexcept {
    if (first_free_ == 0) find_free_slots();
    const number found = first_free_;
    if (found == 0) return 0;
    slot& its = slot_of(found);
    first_free_ = static_cast<number>(its.load_rlx() >> 1); // Only the owner touches it.
    its.store_rlx(reinterpret_cast<std::uintptr_t>(&who));  // Orders nothing.
    return found;
}

inline void task_table::make_free(slot& one, number its) noexcept {
    one.store_rlx(std::uintptr_t{first_free_} << 1 | 1); // Orders nothing.
    first_free_ = its;
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
        make_free(each, from.first_number + static_cast<number>(i));
        ++found;
    }
    return found;
}

void task_table::grow() noexcept {
    const std::size_t before = capacity_.load_rlx(); // Orders nothing: own.
    const std::size_t size = std::clamp(before, smallest_chunk, largest_chunk);
    void* const memory = ::operator new(sizeof(chunk) + size * sizeof(slot), std::nothrow);
    if (!memory) return;
    const std::uint32_t place = task_chunks[0].add(memory);
    if (place == 0) return ::operator delete(memory);
    // Orders nothing: own.
    auto* const fresh = ::new (memory) chunk{newest_.load_rlx(), size, place << largest_chunk_bits};
    for (std::size_t i = size; i-- > 0;) {
        slot& each = *std::construct_at(fresh->slots() + i, 0u);
        make_free(each, fresh->first_number + static_cast<number>(i));
    }
    // A snapshot reads both while this thread is suspended.
    newest_.store_rlx(fresh);           // Orders nothing.
    capacity_.store_rlx(before + size); // Orders nothing.
}

} // namespace sennit::sched
