// SPDX-License-Identifier: Apache-2.0
// Who works with the library at this moment: the half of sennit/detail/sys/single_threaded.hpp that
// is hardly ever needed.
#pragma once

#include "sennit/detail/sys/single_threaded.hpp"

#include <cstdint>

namespace sennit::sys {

// Thread-safe. Each membership is its thread's.
class single_thread_mode {
public:
    constexpr single_thread_mode() noexcept = default;

    // A stranger. One that has sought solitude before has it, if it is the only one and none ended
    // a moment ago.
    void register_thread(base::thread_registration& me, std::int64_t now_ns) noexcept;
    // A member. If one is left that seeks solitude, it has it, but not soon after the last one has
    // ended.
    void unregister_thread(base::thread_registration& me, std::int64_t now_ns) noexcept;
    // A member that is in company: the same for itself. Anybody else: nothing.
    void try_become_exclusive(base::thread_registration& me, std::int64_t now_ns) noexcept;
    bool may_be_only_thread() const noexcept { return registered_.load_rlx() == 1; } // a hint
    // In the child of a fork, which has one thread.
    void reset_after_fork(base::thread_registration& me) noexcept;

private:
    class gate_guard;
    void revoke_exclusive() noexcept;
    void grant_exclusive(std::int64_t now_ns) noexcept;

    base::atomic<std::uint32_t> gate_{
        0}; // a spin lock, which would ask the company; guards all below
    base::atomic<std::uint32_t> registered_{0};
    base::thread_registration* candidate_ = nullptr; // a member: who has sought solitude last
    base::thread_registration* exclusive_ = nullptr; // the member that is
    std::int64_t revocations_ = 0;                   // of solitudes, less those that are forgotten
    std::int64_t counted_ns_ = 0;                    // until when
};

} // namespace sennit::sys
