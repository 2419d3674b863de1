// SPDX-License-Identifier: Apache-2.0
// Services of a worker for the code that runs on it. Own thread only, so none needs a lock.
#pragma once

#include "actors/runtime/mailbox_table.hpp"
#include "core/memory/context_cache.hpp"
#include "core/memory/slab_cache.hpp"
#include "sennit/detail/base/random.hpp"
#include "sennit/detail/core/coroutine_stack.hpp"

#include <cstdint>

namespace sennit::sched {

struct worker_services {
    explicit worker_services(std::uint64_t seed) noexcept : random(seed) {}

    base::random random;
    std::uint64_t next_id = 0; // See `fresh_id`.
    slab_cache memory;
    mailbox_cache mailboxes;
    coroutine_stack_cache coroutine_stacks;
    context_cache contexts;
};

} // namespace sennit::sched
