// SPDX-License-Identifier: Apache-2.0
#include "core/memory/slab_cache.hpp"

#include "core/policy/tuning.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/detail/sys/worker_tls.hpp"

#include <mutex>
#include <new>

namespace sennit::sched {

namespace {

std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + slab_cache::unit - 1) / slab_cache::unit * slab_cache::unit;
}

void free_block(void* memory) noexcept {
    ::operator delete(memory, std::align_val_t{16});
}

using block = slab_cache::block;

void free_blocks(block* first) noexcept {
    while (block* found = first) {
        first = found->next;
        free_block(found);
    }
}

// Whole magazines of one size. Any thread.
class depot {
public:
    // Returns false if the depot is full.
    bool give(block& magazine) noexcept {
        // The depot would carry memory from one execution to the next.
        if (tuning::simulated) return false;
        std::lock_guard guard(lock);
        if (count_ >= tuning::magazines_in_depot) return false;
        magazine.next_magazine = first_;
        first_ = &magazine;
        count_rlx_.store_rlx(++count_); // A hint.
        return true;
    }
    block* take() noexcept {
        if (tuning::simulated || count_rlx_.load_rlx() == 0) return nullptr; // A hint.
        std::lock_guard guard(lock);
        block* magazine = first_;
        if (!magazine) return nullptr;
        first_ = magazine->next_magazine;
        count_rlx_.store_rlx(--count_); // A hint.
        return magazine;
    }

    base::spin_lock lock; // Guards the two below.

private:
    block* first_ = nullptr;
    std::uint32_t count_ = 0;
    base::atomic<std::uint32_t> count_rlx_{0};
};
constinit depot depots[slab_cache::size_classes]{};
const base::atfork_lock hold_depots(depots, depots[0].lock);

} // namespace

slab_cache::~slab_cache() {
    for (list& kept : lists_) {
        free_blocks(kept.first);
        free_blocks(kept.full_magazine);
    }
}

bool slab_cache::put_magazine(std::size_t bytes) noexcept {
    const std::size_t number = (bytes - 1) / unit;
    list& kept = lists_[number];
    if (magazine_size == 0) return false;
    if (kept.full_magazine && !depots[number].give(*kept.full_magazine)) return false;
    kept.full_magazine = kept.first;
    kept.first = nullptr;
    kept.room = magazine_size;
    return true;
}

void* slab_cache::take_magazine(std::size_t number) noexcept {
    list& kept = lists_[number];
    block* magazine = kept.full_magazine ? kept.full_magazine : depots[number].take();
    kept.full_magazine = nullptr;
    if (!magazine) return nullptr;
    kept.first = magazine->next;
    kept.room = 1;
    return magazine;
}

void slab_cache::enable_tls_spare_block() noexcept {
    if (!tuning::simulated && tuning::max_cached_blocks != 0) sys::tls_set_spare_block(0);
}

void slab_cache::free_tls_spare_block() noexcept {
    const std::uintptr_t kept = sys::tls_spare_block();
    sys::tls_set_spare_block(1);
    // SAFETY: the address that give_memory put there.
    if (kept > 1) free_block(reinterpret_cast<void*>(kept));
}

namespace {

// This function and the next are separate, so that no registers are saved for calls that are rarely
// made.
[[gnu::noinline]] void* allocate_block(std::size_t bytes) {
    return ::operator new(rounded(bytes), std::align_val_t{16});
}

[[gnu::noinline]] void give_to_full_lists(void* memory, std::size_t bytes) noexcept {
    if (bytes <= slab_cache::largest)
        if (worker* me = this_worker())
            if (me->memory.put_magazine(bytes) && me->memory.keep(memory, bytes)) return;
    free_block(memory);
}

} // namespace

void* detail::take_memory_of_lists(std::size_t bytes) {
    if (bytes <= slab_cache::largest)
        if (worker* me = this_worker())
            if (void* kept = me->memory.take(bytes)) return kept;
    return allocate_block(bytes);
}

void detail::give_memory_to_lists(void* memory, std::size_t bytes) noexcept {
    if (bytes <= slab_cache::largest)
        if (worker* me = this_worker())
            if (me->memory.keep(memory, bytes)) return;
    give_to_full_lists(memory, bytes);
}

} // namespace sennit::sched
