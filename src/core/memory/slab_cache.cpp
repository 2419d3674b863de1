// SPDX-License-Identifier: Apache-2.0
#include "core/memory/slab_cache.hpp"

#include "core/policy/tuning.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/detail/sys/worker_tls.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

namespace sennit::sched {

namespace {

// Bytes of the blocks of a size.
constexpr std::size_t size_of_class(std::size_t number) noexcept {
    return detail::smallest_block + number * detail::block_step;
}
static_assert(detail::size_class_of(size_of_class(0)) == 0 &&
              detail::size_class_of(size_of_class(0) + 1) == 1 &&
              detail::size_class_of(size_of_class(1)) == 1 &&
              size_of_class(slab_cache::size_classes - 1) == slab_cache::largest);

// The form without an alignment: the other one rounds the size up to a multiple of 16.
static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= 16);
void free_block(void* memory) noexcept {
    ::operator delete(memory);
}

using block = slab_cache::block;

void free_blocks(block* first) noexcept {
    while (block* found = first) {
        first = found->next;
        free_block(found);
    }
}

// The bytes in the magazines of all depots: only a limit, which orders nothing.
constinit base::atomic<std::size_t> bytes_in_depots{0};
constexpr std::size_t bytes_of_magazine(std::size_t number) noexcept {
    return tuning::max_cached_blocks / 2 * size_of_class(number);
}

// Whole magazines of one size. Any thread.
class depot {
public:
    // Returns false if the depot, or all depots together, are full.
    bool give(block& magazine, std::size_t number) noexcept {
        // The depot would carry memory from one execution to the next.
        if (tuning::simulated) return false;
        const std::size_t bytes = bytes_of_magazine(number);
        std::lock_guard guard(lock);
        if (count_ >= tuning::magazines_in_depot) return false;
        // Only a limit, which orders nothing.
        if (bytes_in_depots.fetch_add_rlx(bytes) + bytes > tuning::max_bytes_in_depots) {
            bytes_in_depots.fetch_add_rlx(0 - bytes); // Only a limit.
            return false;
        }
        magazine.next_magazine = first_;
        first_ = &magazine;
        count_rlx_.store_rlx(++count_); // A hint.
        return true;
    }
    block* take(std::size_t number) noexcept {
        if (tuning::simulated || count_rlx_.load_rlx() == 0) return nullptr; // A hint.
        std::lock_guard guard(lock);
        block* magazine = first_;
        if (!magazine) return nullptr;
        first_ = magazine->next_magazine;
        count_rlx_.store_rlx(--count_);                               // A hint.
        bytes_in_depots.fetch_add_rlx(0 - bytes_of_magazine(number)); // Only a limit.
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
    const std::size_t number = detail::size_class_of(bytes);
    list& kept = lists_[number];
    if (magazine_size == 0) return false;
    if (kept.full_magazine && !depots[number].give(*kept.full_magazine, number)) return false;
    kept.full_magazine = kept.first;
    kept.first = nullptr;
    kept.room = magazine_size;
    return true;
}

void* slab_cache::take_magazine(std::size_t number) noexcept {
    list& kept = lists_[number];
    block* magazine = kept.full_magazine ? kept.full_magazine : depots[number].take(number);
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
    // A larger object is no block of the lists.
    return ::operator new(
        bytes > slab_cache::largest ? bytes : size_of_class(detail::size_class_of(bytes)));
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
