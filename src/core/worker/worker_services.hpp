// SPDX-License-Identifier: Apache-2.0
// Services of a worker for the code that runs on it. Own thread only, so none needs a lock.
#pragma once

#include "core/diagnostics/task_table.hpp"
#include "core/memory/context_cache.hpp"
#include "core/worker/model_hooks.hpp"
#include "sennit/detail/base/random.hpp"
#include "sennit/detail/core/coroutine_stack.hpp"

#include <cstdint>
#include <memory>

namespace sennit::sched {

struct worker_services {
    explicit worker_services(std::uint64_t seed)
        : random(seed), model(hooks::make_worker_state()) {}

    base::random random;
    std::uint64_t next_id = 0; // See `fresh_id`.
    coroutine_stack_cache coroutine_stacks;
    context_cache contexts;
    task_table tasks;
    const std::unique_ptr<model_state> model; // The state of the models; not null.
};

} // namespace sennit::sched
