// SPDX-License-Identifier: Apache-2.0
// The suspensions of a task that waits inside monitors. Each is the wait of a context in other
// words, and has the same claims and counts: condition.cpp, waitfor.cpp and core.cpp.
//
// A context must be saved before a grant may wake it. A task is saved as soon as it has noted where
// it continues (A1 of task_strand.hpp), so its await_suspend does that first, and gives its own
// count of `missing` back as its last action. Until then no grant is the last one, and no thread
// wakes the task.
#pragma once

#include "monitor/accept_request.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/monitor/core.hpp"

#include <coroutine>
#include <cstdint>
#include <optional>

namespace sennit::detail {

// Waits for everything that the entrant lacks: entrant::wait_rest for tasks. `missing` contains one
// for the sleep, unless it is 0.
class rest_awaiter : public sched::awaitable {
public:
    rest_awaiter(entrant& self, const char* what, const void* on) noexcept
        : self_(self), what_(what), on_(on) {}

    bool await_ready() const noexcept {
        return self_.missing.load_rlx() == 0; // Orders nothing: as in wait_rest.
    }
    [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> caller) noexcept;
    void await_resume() noexcept {
        if (waits_) (void)sched::task_wait::end();
    }

private:
    entrant& self_;
    const char* const what_;
    const void* const on_;
    bool waits_ = false;
};

// A wait that a deadline or a cancelled scope may end, too. `publish(argument)` runs once the task
// has noted where it continues. Requires task_wait::reserve_limit.
class limited_awaiter : public sched::awaitable {
public:
    limited_awaiter(sched::wait_point& point, void (*publish)(void*) noexcept, void* argument,
                    const sched::wait_options& options) noexcept
        : point_(point), publish_(publish), argument_(argument), options_(options) {}

    static constexpr bool await_ready() noexcept { return false; }
    [[gnu::noinline]] std::coroutine_handle<>
    await_suspend(std::coroutine_handle<> caller) noexcept;
    sched::wake_reason await_resume() noexcept { return sched::task_wait::end(point_); }

private:
    sched::wait_point& point_;
    void (*const publish_)(void*) noexcept;
    void* const argument_;
    const sched::wait_options& options_;
};

// Enters one of several monitors: monitor::enter_slow for tasks. The result is true if the task has
// entered all monitors of the set.
class set_entry_awaiter : public sched::awaitable {
public:
    set_entry_awaiter(monitor& one, const monitor_set& wanted, std::uintptr_t me,
                      member_key member) noexcept
        : one_(one), wanted_(wanted), me_(me), member_(member) {}
    // A move before the await, whose results do not exist yet.
    set_entry_awaiter(set_entry_awaiter&& unused) noexcept
        : set_entry_awaiter(unused.one_, unused.wanted_, unused.me_, unused.member_) {}

    bool await_ready() noexcept { return monitor_ops::enter_or_lock(one_, me_); }
    [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> caller) noexcept;
    bool await_resume() noexcept {
        if (!waits_) return admitted_;
        (void)sched::task_wait::end();
        return mine_->accepted;
    }

private:
    monitor& one_;
    const monitor_set& wanted_;
    const std::uintptr_t me_;
    const member_key member_;
    bool admitted_ = false; // An acceptor has let the task in at once.
    bool waits_ = false;
    std::optional<entrant> mine_;
    queue_node place_;
};

} // namespace sennit::detail
