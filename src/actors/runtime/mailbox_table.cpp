// SPDX-License-Identifier: Apache-2.0
#include "actors/runtime/mailbox_table.hpp"

#include "actors/runtime/actor_state.hpp"
#include "actors/runtime/mailbox.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/sys/atfork.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

namespace sennit::sched {

namespace {

// Guards the variables below, and the two arrays `made` and `next_kept`.
constinit base::spin_lock directory_lock;
const base::atfork_lock hold_directory(directory_lock);
constinit std::uint32_t chunks_used = 0;
constexpr std::uint32_t no_chunk = UINT32_MAX;
// A list of the chunks that belong to no runtime; the chunk that a runtime returned last is first.
constinit std::uint32_t first_kept = no_chunk;

void* raw_chunk() {
    return ::operator new(sizeof(mailbox) * mailbox_table::chunk_size,
                          std::align_val_t{alignof(mailbox)});
}

// The link is not the runnable's own: a late message may put a free mailbox into a queue.
mailbox* next_free(const mailbox& free) noexcept {
    return static_cast<mailbox*>(free.object);
}

} // namespace

constinit base::atomic<mailbox*> mailbox_table::directory[max_chunks]{};
constinit std::uint32_t mailbox_table::made[max_chunks]{};
constinit std::uint32_t mailbox_table::next_kept[max_chunks]{};

// Takes a chunk that belongs to no runtime. Throws std::bad_alloc, also when there are 2^32 slots.
std::uint32_t mailbox_table::take_chunk() {
    {
        std::lock_guard guard(directory_lock);
        if (const std::uint32_t kept = first_kept; kept != no_chunk) {
            first_kept = next_kept[kept];
            return kept;
        }
    }
    void* memory = raw_chunk();
    {
        std::lock_guard guard(directory_lock);
        if (chunks_used != max_chunks) {
            // SAFETY: slots are made in the chunk one by one; no thread has the address of a slot
            // that is not made. The store orders nothing: see find.
            directory[chunks_used].store_rlx(static_cast<mailbox*>(memory));
            return chunks_used++;
        }
    }
    ::operator delete(memory, std::align_val_t{alignof(mailbox)});
    throw std::bad_alloc();
}

std::uint32_t mailbox_table::chunks() noexcept {
    std::lock_guard guard(directory_lock);
    return chunks_used;
}

mailbox_table::~mailbox_table() {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        const std::uint32_t number = chunks_[i];
        mailbox* first = directory[number].load_rlx(); // owner: this table, until its end
        const std::uint32_t count = i + 1 == chunks_.size() ? carved_ : chunk_size;
        for (std::uint32_t k = number == 0 ? 1 : 0; k < count; ++k)
            first[k].detach_from_runtime(); // slot 0 is the null address
        std::lock_guard guard(directory_lock);
        made[number] = std::max(made[number], count);
        next_kept[number] = std::exchange(first_kept, number);
    }
}

mailbox& mailbox_table::carve(worker& owner, std::uint16_t affinity) {
    for (;;) {
        if (carved_ == chunk_size) {
            chunks_.reserve(chunks_.size() + 1);
            const std::uint32_t number = take_chunk();
            chunks_.push_back(number);
            made_ = made[number];          // this table owns the entry
            carved_ = number == 0 ? 1 : 0; // slot 0 is the null address
        }
        const std::uint32_t number = chunks_.back();
        const std::uint32_t k = carved_;
        mailbox* const where = directory[number].load_rlx() + k; // owner: this table
        if (k >= made_) ::new (where) mailbox((number << chunk_bits) + k);
        ++carved_;
        if (where->generations_exhausted()) continue;
        where->attach_to_runtime(runtime_, owner, affinity);
        return *where;
    }
}

mailbox& mailbox_table::take_from_all(std::uint16_t affinity, worker& owner) {
    std::lock_guard guard(lock_);
    if (free_.size() <= affinity) free_.resize(affinity + 1u); // here, because `keep` must not fail
    mailbox*& first = free_[affinity];
    if (!first) return carve(owner, affinity);
    mailbox* const found = first;
    first = next_free(*found);
    return *found;
}

// Called under the lock.
void mailbox_table::keep(mailbox& free) noexcept {
    mailbox*& first = free_[free.bound() ? free.affinity : 0u];
    free.object = first;
    first = &free;
}

// Moves free mailboxes from the table to the cache of a worker, which has none. A worker that makes
// many actors, which end elsewhere, then takes the lock once in `refill_count` actors.
void mailbox_table::refill(mailbox_cache& cache) noexcept {
    std::lock_guard guard(lock_);
    if (free_.empty()) return;
    while (free_[0] && cache.count < refill_count) {
        mailbox* const one = free_[0];
        free_[0] = next_free(*one);
        one->object = cache.first;
        cache.first = one;
        ++cache.count;
    }
}

mailbox& mailbox_table::take(std::uint16_t affinity) {
    if (affinity != 0) return take_from_all(affinity, runtime_.worker_at(affinity - 1u));
    worker* me = this_worker();
    if (!me || &me->runtime() != &runtime_)
        return take_from_all(0, runtime_.worker_at(runtime_.next_affinity() - 1u));
    mailbox_cache& kept = actor_state(*me).mailboxes;
    if (!kept.first) refill(kept);
    mailbox* const found = kept.first;
    if (!found) return take_from_all(0, *me);
    kept.first = next_free(*found);
    --kept.count;
    return *found;
}

void mailbox_table::give(mailbox& free) noexcept {
    if (free.generations_exhausted()) return;
    worker* me = this_worker();
    if (free.bound() || !me || &me->runtime() != &runtime_) {
        std::lock_guard guard(lock_);
        return keep(free);
    }
    mailbox_cache& kept = actor_state(*me).mailboxes;
    free.object = kept.first;
    kept.first = &free;
    if (++kept.count <= max_kept) return;
    std::lock_guard guard(lock_);
    while (kept.count > max_kept / 2) {
        mailbox* one = kept.first;
        kept.first = next_free(*one);
        --kept.count;
        keep(*one);
    }
}

// Allocates nothing: a group can also be stopped when there is no memory.
void mailbox_table::for_each(const std::function<void(mailbox&)>& look) {
    std::uint64_t from = 0;
    (void)find_from(from, [&](mailbox& one) {
        look(one);
        return false;
    });
}

mailbox* mailbox_table::find_from(std::uint64_t& from,
                                  const std::function<bool(mailbox&)>& wanted) {
    for (;; from = (from / chunk_size + 1) * chunk_size) {
        mailbox* start = nullptr;
        std::uint32_t end = chunk_size;
        {
            const auto i = static_cast<std::size_t>(from / chunk_size);
            std::lock_guard guard(lock_);
            if (i >= chunks_.size()) return nullptr;
            start = directory[chunks_[i]].load_rlx();                 // under the lock
            if (chunks_[i] == 0 && from % chunk_size == 0) from += 1; // slot 0: the null address
            if (i + 1 == chunks_.size()) end = carved_;
        }
        // The chunks of the caller's runtime stay.
        for (auto k = static_cast<std::uint32_t>(from % chunk_size); k < end; ++k) {
            if (!wanted(start[k])) continue;
            from = from / chunk_size * chunk_size + k + 1;
            return &start[k];
        }
    }
}

} // namespace sennit::sched
