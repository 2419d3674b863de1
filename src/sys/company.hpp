// SPDX-License-Identifier: Apache-2.0
// Who works with the library at this moment: the half of sennit/base/company.hpp that is hardly ever needed.
#pragma once

#include "sennit/base/company.hpp"

#include <cstdint>

namespace sennit::sys {

// Thread-safe. Each membership is its thread's.
class company {
public:
    constexpr company() noexcept = default;

    // A stranger. One that has sought solitude before has it, if it is the only one and none ended a moment ago.
    void join(base::membership& me, std::int64_t now_ns) noexcept;
    // A member. If one is left that seeks solitude, it has it, but not soon after the last one has ended.
    void leave(base::membership& me, std::int64_t now_ns) noexcept;
    // A member that is in company: the same for itself. Anybody else: nothing.
    void seek_solitude(base::membership& me, std::int64_t now_ns) noexcept;
    bool may_be_one() const noexcept { return members_.load_rlx() == 1; } // a hint
    // In the child of a fork, which has one thread.
    void survived_fork(base::membership& me) noexcept;

private:
    class gate_guard;
    void end_solitude() noexcept;
    void begin_solitude(std::int64_t now_ns) noexcept;

    base::atomic<std::uint32_t> gate_{0}; // a spin lock, which would ask the company; guards all below
    base::atomic<std::uint32_t> members_{0};
    base::membership* seeker_ = nullptr; // a member: who has sought solitude last
    base::membership* alone_ = nullptr;  // the member that is
    std::int64_t ends_ = 0;              // of solitudes, less those that are forgotten
    std::int64_t counted_ns_ = 0;        // until when
};

} // namespace sennit::sys
