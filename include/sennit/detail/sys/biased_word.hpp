// SPDX-License-Identifier: Apache-2.0
// Words of locks that one thread may own: while a lock is biased to a worker, that worker locks and
// unlocks it without a locked instruction, although other threads work with the library, too.
// sennit/detail/sys/single_threaded.hpp has the protocol and the costs.
//
// Use it for locks and lock-like objects that live long and are often used by one thread at a time,
// such as the lock of a channel. Do not use it for a lock that lives for a few operations, or that
// several workers take in turn: it stays neutral, and only pays for the count of its uses.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/single_threaded.hpp"

#include <cstdint>

namespace sennit::base {

#ifdef SENNIT_NO_LOCK_ELISION

inline void end_bias(atomic<std::uint32_t>&) noexcept {}
inline void end_bias(atomic<std::uint64_t>&) noexcept {}
inline void make_neutral_slowly(atomic<std::uint64_t>&) noexcept {}
inline std::uint32_t request_bias(unsigned) noexcept {
    return 0;
}

#else

// Makes a word neutral that is biased to another thread, or waits until the calling thread, if it
// is the owner, may update the word plainly again. The caller is registered, and tries its update
// again. Costs 30 ns to 20 us. The 32-bit form is for spin locks, whose lowest bit says that they
// are held: it leaves a held lock as it is.
void end_bias(atomic<std::uint32_t>& word) noexcept;
void end_bias(atomic<std::uint64_t>& word) noexcept;

// Makes a word neutral, whether it is biased to the calling thread or to another one. The caller
// holds the lock that the word belongs to, so the word stays neutral. Costs as end_bias; a neutral
// word costs a load.
void make_neutral_slowly(atomic<std::uint64_t>& word) noexcept;

// The upper half of a word that is biased to the calling thread, shifted as in `key`; 0: the thread
// is given no bias now. `losses` is the number of times that the word has lost its bias.
std::uint32_t request_bias(unsigned losses) noexcept;

#endif

// The bits of a word that name a thread.
#ifdef SENNIT_NO_LOCK_ELISION
template <class T>
inline constexpr T bias_bits = 0;
#else
template <class T>
inline constexpr T bias_bits = static_cast<T>(T{0xFFFF} << (8 * sizeof(T) - 16));
#endif
template <class T>
constexpr bool is_biased(T seen) noexcept {
    return (seen & bias_bits<T>) != 0;
}
template <class T>
constexpr T without_bias(T seen) noexcept {
    return seen & ~bias_bits<T>;
}
// True if a biased word is biased to the calling thread: a hint.
template <class T>
bool is_own(T seen) noexcept {
    return seen >> (8 * sizeof(T) - 16) == own_bias_id();
}
inline void make_neutral(atomic<std::uint64_t>& word) noexcept {
    // Orders nothing: the caller holds the lock.
    if (is_biased(word.load_rlx())) make_neutral_slowly(word);
}

// Counts the locks that one thread has taken in a row. The holder of the lock calls its members.
class lock_uses {
public:
    // Counts a lock of a neutral word by the calling thread. True: the thread may ask for the bias.
    [[gnu::always_inline]] bool count() noexcept {
        const auto me = static_cast<std::uint8_t>(own_bias_id());
        if (last_ != me) {
            last_ = me;
            state_ &= losses_mask;
            return false;
        }
        const bool enough = (state_ & count_mask) == count_mask;
        state_ = static_cast<std::uint8_t>(enough ? state_ & losses_mask : state_ + 1);
        return enough;
    }
    // Returns the bias that the calling thread is given; 0: none.
    std::uint32_t ask() noexcept { return request_bias(state_ / one_loss); }
    void note_loss() noexcept {
        state_ &= losses_mask;
        if (state_ < losses_mask) state_ += one_loss;
    }

private:
#ifdef SENNIT_SIMULATOR // The explorer's scenarios are short.
    static constexpr std::uint8_t count_mask = 1, one_loss = 32, losses_mask = 0xE0;
#else
    static constexpr std::uint8_t count_mask = 31, one_loss = 32, losses_mask = 0xE0;
#endif
    std::uint8_t last_ = 0;  // the lower half of the last user's bias id
    std::uint8_t state_ = 0; // losses in the upper three bits, locks in a row in the lower five
};

// `biasable(word).cas_acq(…)` is the word's own operation of that name, on the lower bits of the
// word. The owner of the word uses plain loads and stores. Another thread makes the word neutral
// first.
template <class T>
class biasable {
public:
    explicit biasable(atomic<T>& word) noexcept : word_(word) {}

    bool cas_acq(T& expected, T desired SENNIT_PLACE_PARAMETER) noexcept {
        return update(expected, desired, [&](T& seen) {
            return word_.cas_acq(seen, desired SENNIT_PLACE_ARGUMENT); // the order of the caller
        });
    }
    bool cas_rel(T& expected, T desired SENNIT_PLACE_PARAMETER) noexcept {
        return update(expected, desired, [&](T& seen) {
            return word_.cas_rel(seen, desired SENNIT_PLACE_ARGUMENT); // the order of the caller
        });
    }
    bool cas_rlx(T& expected, T desired SENNIT_PLACE_PARAMETER) noexcept {
        return update(expected, desired, [&](T& seen) {
            return word_.cas_rlx(seen, desired SENNIT_PLACE_ARGUMENT); // the order of the caller
        });
    }

private:
    template <class Cas>
    bool update(T& expected, T desired, Cas cas) noexcept {
        for (;;) {
            if (update_plainly(word_, expected, desired)) return true;
            if (!this_thread_registered()) [[unlikely]]
                register_this_thread();
            T seen = expected;
            if (cas(seen)) return true;
            if (!is_biased(seen) || (is_own(seen) && without_bias(seen) != expected)) {
                expected = without_bias(seen);
                return false;
            }
            end_bias(word_);
        }
    }
    atomic<T>& word_;
};

} // namespace sennit::base
