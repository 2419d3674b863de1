// SPDX-License-Identifier: Apache-2.0
// A stand-in for `base::atomic` in which every operation is sequentially consistent and first calls
// one hook.
//
// Use it through the preset `simulated-atomics`, which builds the whole library over it. That build
// shows that every shared word uses base::atomic, and that no test result depends on a weak order.
// The header explores nothing by itself. A test takes part by defining `extern "C" void
// sennit_sim_point() noexcept`, which is called before every operation. Cost: one call and one
// sequentially consistent instruction per operation.
#pragma once

#include <atomic>
#include <cstdint>

extern "C" [[gnu::weak]] void sennit_sim_point() noexcept;

namespace sennit::base {

namespace detail {

inline void sim_point() noexcept {
    if (&sennit_sim_point != nullptr) sennit_sim_point();
}

} // namespace detail

template <class T>
class atomic {
public:
    constexpr atomic() noexcept = default;
    constexpr explicit atomic(T value) noexcept : word_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load() const noexcept { return before().load(); }
    T load_acq() const noexcept { return load(); }
    T load_rlx() const noexcept { return load(); }

    void store(T value) noexcept { before().store(value); }
    void store_rel(T value) noexcept { store(value); }
    void store_rlx(T value) noexcept { store(value); }

    T exchange(T value) noexcept { return before().exchange(value); }
    T exchange_acq(T value) noexcept { return exchange(value); }
    T exchange_acq_rel(T value) noexcept { return exchange(value); }

    bool cas(T& expected, T desired) noexcept {
        return before().compare_exchange_strong(expected, desired);
    }
    bool cas_acq(T& expected, T desired) noexcept { return cas(expected, desired); }
    bool cas_rel(T& expected, T desired) noexcept { return cas(expected, desired); }
    bool cas_rlx(T& expected, T desired) noexcept { return cas(expected, desired); }
    bool cas_acq_rel(T& expected, T desired) noexcept { return cas(expected, desired); }

    T fetch_add(T delta) noexcept { return before().fetch_add(delta); }
    T fetch_sub(T delta) noexcept { return before().fetch_sub(delta); }
    T fetch_or(T bits) noexcept { return before().fetch_or(bits); }
    T fetch_and(T bits) noexcept { return before().fetch_and(bits); }
    T fetch_add_rlx(T delta) noexcept { return fetch_add(delta); }
    T fetch_sub_acq_rel(T delta) noexcept { return fetch_sub(delta); }

    const std::uint32_t* futex_address() const noexcept
        requires(sizeof(T) == 4)
    {
        // SAFETY: a lock-free 4-byte std::atomic has the representation of its value (asserted
        // below).
        return reinterpret_cast<const std::uint32_t*>(&word_);
    }

private:
    const std::atomic<T>& before() const noexcept {
        detail::sim_point();
        return word_;
    }
    std::atomic<T>& before() noexcept {
        detail::sim_point();
        return word_;
    }

    std::atomic<T> word_{};
    static_assert(std::atomic<T>::is_always_lock_free && sizeof(std::atomic<T>) == sizeof(T));
};

inline void compiler_barrier() noexcept {
    detail::sim_point();
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

} // namespace sennit::base
