// SPDX-License-Identifier: Apache-2.0
#include "sched/small_memory.hpp"

#include "sched/tuning.hpp"
#include "sched/worker.hpp"
#include "sennit/base/atomic.hpp"
#include "sennit/base/over_forks.hpp"
#include "sennit/base/spin_lock.hpp"
#include "sennit/sys/hot_line.hpp"

#include <mutex>
#include <new>

namespace sennit::sched {

namespace {

std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + small_memory::unit - 1) / small_memory::unit * small_memory::unit;
}

void free_piece(void* memory) noexcept {
    ::operator delete(memory, std::align_val_t{16});
}

using piece = small_memory::piece;

void free_all(piece* first) noexcept {
    while (piece* found = first) {
        first = found->next;
        free_piece(found);
    }
}

// Whole batches of one size. Any thread.
class depot {
public:
    // False: it is full.
    bool give(piece& batch) noexcept {
        if (tuning::simulated) return false; // it would carry memory from one execution to the next
        std::lock_guard guard(lock);
        if (count_ >= tuning::batches_in_depot) return false;
        batch.next_batch = first_;
        first_ = &batch;
        count_rlx_.store_rlx(++count_); // a hint
        return true;
    }
    piece* take() noexcept {
        if (tuning::simulated || count_rlx_.load_rlx() == 0) return nullptr; // a hint
        std::lock_guard guard(lock);
        piece* batch = first_;
        if (!batch) return nullptr;
        first_ = batch->next_batch;
        count_rlx_.store_rlx(--count_); // a hint
        return batch;
    }

    base::spin_lock lock; // guards the two below

private:
    piece* first_ = nullptr;
    std::uint32_t count_ = 0;
    base::atomic<std::uint32_t> count_rlx_{0};
};
constinit depot depots[small_memory::sizes]{};
const base::held_over_forks hold_depots(depots, depots[0].lock);

} // namespace

small_memory::~small_memory() {
    for (list& kept : lists_) {
        free_all(kept.first);
        free_all(kept.full);
    }
}

bool small_memory::put_batch(std::size_t bytes) noexcept {
    const std::size_t number = (bytes - 1) / unit;
    list& kept = lists_[number];
    if (batch_size == 0) return false;
    if (kept.full && !depots[number].give(*kept.full)) return false;
    kept.full = kept.first;
    kept.first = nullptr;
    kept.count = 0;
    return true;
}

void* small_memory::take_batch(std::size_t number) noexcept {
    list& kept = lists_[number];
    piece* batch = kept.full ? kept.full : depots[number].take();
    kept.full = nullptr;
    if (!batch) return nullptr;
    kept.first = batch->next;
    kept.count = batch_size - 1;
    return batch;
}

void small_memory::keep_a_spare() noexcept {
    if (!tuning::simulated && tuning::max_kept_pieces != 0) sys::tls_set_spare_block(0);
}

void small_memory::free_the_spare() noexcept {
    const std::uintptr_t kept = sys::tls_spare_block();
    sys::tls_set_spare_block(1);
    // SAFETY: what give_memory put there.
    if (kept > 1) free_piece(reinterpret_cast<void*>(kept));
}

namespace {

// Apart, as the next one, so that nothing is saved over calls that are hardly ever made.
[[gnu::noinline]] void* make_piece(std::size_t bytes) {
    return ::operator new(rounded(bytes), std::align_val_t{16});
}

[[gnu::noinline]] void give_to_full_lists(void* memory, std::size_t bytes) noexcept {
    if (bytes <= small_memory::largest)
        if (worker* me = this_worker())
            if (me->memory.put_batch(bytes) && me->memory.keep(memory, bytes)) return;
    free_piece(memory);
}

} // namespace

void* detail::take_memory_of_lists(std::size_t bytes) {
    if (bytes <= small_memory::largest)
        if (worker* me = this_worker())
            if (void* kept = me->memory.take(bytes)) return kept;
    return make_piece(bytes);
}

void detail::give_memory_to_lists(void* memory, std::size_t bytes) noexcept {
    if (bytes <= small_memory::largest)
        if (worker* me = this_worker())
            if (me->memory.keep(memory, bytes)) return;
    give_to_full_lists(memory, bytes);
}

} // namespace sennit::sched
