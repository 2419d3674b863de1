// SPDX-License-Identifier: Apache-2.0
// Where mailboxes live: from a slot's number to its memory, and slots that are free.
//
// Memory is type-stable for ever, so that mail for a life that has ended meets a mailbox, also
// where the runtime ends meanwhile, or has ended. The directory is the process's, chunks of slots
// are a runtime's; when that ends they are kept for the next one, mailboxes and all. A slot that is
// used again goes on counting generations, also in another runtime; one whose generations are used
// up is not used again. In one runtime, one that was made for a single worker stays with that: mail
// that comes too late may have put a free one, or its notice, into a queue, where nothing that says
// where it may run can change.
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

// Free slots that a worker keeps. Its own thread only.
struct mailbox_cache {
    mailbox* first = nullptr;
    std::uint32_t count = 0;
};

class mailbox_table {
public:
    explicit mailbox_table(runtime_core& runtime) noexcept : runtime_(runtime) {}
    ~mailbox_table();
    mailbox_table(const mailbox_table&) = delete;

    // Null when there has never been such a slot.
    static mailbox* find(std::uint32_t slot) noexcept; // mailbox.hpp

    // A free one, which only the worker of this home may run; 0: any. Throws std::bad_alloc.
    mailbox& take(std::uint16_t affinity = 0);
    void give(mailbox& free) noexcept;

    // Calls `look` for each slot there is.
    void for_each(const std::function<void(mailbox&)>& look);
    // The first one for which `wanted` says so, beginning with the one that is number `from`, which
    // becomes the number after it. Null: there is none.
    mailbox* find_from(std::uint64_t& from, const std::function<bool(mailbox&)>& wanted);

    // Of the process, all told; none is ever freed.
    static std::uint32_t chunks() noexcept;

    static constexpr std::uint32_t chunk_bits =
        14; // slots in a chunk: 3 MiB, touched as they are used
    static constexpr std::uint32_t chunk_size = 1u << chunk_bits;
    static constexpr std::uint32_t max_kept =
        256; // by a worker; half of them go to the table when there are more

private:
    friend class mailbox;
    static constexpr std::uint32_t most_chunks = 1u << (32 - chunk_bits);
    // Never shrinks and is never destroyed: addresses may be asked for at any time.
    static base::atomic<mailbox*> directory[most_chunks];
    // While a runtime has the chunk: that one's. Else under the directory's lock.
    static std::uint32_t
        made[most_chunks]; // how many of its slots, those that were left out included
    static std::uint32_t next_kept[most_chunks]; // one more that no runtime has
    static std::uint32_t take_chunk();

    mailbox& carve(worker& owner, std::uint16_t affinity);
    mailbox& take_from_all(std::uint16_t affinity, worker& owner);
    void keep(mailbox& free) noexcept;

    runtime_core& runtime_;
    base::spin_lock lock_; // guards all below
    std::vector<mailbox*>
        free_; // the first of each list, by the home that they are bound to; 0: to none
    std::vector<std::uint32_t> chunks_; // numbers
    std::uint32_t carved_ = chunk_size; // of the last chunk
    std::uint32_t made_ = 0;            // of the last chunk, when it was taken
};

} // namespace sennit::sched
