// SPDX-License-Identifier: Apache-2.0
// asio::context: Asio's execution context over a runtime of Sennit.
//
//     sennit::asio::context world;
//     asio::ip::tcp::socket peer(world);
//     asio::steady_timer timer(world, 50ms);
//     timer.async_wait([](asio::error_code) { … });        // runs on a worker of the runtime
//     timer.async_wait(sennit::asio::use_fiber);           // blocks the calling fiber
//
// Use it for libraries that are written for Asio. For your own sockets use sennit/io.hpp, whose
// calls need no other thread.
//
// Handlers of operations run on the workers of the runtime, several at a time. Data that two
// handlers share needs an asio::strand or a lock, as with a thread pool. The completions themselves
// come from one thread, which the context owns and which waits in Asio's reactor. The context is an
// io_context, for libraries that insist on one; handlers over io_executor run on that thread, one
// after another, and must not block.
//
// End. `join` waits until all operations and handlers are done. The destructor does not wait for
// operations: it ends the thread, waits for the handlers that run, and drops the handlers of all
// other operations. A fiber that waits for one of these gets system_error with operation_aborted.
// The context must end before its runtime, and its I/O objects before the context.
// Cost: a thread. A completion costs a wake-up of that thread, and one of a worker.
#pragma once

#include "sennit/asio/detail/handlers.hpp"
#include "sennit/asio/detail/modern.hpp"
#include "sennit/asio/executor.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/runtime.hpp"

#include SENNIT_ASIO_HEADER(executor_work_guard.hpp)
#include SENNIT_ASIO_HEADER(io_context.hpp)

#include <pthread.h>

#include <thread>
#include <utility>

namespace sennit::asio {
inline namespace SENNIT_ASIO_FLAVOUR {

class context : private detail::handlers, public net::io_context {
public:
    using executor_type = executor;

    // Handlers run in the caller's runtime, or in the default runtime if the caller is no worker.
    // Throws std::system_error if the system refuses a thread or a descriptor.
    context() : context(runtime_here()) {}
    explicit context(sennit::runtime& where) : context(where.core()) {}
    // Blocks until the handlers that run have returned. Not for a handler of this context.
    ~context() {
        handlers::stop();
        net::io_context::stop();
        reactor_.join();
        wait_for_handlers();
        shutdown();
    }
    context(const context&) = delete;
    context& operator=(const context&) = delete;

    executor_type get_executor() noexcept { return {*this, *this, false, false}; }
    // Runs functions on the context's own thread, one after another. They must not block.
    net::io_context::executor_type io_executor() noexcept {
        return net::io_context::get_executor();
    }

    // Blocks until no operation and no handler is left, and no executor that tracks work. No work
    // may be added afterwards. Call it once, and not in a handler.
    void join() noexcept { handlers::join(); }

    // For completion tokens: the executor of the thread of the context that has made `of`.
    static net::io_context::executor_type thread_of(const executor& of) noexcept {
        return static_cast<net::io_context&>(*of.home_).get_executor();
    }

private:
    // The context's own thread calls these.
    using net::io_context::poll;
    using net::io_context::poll_one;
    using net::io_context::restart;
    using net::io_context::run;
    using net::io_context::run_one;
    using net::io_context::stop;
    using net::io_context::stopped;

    static sched::runtime_core& runtime_here() {
        sched::runtime_core* here = sched::current_runtime();
        return here ? *here : default_runtime().core();
    }
    explicit context(sched::runtime_core& where)
        : handlers(where), net::io_context(1), keep_(net::make_work_guard(io_executor())),
          reactor_([this] { react(); }) {
        pthread_setname_np(reactor_.native_handle(), "sennit-asio");
    }
    void react() noexcept {
        const auto loop = [this] { net::io_context::run(); };
        detail::run_handler(loop);
    }

    net::executor_work_guard<net::io_context::executor_type> keep_;
    std::thread reactor_; // Last: it begins at once.
};

} // namespace SENNIT_ASIO_FLAVOUR
} // namespace sennit::asio
