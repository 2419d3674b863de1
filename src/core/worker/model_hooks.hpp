// SPDX-License-Identifier: Apache-2.0
// Functions that the core calls and a model defines: the core knows no fiber, actor or mailbox.
//
// The actors' runtime defines all of them (src/actors/runtime/core_hooks.cpp). All are on rare
// paths: a new worker, a theft, a strand's first local value, a progress count for thieves.
#pragma once

#include "core/worker/model_state.hpp"

#include <cstdint>
#include <memory>

namespace sennit::sched {

class context;
class runtime_core;
class worker;
struct runnable;

namespace hooks {

// Make the state that the models keep for a worker and for a runtime. They throw std::bad_alloc.
std::unique_ptr<model_state> make_worker_state();
std::unique_ptr<model_state> make_runtime_state(runtime_core& runtime);

// Before a thief takes tasks from the queue of `victim`, inside that queue's lock: moves work that
// the victim keeps beside its queue into the queue.
void before_queue_steal(worker& victim) noexcept;
// Any thread. True if `item`, of a pinned queue, probably has nothing left to do. A hint.
bool is_stale_wakeup(runnable& item) noexcept;
// Any thread. The number of work items, such as messages, that the present task on `running` has
// finished so far. A hint.
std::uint64_t items_done_on(const context& running) noexcept;
// Own thread. A strand that runs here is about to get its first local value.
void before_local_value() noexcept;

} // namespace hooks

} // namespace sennit::sched
