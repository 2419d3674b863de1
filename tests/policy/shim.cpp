// SPDX-License-Identifier: Apache-2.0
// Every operation of base::atomic, beside the operation of std::atomic for which it stands.
// tools/check_shim.py compiles this file both ways and compares the instructions.
#include <atomic>
#include <cstdint>

#ifdef SHIM_IS_LEFT_OUT
using word = std::atomic<std::uint64_t>;
using flag = std::atomic<unsigned>;
#define OP(shim, plain) plain
#else
#include "sennit/detail/base/atomic.hpp"
using word = sennit::base::atomic<std::uint64_t>;
using flag = sennit::base::atomic<unsigned>;
#define OP(shim, plain) shim
#endif

using enum std::memory_order;

extern "C" {

std::uint64_t load(word& w) {
    return OP(w.load(), w.load(seq_cst));
}
std::uint64_t load_acq(word& w) {
    return OP(w.load_acq(), w.load(acquire));
}
std::uint64_t load_rlx(word& w) {
    return OP(w.load_rlx(), w.load(relaxed));
}
void store(word& w, std::uint64_t v) {
    OP(w.store(v), w.store(v, seq_cst));
}
void store_rel(word& w, std::uint64_t v) {
    OP(w.store_rel(v), w.store(v, release));
}
void store_rlx(word& w, std::uint64_t v) {
    OP(w.store_rlx(v), w.store(v, relaxed));
}
std::uint64_t exchange(word& w, std::uint64_t v) {
    return OP(w.exchange(v), w.exchange(v, seq_cst));
}
std::uint64_t exchange_acq(word& w, std::uint64_t v) {
    return OP(w.exchange_acq(v), w.exchange(v, acquire));
}
std::uint64_t exchange_acq_rel(word& w, std::uint64_t v) {
    return OP(w.exchange_acq_rel(v), w.exchange(v, acq_rel));
}
bool cas(word& w, std::uint64_t& e, std::uint64_t v) {
    return OP(w.cas(e, v), w.compare_exchange_strong(e, v, seq_cst));
}
bool cas_acq_rel(word& w, std::uint64_t& e, std::uint64_t v) {
    return OP(w.cas_acq_rel(e, v), w.compare_exchange_strong(e, v, acq_rel, acquire));
}
std::uint64_t fetch_add(word& w, std::uint64_t v) {
    return OP(w.fetch_add(v), w.fetch_add(v, seq_cst));
}
std::uint64_t fetch_sub_acq_rel(word& w, std::uint64_t v) {
    return OP(w.fetch_sub_acq_rel(v), w.fetch_sub(v, acq_rel));
}
std::uint64_t fetch_or(word& w, std::uint64_t v) {
    return OP(w.fetch_or(v), w.fetch_or(v, seq_cst));
}

// The accesses of a fork and its join to the words of a worker's thread-local data (worker_tls), on
// processors without a single instruction for these accesses.
bool push_and_look(word& head, flag& poll, std::uint64_t next) {
    OP(head.store_rel(next), head.store(next, release));
    return OP(poll.load_rlx(), poll.load(relaxed)) != 0;
}
bool pop_and_look(word& head, word& split, std::uint64_t slot) {
    OP(head.store_rel(slot), head.store(slot, release));
    OP(sennit::base::compiler_barrier(), std::atomic_signal_fence(seq_cst));
    return slot > OP(split.load_rlx(), split.load(relaxed));
}

} // extern "C"
