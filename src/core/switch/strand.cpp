// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/strand.hpp"

#include "core/diagnostics/tracing.hpp"
#include "core/worker/model_hooks.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/fiber_block.hpp"
#include "sennit/detail/core/local_value.hpp"

#include <utility>

namespace sennit::sched {

namespace {
constexpr std::uint64_t ids_in_a_block = 1 << 20;
base::atomic<std::uint64_t> next_block{1};

// The state of a thread that is no worker, in place of a logical thread of its own. Such a thread
// never changes under its code.
struct thread_state {
    std::uint64_t number = 0;
    alignas(16) strand own;
    ~thread_state() { destroy_locals(own); }
};
[[gnu::noinline]] thread_state& this_thread() noexcept {
    static thread_local thread_state state;
    return state;
}
} // namespace

std::uint64_t fresh_id() noexcept {
    worker* me = this_worker();
    // A whole block of ids for one thread: such threads are few.
    if (!me) return next_block.fetch_add(1) * ids_in_a_block;
    if (me->services.next_id % ids_in_a_block == 0)
        me->services.next_id = next_block.fetch_add(1) * ids_in_a_block + 1;
    return me->services.next_id++;
}

std::uint64_t fresh_ids(std::uint64_t) noexcept {
    return next_block.fetch_add(1) * ids_in_a_block + 1;
}

std::uint64_t number_of(strand& who) noexcept {
    std::uint64_t number = who.id.load_rlx(); // Orders nothing: only the number matters.
    if (number != 0) return number;
    const std::uint64_t fresh = fresh_id();
    return who.id.cas(number, fresh) ? fresh : number;
}

std::uint64_t current_id() noexcept {
    if (strand* me = current_strand()) return number_of(*me);
    thread_state& mine = this_thread();
    if (mine.number == 0) mine.number = fresh_id();
    return mine.number;
}

strand& strand_of_thread() noexcept {
    return this_thread().own;
}

strand_frame::strand_frame(cancel_scope* scope) noexcept {
    own_.scope = scope;
    begin_strand(own_);
    tracing::emit(trace_kind::runs, &own_);
}

strand_frame::~strand_frame() {
    destroy_locals(own_);
    end_strand(own_);
    tracing::emit(trace_kind::runs, own_.outer);
}

local_key new_local_key() noexcept {
    // Defined here and not in the header, so that all shared objects of a program use one counter.
    static constinit base::atomic<local_key> keys{0};
    return keys.fetch_add_rlx(1); // Pairs with nothing: only that the numbers differ matters.
}

local_value*& current_locals() noexcept {
    return this_strand().locals;
}

void add_local(local_value& fresh) noexcept {
    hooks::before_local_value();
    fresh.next = std::exchange(current_locals(), &fresh);
}

void destroy_all_locals(strand& ended) noexcept {
    while (local_value* newest =
               std::exchange(ended.locals, ended.locals ? ended.locals->next : nullptr))
        newest->destroy(newest);
}

} // namespace sennit::sched
