// SPDX-License-Identifier: Apache-2.0
// The only access to atomics: every shared word of the library is a `base::atomic<T>`, and every
// access names its memory order.
//
// Use it for every word that two threads touch inside Sennit. Do not use `std::atomic` in the
// library. Because all accesses pass through this class, the whole engine can be compiled over
// simulated atomics, and the explorer can then enumerate its interleavings.
// `SENNIT_SIMULATED_ATOMICS` names the header that provides the simulated class under the name used
// here.
//
// Names: `load()`, `store()`, `exchange()`, … are sequentially consistent. A weaker order is part
// of the name (`load_acq`, `store_rel`, `load_rlx`, `cas_acq_rel`), so that grep finds it. A
// comment at each use of a weaker order names the access that it pairs with.
//
// Cost: exactly the machine instruction of the corresponding `std::atomic` operation.
#pragma once

#ifdef SENNIT_SIMULATED_ATOMICS
#include SENNIT_SIMULATED_ATOMICS
#else

#include <atomic>
#include <cstdint>

namespace sennit::base {

template <class T>
class atomic {
public:
    constexpr atomic() noexcept = default;
    constexpr explicit atomic(T value) noexcept : word_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load() const noexcept { return word_.load(std::memory_order_seq_cst); }
    T load_acq() const noexcept { return word_.load(std::memory_order_acquire); }
    T load_rlx() const noexcept { return word_.load(std::memory_order_relaxed); }

    void store(T value) noexcept { word_.store(value, std::memory_order_seq_cst); }
    void store_rel(T value) noexcept { word_.store(value, std::memory_order_release); }
    void store_rlx(T value) noexcept { word_.store(value, std::memory_order_relaxed); }

    T exchange(T value) noexcept { return word_.exchange(value, std::memory_order_seq_cst); }
    T exchange_acq(T value) noexcept { return word_.exchange(value, std::memory_order_acquire); }
    T exchange_acq_rel(T value) noexcept {
        return word_.exchange(value, std::memory_order_acq_rel);
    }

    // Strong compare-and-swap; on failure `expected` holds the value read with the order's load
    // half.
    bool cas(T& expected, T desired) noexcept {
        return word_.compare_exchange_strong(expected, desired, std::memory_order_seq_cst);
    }
    bool cas_acq(T& expected, T desired) noexcept {
        return word_.compare_exchange_strong(expected, desired, std::memory_order_acquire,
                                             std::memory_order_relaxed);
    }
    bool cas_rel(T& expected, T desired) noexcept {
        return word_.compare_exchange_strong(expected, desired, std::memory_order_release,
                                             std::memory_order_relaxed);
    }
    bool cas_rlx(T& expected, T desired) noexcept {
        return word_.compare_exchange_strong(expected, desired, std::memory_order_relaxed);
    }
    bool cas_acq_rel(T& expected, T desired) noexcept {
        return word_.compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                             std::memory_order_acquire);
    }

    T fetch_add(T delta) noexcept { return word_.fetch_add(delta, std::memory_order_seq_cst); }
    T fetch_sub(T delta) noexcept { return word_.fetch_sub(delta, std::memory_order_seq_cst); }
    T fetch_or(T bits) noexcept { return word_.fetch_or(bits, std::memory_order_seq_cst); }
    T fetch_and(T bits) noexcept { return word_.fetch_and(bits, std::memory_order_seq_cst); }
    T fetch_add_rlx(T delta) noexcept { return word_.fetch_add(delta, std::memory_order_relaxed); }
    T fetch_sub_acq_rel(T delta) noexcept {
        return word_.fetch_sub(delta, std::memory_order_acq_rel);
    }

    // The address that a futex waits on. Only for 32-bit words.
    const std::uint32_t* futex_address() const noexcept
        requires(sizeof(T) == 4)
    {
        // SAFETY: a lock-free 4-byte std::atomic has the representation of its value (asserted
        // below).
        return reinterpret_cast<const std::uint32_t*>(&word_);
    }

private:
    std::atomic<T> word_{};
    static_assert(std::atomic<T>::is_always_lock_free && sizeof(std::atomic<T>) == sizeof(T));
};

// Keeps the compiler, not the processor, from moving memory accesses across this point. This is the
// light half of an asymmetric fence, which the owner executes. The heavy half is
// `sys::barrier_all_threads()` (membarrier).
inline void compiler_barrier() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

} // namespace sennit::base

#endif
