// SPDX-License-Identifier: Apache-2.0
// execution::runtime_scheduler: the scheduler of std::execution for a runtime of Sennit.
//
//     sennit::execution::runtime_scheduler workers;          // of the caller's runtime
//     auto sum = ex::schedule(workers) | ex::then([] { return add_up(); });
//     auto [value] = sennit::execution::sync_wait(std::move(sum)).value();
//
// Use it to run senders on the workers of Sennit. In code without senders use `spawn` or a fiber.
//
// A scheduled operation completes on a worker, as a strand of its own. Its receiver may block in
// all calls of Sennit, and so may the functions that the receiver calls. If a stop was requested
// before that strand begins, the operation completes with set_stopped, on the worker, too.
// Forward progress: parallel. A strand that has begun continues when a worker is free. Workers
// serve woken strands in order, and the watchdog replaces a worker that a system call blocks. A
// strand that has not begun may wait until another one ends, so the guarantee is not `concurrent`.
// Errors: none. The operation state holds all that a schedule needs, so nothing is allocated. For a
// receiver whose stop token can never stop, set_value is the only completion.
// Thread safety: any thread may use copies. The runtime must live until all operations have
// completed. Cost: 48 bytes in the operation state, besides the receiver.
#pragma once

#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/execution/detail/implementation.hpp"
#include "sennit/runtime.hpp"

#include <concepts>
#include <type_traits>
#include <utility>

namespace sennit::execution {
inline namespace SENNIT_EXECUTION_FLAVOUR {

class runtime_domain;
class runtime_scheduler;

namespace detail {

template <class Tag>
concept value_or_stopped =
    std::same_as<Tag, ex::set_value_t> || std::same_as<Tag, ex::set_stopped_t>;

// The answers of a sender that completes on a worker of `where`.
class runtime_env {
public:
    explicit runtime_env(sched::runtime_core& where) noexcept : where_(&where) {}
    template <value_or_stopped Tag>
    runtime_scheduler query(ex::get_completion_scheduler_t<Tag>) const noexcept;
    static runtime_domain query(ex::get_domain_t) noexcept;
#if SENNIT_EXECUTION_COMPLETION_DOMAIN
    template <value_or_stopped Tag>
    static runtime_domain query(ex::get_completion_domain_t<Tag>) noexcept;
#endif

private:
    sched::runtime_core* where_;
};

template <class R>
class schedule_operation final : private sched::runnable {
public:
    using operation_state_concept = ex::SENNIT_EXECUTION_TAG(operation_state);

    schedule_operation(sched::runtime_core& where,
                       R&& receiver) noexcept(std::is_nothrow_move_constructible_v<R>)
        : runnable(&schedule_operation::begins), where_(where), receiver_(std::move(receiver)) {}
    schedule_operation(const schedule_operation&) = delete;

    void start() & noexcept { sched::schedule(*this, where_); }

private:
    static void begins(sched::runnable* self) noexcept {
        auto& me = static_cast<schedule_operation&>(*self);
        sched::strand_frame body;
        // The receiver may free the operation.
        if constexpr (may_stop<ex::env_of_t<R>>)
            if (stop_token(me.receiver_).stop_requested())
                return ex::set_stopped(std::move(me.receiver_));
        ex::set_value(std::move(me.receiver_));
    }

    sched::runtime_core& where_;
    [[no_unique_address]] R receiver_;
};

class schedule_sender {
public:
    using sender_concept = ex::SENNIT_EXECUTION_TAG(sender);
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return completions<may_stop<Env...>>();
    }
    template <class Env>
    auto get_completion_signatures(const Env&) const noexcept {
        return completions<may_stop<Env>>();
    }

    explicit schedule_sender(sched::runtime_core& where) noexcept : where_(&where) {}
    template <ex::receiver R>
    schedule_operation<R>
    connect(R receiver) const noexcept(std::is_nothrow_move_constructible_v<R>) {
        return {*where_, std::move(receiver)};
    }
    runtime_env get_env() const noexcept { return runtime_env(*where_); }

private:
    template <bool MayStop>
    using completions =
        std::conditional_t<MayStop,
                           ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>,
                           ex::completion_signatures<ex::set_value_t()>>;
    sched::runtime_core* where_;
};

} // namespace detail

class runtime_scheduler {
public:
    using scheduler_concept = ex::SENNIT_EXECUTION_TAG(scheduler);

    // The scheduler of the caller's runtime, or of the default runtime if the caller is no worker.
    // Throws the exceptions of the default runtime's start.
    runtime_scheduler() : runtime_scheduler(here()) {}
    // Throws std::system_error in a process that fork() has left without the runtime's workers.
    explicit runtime_scheduler(runtime& where) : runtime_scheduler(where.core()) {
        where.check_not_lost();
    }

    // Returns a sender that completes on a worker of the runtime.
    detail::schedule_sender schedule() const noexcept { return detail::schedule_sender(*where_); }

    // True if both are schedulers of the same runtime.
    friend bool operator==(const runtime_scheduler&, const runtime_scheduler&) noexcept = default;

    static constexpr ex::forward_progress_guarantee
    query(ex::get_forward_progress_guarantee_t) noexcept {
        return ex::forward_progress_guarantee::parallel;
    }
    template <detail::value_or_stopped Tag>
    runtime_scheduler query(ex::get_completion_scheduler_t<Tag>) const noexcept {
        return *this;
    }
    static runtime_domain query(ex::get_domain_t) noexcept;
#if SENNIT_EXECUTION_COMPLETION_DOMAIN
    template <detail::value_or_stopped Tag>
    static runtime_domain query(ex::get_completion_domain_t<Tag>) noexcept;
#endif

    // For the library's own use.
    explicit runtime_scheduler(sched::runtime_core& where) noexcept : where_(&where) {}
    sched::runtime_core& core() const noexcept { return *where_; }

private:
    static sched::runtime_core& here() {
        sched::runtime_core* mine = sched::current_runtime();
        return mine ? *mine : default_runtime().core();
    }
    sched::runtime_core* where_;
};

template <detail::value_or_stopped Tag>
runtime_scheduler
detail::runtime_env::query(ex::get_completion_scheduler_t<Tag>) const noexcept {
    return runtime_scheduler(*where_);
}

} // namespace SENNIT_EXECUTION_FLAVOUR
} // namespace sennit::execution

#include "sennit/execution/bulk.hpp" // IWYU pragma: export
