// SPDX-License-Identifier: Apache-2.0
// The task strands that have suspended, for reports. Each worker has a table.
//
// A strand enters the table of the worker on which it suspends for the first time, and leaves the
// table when it ends, on any worker. So a task that never suspends costs nothing, and a wait costs
// one look at a member of the strand.
//
//   field       written by                                     read by
//   a slot      the owner, while the slot is free;             the owner; a snapshot, while all
//                 the worker that ends the strand                workers are suspended
//   directory   the owner of a chunk, once                     the worker that ends a strand of it
//   the others  the owner                                      the owner; a snapshot
//
// A strand keeps a number of 32 bits in place of its slot's address. A directory of the process has
// the chunks by number. Its entry for a chunk is written before a strand enters the chunk.
//
// A slot holds the strand's address, or twice the number of the next free slot plus 1 (the end of
// that list is 1), or 0: the strand has ended, and the owner has not found the slot yet. The worker
// that ends a strand stores 0, and touches the slot no more. The owner collects such slots, one
// chunk at a time, when it has no free slot. If less than half of the chunk is free, it also adds a
// chunk. So a slot costs two looks on average, and no instruction is locked.
//
// No access orders anything: between the entry of a strand and its end the strand itself passes
// from worker to worker, and the owner only compares the slot with 0.
//
// Tested by tests/unit/core/task_table_test.cpp and tests/unit/obs/task_dump_test.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"

#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class task_strand;

class task_table {
public:
    using slot = base::atomic<std::uintptr_t>;
    using number =
        std::uint32_t; // Of a slot: of its chunk, and within it. No slot has the number 0.

    task_table() noexcept = default;
    ~task_table();
    task_table(const task_table&) = delete;

    // Owner's thread. Returns 0 if memory is refused, or the directory is full: no report shows the
    // strand then.
    number add(task_strand& who) noexcept;
    // The strand ends. Any thread.
    static void remove(number of) noexcept;

    // The number of slots. Exact on the owner's thread, and while the owner is suspended.
    std::size_t capacity() const noexcept {
        return capacity_.load_rlx(); // Orders nothing.
    }
    // Calls `visit(strand)` for each strand. Requires that no thread adds or removes a strand.
    template <class F>
    void for_each(F&& visit) const {
        for (const chunk* one = newest_.load_rlx(); one; one = one->older) // Orders nothing.
            for (std::size_t i = 0; i < one->size; ++i) {
                const std::uintptr_t held = one->slots()[i].load_rlx(); // Orders nothing.
                // SAFETY: the address that `add` has stored.
                if (held != 0 && held % 2 == 0) visit(*reinterpret_cast<task_strand*>(held));
            }
    }

private:
    friend class snapshot; // For debuggers.
    // The slots follow the header.
    struct chunk {
        chunk* older;
        std::size_t size;
        number first_number;
        slot* slots() noexcept { return reinterpret_cast<slot*>(this + 1); }
        const slot* slots() const noexcept { return reinterpret_cast<const slot*>(this + 1); }
    };
    void find_free_slots() noexcept;
    std::size_t collect(chunk& from) noexcept;
    void grow() noexcept;
    void make_free(slot& one, number its) noexcept;
    static slot& slot_of(number one) noexcept;

    base::atomic<chunk*> newest_{nullptr};
    chunk* next_to_collect_ = nullptr;
    number first_free_ = 0;
    base::atomic<std::size_t> capacity_{0};
};

} // namespace sennit::sched
