// SPDX-License-Identifier: Apache-2.0
// A cancel scope with a deadline, around what the running activity does while the object lives.
#pragma once

#include "sennit/sched/activity.hpp"
#include "sennit/sched/cancel_scope.hpp"
#include "sennit/sched/now.hpp"

#include <cstdint>

namespace sennit::sched {

class time_limit {
public:
    explicit time_limit(std::int64_t deadline_ns) noexcept;
    ~time_limit();
    time_limit(const time_limit&) = delete;

    // Its own deadline has come, not only one above.
    bool expired() const noexcept { return deadline_ns_ != never && now_ns() >= deadline_ns_; }

private:
    const std::int64_t deadline_ns_;
    cancel_scope scope_;
};

} // namespace sennit::sched
