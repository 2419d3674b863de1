// SPDX-License-Identifier: Apache-2.0
// inside_scope: the running strand's innermost scope of cancellation, for as long as the object
// lives. The strand that makes the object ends it; its context may be on another worker then.
#pragma once

#include "sennit/detail/core/strand.hpp"

#include <utility>

namespace sennit::sched {

class inside_scope {
public:
    explicit inside_scope(cancel_scope& scope) noexcept
        : me_(this_strand()), outer_(std::exchange(me_.scope, &scope)) {}
    ~inside_scope() { me_.scope = outer_; }
    inside_scope(const inside_scope&) = delete;

private:
    strand& me_;
    cancel_scope* const outer_;
};

} // namespace sennit::sched
