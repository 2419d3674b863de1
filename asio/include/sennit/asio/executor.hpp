// SPDX-License-Identifier: Apache-2.0
// asio::executor: Asio's executor that runs handlers on the workers of a runtime. A `context` gives
// it.
//
//     sennit::asio::context world;
//     asio::post(world.get_executor(), [] { … });
//     asio::strand<sennit::asio::executor> one_at_a_time(world.get_executor());
//
// Properties. blocking.possibly is the default: on a worker of the runtime, a dispatch runs the
// function at once. blocking.never queues it. relationship.fork and relationship.continuation are
// alike. outstanding_work.tracked lets context::join wait.
//
// A handler may block in every call of Sennit, with one exception. A handler that an asio::strand
// runs must not block. Asio notes the strands of a thread in a thread-local list, and a handler
// that blocks may continue in another thread. Use a `sennit::mutex` where the exclusion
// must last over a wait.
// An exception that leaves a handler ends the program with a message.
// Thread safety: any thread may use copies of an executor. The context must live.
#pragma once

#include "sennit/asio/detail/handlers.hpp"
#include "sennit/asio/detail/modern.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/detail/core/strand.hpp"

#include SENNIT_ASIO_HEADER(execution.hpp)
#include SENNIT_ASIO_HEADER(execution_context.hpp)

#include <memory>
#include <type_traits>
#include <utility>

namespace sennit::asio {
inline namespace SENNIT_ASIO_FLAVOUR {

template <bool Tracked>
class basic_executor {
public:
    basic_executor(const basic_executor& other) noexcept
        : handlers_(other.handlers_), home_(other.home_), never_(other.never_),
          continues_(other.continues_) {
        begin_work();
    }
    basic_executor(basic_executor&& other) noexcept
        : handlers_(std::exchange(other.handlers_, Tracked ? nullptr : other.handlers_)),
          home_(other.home_), never_(other.never_), continues_(other.continues_) {}
    basic_executor& operator=(basic_executor other) noexcept {
        std::swap(handlers_, other.handlers_);
        std::swap(home_, other.home_);
        std::swap(never_, other.never_);
        std::swap(continues_, other.continues_);
        return *this;
    }
    ~basic_executor() {
        if constexpr (Tracked)
            if (handlers_) handlers_->end_work();
    }

    // Runs the function on a worker of the runtime. Does not block. Throws std::bad_alloc.
    template <class F>
    void execute(F&& function) const {
        using handler_type = std::decay_t<F>;
        if (!never_ && running_in_this_thread()) {
            handler_type own(std::forward<F>(function));
            return detail::run_handler(own);
        }
        struct queued final : sched::runnable {
            queued(F&& f, detail::handlers& h)
                : runnable(&queued::go), function(std::forward<F>(f)), of(h) {}
            static void go(sched::runnable* self) noexcept {
                auto* me = static_cast<queued*>(self);
                detail::handlers& of = me->of;
                {
                    sched::strand_frame body;
                    handler_type own(std::move(me->function));
                    me->~queued();
                    sched::give_memory(me, sizeof(queued));
                    if (!of.stopped()) detail::run_handler(own);
                }
                of.end_handler();
            }
            handler_type function;
            detail::handlers& of;
        };
        static_assert(alignof(queued) <= 16, "sennit: a handler is over-aligned");
        void* memory = sched::take_memory(sizeof(queued));
        queued* made;
        try {
            made = ::new (memory) queued(std::forward<F>(function), *handlers_);
        } catch (...) {
            sched::give_memory(memory, sizeof(queued));
            throw;
        }
        handlers_->begin_handler();
        handlers_->schedule(*made);
    }
    // True on a worker of the runtime.
    bool running_in_this_thread() const noexcept { return handlers_->on_own_worker(); }

    net::execution_context& query(net::execution::context_t) const noexcept { return *home_; }
    static constexpr net::execution::mapping_t query(net::execution::mapping_t) noexcept {
        return net::execution::mapping.thread;
    }
    net::execution::blocking_t query(net::execution::blocking_t) const noexcept {
        if (never_) return net::execution::blocking.never;
        return net::execution::blocking.possibly;
    }
    net::execution::relationship_t query(net::execution::relationship_t) const noexcept {
        if (continues_) return net::execution::relationship.continuation;
        return net::execution::relationship.fork;
    }
    static constexpr net::execution::outstanding_work_t
    query(net::execution::outstanding_work_t) noexcept {
        if (Tracked) return net::execution::outstanding_work.tracked;
        return net::execution::outstanding_work.untracked;
    }

    basic_executor require(net::execution::blocking_t::possibly_t) const noexcept {
        return {*handlers_, *home_, false, continues_};
    }
    basic_executor require(net::execution::blocking_t::never_t) const noexcept {
        return {*handlers_, *home_, true, continues_};
    }
    basic_executor require(net::execution::relationship_t::fork_t) const noexcept {
        return {*handlers_, *home_, never_, false};
    }
    basic_executor require(net::execution::relationship_t::continuation_t) const noexcept {
        return {*handlers_, *home_, never_, true};
    }
    basic_executor<true> require(net::execution::outstanding_work_t::tracked_t) const noexcept {
        return {*handlers_, *home_, never_, continues_};
    }
    basic_executor<false> require(net::execution::outstanding_work_t::untracked_t) const noexcept {
        return {*handlers_, *home_, never_, continues_};
    }

    friend bool operator==(const basic_executor& a, const basic_executor& b) noexcept {
        return a.handlers_ == b.handlers_ && a.never_ == b.never_ && a.continues_ == b.continues_;
    }
    friend bool operator!=(const basic_executor& a, const basic_executor& b) noexcept {
        return !(a == b);
    }

private:
    template <bool>
    friend class basic_executor;
    friend class context;
    basic_executor(detail::handlers& of, net::execution_context& home, bool never,
                   bool continues) noexcept
        : handlers_(&of), home_(&home), never_(never), continues_(continues) {
        begin_work();
    }
    void begin_work() const noexcept {
        if constexpr (Tracked)
            if (handlers_) handlers_->begin_work();
    }

    detail::handlers* handlers_; // Null: moved away.
    net::execution_context* home_;
    bool never_;
    bool continues_;
};

using executor = basic_executor<false>;

} // namespace SENNIT_ASIO_FLAVOUR
} // namespace sennit::asio
