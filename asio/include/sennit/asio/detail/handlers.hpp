// SPDX-License-Identifier: Apache-2.0
// The part of a context that does not depend on the flavour of Asio: the runtime of its handlers,
// and two counts.
//
// `work_` counts the executors that track outstanding work, the handlers that are queued or run,
// and the context itself until `join`. `handlers_` counts the handlers that are queued or run, and
// the context itself until its destructor. The thread that takes a count to zero ends a wait, as
// its last access. Nothing increases a count that has been zero.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/one_shot.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/core/verbs.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>

namespace sennit::asio::detail {

// Ends the program, inside a catch block.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_after_exception() noexcept {
    const char* text = "not derived from std::exception";
    std::array<char, 512> line{};
    const auto report = [&line](const char* what) {
        std::snprintf(line.data(), line.size(),
                      "[SNT-480] an exception left a completion handler of Asio: %s; catch it in "
                      "the handler, because no caller could receive it",
                      what);
        base::fail(line.data(), __FILE__, __LINE__);
    };
    try {
        throw;
    } catch (const std::exception& thrown) {
        report(thrown.what());
    } catch (...) {
        report(text);
    }
    std::terminate(); // Not reached.
}

template <class F>
void run_handler(F& function) noexcept {
    try {
        function();
    } catch (...) {
        fail_after_exception();
    }
}

class handlers {
public:
    explicit handlers(sched::runtime_core& where) noexcept : runtime_(where) {}
    handlers(const handlers&) = delete;

    sched::runtime_core& runtime() const noexcept { return runtime_; }
    bool on_own_worker() const noexcept { return sched::current_runtime() == &runtime_; }
    void schedule(sched::runnable& what) noexcept { sched::schedule(what, runtime_); }

    // The caller has an executor, or another part that is counted, so no count is zero.
    void begin_work() noexcept { work_.fetch_add_rlx(1); }
    // Pairs with the other ends: the wait sees everything that happened before them.
    void end_work() noexcept {
        if (work_.fetch_sub_acq_rel(1) == 1) all_done_.finish();
    }
    void begin_handler() noexcept {
        begin_work();
        handlers_.fetch_add_rlx(1); // Orders nothing: as begin_work.
    }
    void end_handler() noexcept {
        end_work();
        // Pairs with the other ends.
        if (handlers_.fetch_sub_acq_rel(1) == 1) handlers_done_.finish();
    }

    // Blocks until all work is done. The first call only.
    void join() noexcept {
        end_work();
        all_done_.wait("asio::context::join");
    }
    // From here on, queued handlers are dropped.
    void stop() noexcept { stopped_.store_rel(1); } // Pairs with stopped.
    bool stopped() const noexcept { return stopped_.load_acq() != 0; } // Pairs with stop.
    // Blocks until no handler is queued or runs. Once.
    void wait_for_handlers() noexcept {
        // Pairs with end_handler.
        if (handlers_.fetch_sub_acq_rel(1) == 1) handlers_done_.finish();
        handlers_done_.wait("asio::~context");
    }

private:
    sched::runtime_core& runtime_;
    base::atomic<std::uintptr_t> work_{1};
    base::atomic<std::uintptr_t> handlers_{1};
    base::atomic<std::uint32_t> stopped_{0};
    sched::one_shot all_done_;
    sched::one_shot handlers_done_;
};

} // namespace sennit::asio::detail
