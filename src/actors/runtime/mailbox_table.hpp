// SPDX-License-Identifier: Apache-2.0
// The memory of mailboxes: the directory from a slot's number to its memory, and the free slots.
//
// The memory is type-stable for ever. So a message for an ended incarnation meets a mailbox, even
// if the runtime ends meanwhile, or has ended. The directory belongs to the process; chunks of
// slots belong to a runtime. When the runtime ends, the directory keeps the chunks for the next
// runtime, mailboxes included. A slot that is used again continues to count generations, also in
// another runtime. A slot whose generations are used up is never used again.
//
// Within one runtime, a mailbox that was made for a single worker stays bound to that worker. A
// late message may have put a free mailbox, or its wakeup, into a queue, and there its affinity
// cannot change.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/message_node.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sennit::sched {

class worker;

// Free slots that a worker keeps. Only the worker's own thread touches them.
struct mailbox_cache {
    mailbox* first = nullptr;
    std::uint32_t count = 0;
};

class mailbox_table {
public:
    explicit mailbox_table(runtime_core& runtime) noexcept : runtime_(runtime) {}
    ~mailbox_table();
    mailbox_table(const mailbox_table&) = delete;

    // Returns the mailbox of a slot; null if there has never been such a slot. Defined in
    // mailbox.hpp.
    static mailbox* find(std::uint32_t slot) noexcept;

    // Takes a free slot that only the worker with this affinity may run; 0: any worker. Throws
    // std::bad_alloc.
    mailbox& take(std::uint16_t affinity = 0);
    void give(mailbox& free) noexcept;

    // Calls `look` for each slot of the runtime.
    void for_each(const std::function<void(mailbox&)>& look);
    // Returns the first slot for which `wanted` returns true, beginning with number `from`, and
    // sets `from` to the number after that slot. Null: there is none.
    mailbox* find_from(std::uint64_t& from, const std::function<bool(mailbox&)>& wanted);

    // The number of chunks in the process; no chunk is ever freed.
    static std::uint32_t chunks() noexcept;

    // The binary logarithm of the slots in a chunk. A chunk takes 3 MiB, which are touched as its
    // slots are used.
    static constexpr std::uint32_t chunk_bits = 14;
    static constexpr std::uint32_t chunk_size = 1u << chunk_bits;
    // The slots that a worker keeps; with more, half of them go to the table.
    static constexpr std::uint32_t max_kept = 256;
    // The most slots that a worker without any takes from the table at a time.
    static constexpr std::uint32_t refill_count = 64;

private:
    friend class mailbox;
    static constexpr std::uint32_t max_chunks = 1u << (32 - chunk_bits);
    // Never shrinks and is never destroyed, because any thread may look up an address at any time.
    static base::atomic<mailbox*> directory[max_chunks];
    // While a runtime has the chunk, these entries belong to that runtime. Otherwise the
    // directory's lock guards them. `made` counts the slots that have been made, including those
    // that `carve` left out. `next_kept` links the chunks of no runtime.
    static std::uint32_t made[max_chunks];
    static std::uint32_t next_kept[max_chunks];
    static std::uint32_t take_chunk();

    mailbox& carve(worker& owner, std::uint16_t affinity);
    mailbox& take_from_all(std::uint16_t affinity, worker& owner);
    void keep(mailbox& free) noexcept;
    void refill(mailbox_cache& cache) noexcept;

    runtime_core& runtime_;
    base::spin_lock lock_; // guards all members below
    // The heads of the free lists, by the affinity that their slots are bound to; 0: unbound.
    std::vector<mailbox*> free_;
    // The numbers of the runtime's chunks.
    std::vector<std::uint32_t> chunks_;
    // How many slots of the last chunk are in use or free.
    std::uint32_t carved_ = chunk_size;
    // How many slots of the last chunk were made when this table took the chunk.
    std::uint32_t made_ = 0;
};

} // namespace sennit::sched
