// SPDX-License-Identifier: Apache-2.0
// The registry of the threads that work with the library: the rarely executed half of
// sennit/detail/sys/single_threaded.hpp.
#pragma once

#include "sennit/detail/sys/biased_word.hpp"
#include "sennit/detail/sys/single_threaded.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::sys {

// Thread-safe. Each registration belongs to one thread.
class single_thread_mode {
public:
    constexpr single_thread_mode() noexcept = default;

    // Registers an unregistered thread. If the thread has asked for exclusive mode before, it
    // becomes exclusive, provided it is the only registered thread and the budget for ending
    // exclusive mode is not used up.
    void register_thread(base::thread_registration& me, std::int64_t now_ns) noexcept;
    // Unregisters a registered thread. If one thread is left and it has asked for exclusive mode,
    // it becomes exclusive, within the budget.
    void unregister_thread(base::thread_registration& me, std::int64_t now_ns) noexcept;
    // For a thread in shared mode: asks for exclusive mode. For another thread: does nothing.
    void try_become_exclusive(base::thread_registration& me, std::int64_t now_ns) noexcept;
    // For the exclusive thread: ends its mode. For another thread: does nothing.
    void leave_exclusive(base::thread_registration& me) noexcept;
    // For the end of an unregistered thread that has asked for exclusive mode.
    void release_id(base::thread_registration& me) noexcept;
    // Makes a word neutral that is biased to another thread. If it is biased to the caller: waits
    // until no other thread keeps the caller from plain updates; an exclusive caller makes the word
    // neutral. The caller is registered.
    // `if_free` does nothing if the lowest bit of the word is 1. `also_own` makes the word neutral
    // even if it is biased to the caller.
    enum class end_of_bias { of_any, if_free, also_own };
    template <class T>
    void end_bias(base::atomic<T>& word, base::thread_registration& me, end_of_bias how,
                  std::int64_t now_ns) noexcept;
    // See base::request_bias.
    std::uint32_t request_bias(base::thread_registration& me, unsigned losses,
                               std::int64_t now_ns) noexcept;
    bool may_be_only_thread() const noexcept { return registered_.load_rlx() == 1; } // a hint
    // For the child of a fork, which has one thread.
    void reset_after_fork(base::thread_registration& me) noexcept;

private:
    class gate_guard;
    void add_candidate(base::thread_registration& me) noexcept;
    void remove_candidate(base::thread_registration& me) noexcept;
    void revoke_exclusive() noexcept;
    void grant_exclusive(std::int64_t now_ns) noexcept;
    // R1 to R3. The caller gives the key back.
    void lock_out(base::thread_registration& owner) noexcept;
    void give_id(base::thread_registration& whose) noexcept;
    // Counts a loss of a bias. True: the owner has lost so many that it takes a new id.
    static bool count_loss(base::thread_registration& owner, std::int64_t now_ns) noexcept;

    // Guards the members below. Not a base::spin_lock, which would ask for the thread's mode.
    base::atomic<std::uint32_t> gate_{0};
    base::atomic<std::uint32_t> registered_{0};
    // Registered threads that asked for exclusive mode; null: a free place. One place would not do:
    // a worker that registers for a moment would take it from a worker that stays.
    std::array<base::thread_registration*, 16> candidates_{};
    // The registered thread in exclusive mode; null: none.
    base::thread_registration* exclusive_ = nullptr;
    // A budget: so many at once, and one in `interval_ns` afterwards.
    struct budget {
        const std::int64_t most, interval_ns;
        base::atomic<std::int64_t> used{0}; // written under the gate
        std::int64_t counted_ns = 0;        // the time up to which `used` has been lowered
        // Under the gate: false if the budget is used up.
        bool has_room(std::int64_t now_ns) noexcept;
        void use() noexcept { used.store_rlx(used.load_rlx() + 1); } // under the lock
    };
    // The ends of exclusive mode, at 1 to 20 us each.
    budget revocations_{32, 2'000'000};
    budget biases_{256, 1'000'000};
    // The time from which on the budget of biases may have room again: a hint.
    base::atomic<std::int64_t> next_bias_ns_{0};
    // The threads with a bias id. Id 0 says that a word is neutral.
    static constexpr std::size_t ids = 512;
    std::array<base::thread_registration*, ids> owners_{};
    std::size_t last_id_ = 0; // the id that was given last
};

#ifdef SENNIT_NO_LOCK_ELISION

inline void unregister_as_worker() noexcept {}

#else

// Unregisters the calling thread, which was a worker for a while and asked for exclusive mode. It
// asks no more, and keeps its bias id. The thread must live as long as the process.
void unregister_as_worker() noexcept;

// The registry of the process.
extern constinit single_thread_mode process_mode;

// Unregisters the calling thread when it ends (src/sys/thread_registration.cpp; the explorer does
// it itself).
void unregister_at_thread_end() noexcept;

#endif

} // namespace sennit::sys
