// SPDX-License-Identifier: Apache-2.0
#include "sched/small_memory.hpp"

#include "sched/tuning.hpp"
#include "sched/worker.hpp"
#include "sennit/sched/small_memory.hpp"

#include <new>

namespace sennit::sched {

namespace {

std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + small_memory::unit - 1) / small_memory::unit * small_memory::unit;
}

void free_piece(void* memory) noexcept {
    ::operator delete(memory, std::align_val_t{16});
}

} // namespace

small_memory::~small_memory() {
    for (list& kept : lists_)
        while (piece* found = kept.first) {
            kept.first = found->next;
            free_piece(found);
        }
}

bool small_memory::keep(void* memory, std::size_t bytes) noexcept {
    auto& kept = lists_[(bytes - 1) / unit];
    if (kept.count >= tuning::max_kept_pieces) return false;
    kept.first = ::new (memory) piece{kept.first};
    ++kept.count;
    return true;
}

void* take_memory(std::size_t bytes) {
    if (bytes <= small_memory::largest)
        if (worker* me = this_worker())
            if (void* kept = me->memory.take(bytes)) return kept;
    return ::operator new(rounded(bytes), std::align_val_t{16});
}

void give_memory(void* memory, std::size_t bytes) noexcept {
    if (bytes <= small_memory::largest)
        if (worker* me = this_worker())
            if (me->memory.keep(memory, bytes)) return;
    free_piece(memory);
}

} // namespace sennit::sched
