// SPDX-License-Identifier: Apache-2.0
// The data that a debugger needs to find fibers, coroutines and tasks in a process or a core file,
// even if the library has no debug information. The data are offsets of members, in the order in
// which tools/gdb/sennit.py names them. The library itself does not read them.
#include "core/diagnostics/snapshot.hpp"
#include "core/runtime/registry.hpp"
#include "core/runtime/runtime_core.hpp"
#include "sennit/detail/core/coroutine_stack.hpp"
#include "sennit/detail/core/fiber_block.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/core/wait.hpp"

#include <cstddef>
#include <cstdint>

// SAFETY: offsetof in classes that are not standard layout is conditionally supported; g++ and
// clang support it for all classes without virtual bases, and these have none.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace sennit::sched {

struct debug_layout {
    // Changes with the meaning of the table.
    char magic[8] = {'s', 'e', 'n', 'n', 'i', 't', '0', '7'};
    std::uint64_t offsets[43];
};

struct coroutine_stack::debug {
    static constexpr std::uint64_t other_sp = offsetof(coroutine_stack, other_sp_);
    static constexpr std::uint64_t low = offsetof(coroutine_stack, low_);
    static constexpr std::uint64_t high = offsetof(coroutine_stack, high_);
    static constexpr std::uint64_t body = offsetof(coroutine_stack, body_);
    static constexpr std::uint64_t name = offsetof(coroutine_stack, name_);
    static constexpr std::uint64_t next = offsetof(coroutine_stack, next_made_);
    static constexpr std::uint64_t whose = offsetof(coroutine_stack, whose_);
};

struct snapshot::layout {
    // The address of a strand's last frame, seen from the strand: that of its plain_frame.
    static constexpr std::uint64_t task_strand_end = sizeof(resumable);
    static constexpr debug_layout table{
        .offsets = {offsetof(runtime_core, contexts_) + offsetof(context_pool, all_),
                    offsetof(runtime_core, workers_),
                    offsetof(context, machine) + offsetof(sys::machine_context, sp),
                    offsetof(context, saved_strand),
                    offsetof(context, own),
                    offsetof(context, stack) + offsetof(sys::stack, low),
                    offsetof(context, stack) + offsetof(sys::stack, high),
                    offsetof(context, in_blocking_pool),
                    offsetof(sys::worker_tls, context),
                    offsetof(worker, thread_) + offsetof(worker_thread, os_id),
                    offsetof(worker, thread_) + offsetof(worker_thread, tls),
                    offsetof(sys::worker_tls, strand),
                    offsetof(strand, id),
                    offsetof(strand, fiber),
                    offsetof(strand, waits_for),
                    offsetof(strand, outer),
                    offsetof(fiber_block, cold_),
                    offsetof(fiber_block, made_at_),
                    offsetof(fiber_block, self_),
                    offsetof(wait_options, what),
                    offsetof(wait_options, on),
                    coroutine_stack::debug::other_sp,
                    coroutine_stack::debug::low,
                    coroutine_stack::debug::high,
                    coroutine_stack::debug::body,
                    coroutine_stack::debug::name,
                    coroutine_stack::debug::next,
                    coroutine_stack::debug::whose,
                    offsetof(worker, services) + offsetof(worker_services, tasks) +
                        offsetof(task_table, newest_),
                    offsetof(task_table::chunk, older),
                    offsetof(task_table::chunk, size),
                    sizeof(task_table::chunk),
                    offsetof(task_strand, saved_strand),
                    offsetof(task_strand, what_),
                    offsetof(task_strand, on_),
                    offsetof(task_strand, own_) + offsetof(strand, innermost),
                    task_strand_end,
                    offsetof(task_strand, origin_),
                    offsetof(task_cold_state, made_at),
                    offsetof(task_cold_state, name),
                    offsetof(context, running_task),
                    offsetof(task_run, identity),
                    offsetof(task_run, below)}};
};

} // namespace sennit::sched

extern "C" {
[[gnu::visibility("default")]] constinit sennit::sched::debug_root sennit_debug_root{
    nullptr, &sennit::sched::snapshot::layout::table, &sennit::sched::newest_coroutine_stack};
}
