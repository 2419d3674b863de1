// SPDX-License-Identifier: Apache-2.0
// A cancel scope with a deadline, around the code that the running strand executes while the object
// lives.
#pragma once

#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/inside_scope.hpp"
#include "sennit/detail/core/now.hpp"

#include <cstdint>

namespace sennit::sched {

class time_limit {
public:
    explicit time_limit(std::int64_t deadline_ns) noexcept;
    time_limit(const time_limit&) = delete;

    // Says how to interpret a `cancelled` exception from inside: true if the own deadline has come
    // and no enclosing scope was cancelled by a call. Such a call counts even if the deadline came
    // first, because unwinding may take longer than the limit.
    bool expired() const noexcept {
        return deadline_ns_ != never && now_ns() >= deadline_ns_ && !scope_.cancel_called();
    }

private:
    const std::int64_t deadline_ns_;
    cancel_scope scope_;
    inside_scope inside_;
};

} // namespace sennit::sched
