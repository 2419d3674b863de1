// SPDX-License-Identifier: Apache-2.0
#include "sched/mailbox_table.hpp"

#include "sched/mailbox.hpp"
#include "sched/runtime_core.hpp"
#include "sched/worker.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace sennit::sched {

namespace {

constinit base::spin_lock directory_lock;
constinit std::uint32_t chunks_used = 0;              // under the lock
constinit base::atomic<std::uint32_t> free_chunks{0}; // how many lie in that list; under the lock

void* raw_chunk() {
    return ::operator new(sizeof(mailbox) * mailbox_table::chunk_size, std::align_val_t{alignof(mailbox)});
}

// Not the runnable's own link: mail that comes too late may put a free one into a queue.
mailbox* next_free(const mailbox& free) noexcept {
    return static_cast<mailbox*>(free.object);
}

} // namespace

constinit base::atomic<mailbox*> mailbox_table::directory[most_chunks]{};
constinit std::uint32_t mailbox_table::next_generation[most_chunks]{};

// The number of a chunk that nobody has; throws std::bad_alloc when there are 2^32 slots.
std::uint32_t mailbox_table::take_number() {
    std::lock_guard guard(directory_lock);
    for (std::uint32_t i = 0; i < chunks_used && free_chunks.load_rlx() != 0; ++i) // under the lock
        if (!directory[i].load_rlx() && next_generation[i] != UINT32_MAX) {        // under the lock
            free_chunks.store_rlx(free_chunks.load_rlx() - 1);                     // under the lock
            return i;
        }
    if (chunks_used == most_chunks) throw std::bad_alloc();
    return chunks_used++;
}

mailbox_table::~mailbox_table() {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        base::atomic<mailbox*>& entry = directory[chunks_[i]];
        std::uint32_t& next = next_generation[chunks_[i]];
        // pairs with carve: nobody else writes it now
        mailbox* first = entry.load_rlx(); // nobody else is here any more
        const std::uint32_t count = i + 1 == chunks_.size() ? carved_ : chunk_size;
        std::uint32_t newest = 0;
        for (std::uint32_t k = 0; k < count; ++k) {
            if (k == 0 && chunks_[i] == 0) continue; // slot 0 is nobody
            newest = std::max(newest, first[k].generation());
            first[k].~mailbox();
        }
        std::lock_guard guard(directory_lock);
        next = newest >= UINT32_MAX - 2 ? UINT32_MAX : (newest + 2) & ~1u;
        entry.store_rlx(nullptr);                                                  // orders nothing: null tells nothing
        if (next != UINT32_MAX) free_chunks.store_rlx(free_chunks.load_rlx() + 1); // under the lock
        ::operator delete(first, std::align_val_t{alignof(mailbox)});
    }
}

mailbox& mailbox_table::carve(worker& owner, std::uint16_t home) {
    if (carved_ == chunk_size) {
        chunks_.reserve(chunks_.size() + 1);
        void* memory = raw_chunk();
        std::uint32_t number = 0;
        try {
            number = take_number();
        } catch (...) {
            ::operator delete(memory, std::align_val_t{alignof(mailbox)});
            throw;
        }
        chunks_.push_back(number);
        first_generation_ = next_generation[number];
        // SAFETY: slots are made in it one by one; nobody has the address of one that is not made.
        directory[number].store_rlx(static_cast<mailbox*>(memory)); // orders nothing: see find
        carved_ = number == 0 ? 1 : 0;                              // slot 0 is nobody
    }
    const std::uint32_t number = chunks_.back();
    mailbox* where = directory[number].load_rlx() + carved_; // under the lock
    const std::uint32_t slot = (number << chunk_bits) + carved_;
    ++carved_;
    return *::new (where) mailbox(runtime_, slot, first_generation_, owner, home);
}

mailbox& mailbox_table::take_from_all(std::uint16_t home, worker& owner) {
    std::lock_guard guard(lock_);
    if (free_.size() <= home) free_.resize(home + 1u); // here: `keep` must not fail
    mailbox*& first = free_[home];
    if (!first) return carve(owner, home);
    mailbox* const found = first;
    first = next_free(*found);
    return *found;
}

// Under the lock.
void mailbox_table::keep(mailbox& free) noexcept {
    mailbox*& first = free_[free.bound() ? free.home : 0u];
    free.object = first;
    first = &free;
}

mailbox& mailbox_table::take(std::uint16_t home) {
    if (home != 0) return take_from_all(home, runtime_.worker_at(home - 1u));
    worker* me = this_worker();
    if (!me || &me->runtime() != &runtime_) return take_from_all(0, runtime_.worker_at(runtime_.next_home() - 1u));
    mailbox_cache& kept = me->mailboxes;
    mailbox* const found = kept.first;
    if (!found) return take_from_all(0, *me);
    kept.first = next_free(*found);
    --kept.count;
    return *found;
}

void mailbox_table::give(mailbox& free) noexcept {
    if (free.generation() >= UINT32_MAX - 2) return; // its generations are used up
    worker* me = this_worker();
    if (free.bound() || !me || &me->runtime() != &runtime_) {
        std::lock_guard guard(lock_);
        return keep(free);
    }
    mailbox_cache& kept = me->mailboxes;
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

// Without memory: a group is stopped, too, when there is none.
void mailbox_table::for_each(const std::function<void(mailbox&)>& look) {
    std::uint64_t from = 0;
    (void)find_from(from, [&](mailbox& one) {
        look(one);
        return false;
    });
}

mailbox* mailbox_table::find_from(std::uint64_t& from, const std::function<bool(mailbox&)>& wanted) {
    for (;; from = (from / chunk_size + 1) * chunk_size) {
        mailbox* start = nullptr;
        std::uint32_t end = chunk_size;
        {
            const auto i = static_cast<std::size_t>(from / chunk_size);
            std::lock_guard guard(lock_);
            if (i >= chunks_.size()) return nullptr;
            start = directory[chunks_[i]].load_rlx();                 // under the lock
            if (chunks_[i] == 0 && from % chunk_size == 0) from += 1; // slot 0 is nobody
            if (i + 1 == chunks_.size()) end = carved_;
        }
        for (auto k = static_cast<std::uint32_t>(from % chunk_size); k < end;
             ++k) { // the caller's chunks do not go away
            if (!wanted(start[k])) continue;
            from = from / chunk_size * chunk_size + k + 1;
            return &start[k];
        }
    }
}

} // namespace sennit::sched
