// SPDX-License-Identifier: Apache-2.0
#include "sennit/fork_join.hpp"

#include "../core/worker/worker.hpp"

namespace sennit::detail {

void catch_pending() noexcept {
    sched::this_worker()->self().pending_exception = std::current_exception();
}

void abandon(sched::fork_slot* slot, void (*drop_result)(sched::fork_slot*, void*) noexcept,
             void* room) {
    const std::exception_ptr error =
        std::exchange(sched::this_worker()->self().pending_exception, nullptr);
    // it ran elsewhere; the pop may have suspended the caller
    if (slot && !sched::pop_fork(slot)) {
        if (slot->done.failed())
            std::destroy_at(&slot->as<std::exception_ptr>());
        else
            drop_result(slot, room);
    }
    std::rethrow_exception(error);
}

void rethrow_from(sched::fork_slot* slot) {
    std::exception_ptr error = std::move(slot->as<std::exception_ptr>());
    std::destroy_at(&slot->as<std::exception_ptr>());
    std::rethrow_exception(std::move(error));
}

} // namespace sennit::detail
