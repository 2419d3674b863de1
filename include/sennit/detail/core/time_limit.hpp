// SPDX-License-Identifier: Apache-2.0
// A cancel scope with a deadline, around what the running activity does while the object lives.
#pragma once

#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/strand.hpp"

#include <cstdint>

namespace sennit::sched {

class time_limit {
public:
    explicit time_limit(std::int64_t deadline_ns) noexcept;
    ~time_limit();
    time_limit(const time_limit&) = delete;

    // What a `cancelled` from inside means: its own deadline has come, not only one above, and
    // nobody has cancelled what is around it. Who has, counts, whichever came first: what unwinds
    // may take longer than the limit.
    bool expired() const noexcept {
        return deadline_ns_ != never && now_ns() >= deadline_ns_ && !scope_.cancel_called();
    }

private:
    const std::int64_t deadline_ns_;
    cancel_scope scope_;
};

} // namespace sennit::sched
