// SPDX-License-Identifier: Apache-2.0
// The backend of std::execution::parallel_scheduler over Sennit's default runtime.
//
// The program that links this file, the object library sennit::parallel_scheduler, replaces the
// function query_parallel_scheduler_backend of its implementation of std::execution. Every
// parallel_scheduler of the program then schedules on Sennit's workers.
//
// Storage. The implementation passes some bytes of its operation state. A job that fits lies there,
// so that nothing is allocated. Otherwise the job is allocated; without memory the operation
// completes with set_error and std::bad_alloc. A job ends its life before it completes the
// operation, because the completion may free those bytes.
//
// Which threads run this: any thread calls the backend; workers run the jobs, each as a strand.
#include "sennit/cancelled.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/execution/bulk.hpp"
#include "sennit/execution/detail/implementation.hpp"
#include "sennit/runtime.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>

namespace {

namespace ex = sennit::execution::ex;
namespace ex_std = sennit::execution::ex_std;
namespace replacement = SENNIT_EXECUTION_REPLACEMENT_NAMESPACE;
using sennit::execution::detail::loop_kind;

template <class Proxy, class Run>
class job final : sennit::sched::runnable {
public:
    // Makes a job in `storage`, or in memory of its own. Null: there is no memory.
    static job* make(Proxy& proxy, std::span<std::byte> storage, Run what) noexcept {
        void* place = storage.data();
        std::size_t room = storage.size();
        const bool fits = std::align(alignof(job), sizeof(job), place, room) != nullptr;
        if (!fits) place = ::operator new(sizeof(job), std::nothrow);
        return place ? ::new (place) job(proxy, what, !fits) : nullptr;
    }
    void schedule(sennit::sched::runtime_core& where) noexcept {
        sennit::sched::schedule(*this, where);
    }

private:
    job(Proxy& proxy, Run what, bool allocated) noexcept
        : runnable(&job::begins), proxy_(proxy), run_(what), allocated_(allocated) {}
    static void begins(sennit::sched::runnable* self) noexcept {
        auto* me = static_cast<job*>(self);
        Proxy& proxy = me->proxy_;
        const Run what = me->run_;
        const bool allocated = me->allocated_;
        me->~job();
        if (allocated) ::operator delete(me);
        sennit::sched::strand_frame body;
        complete(proxy, what);
    }
    static void complete(Proxy& proxy, const Run& what) noexcept {
        const ex_std::inplace_stop_token stop =
            proxy.template try_query<ex_std::inplace_stop_token>(ex_std::get_stop_token)
                .value_or(ex_std::inplace_stop_token{});
        if (stop.stop_requested()) return proxy.set_stopped();
        std::exception_ptr error;
        try {
            what(proxy, stop);
            return proxy.set_value();
        } catch (const sennit::cancelled&) {
            // A stop request has ended the loop.
        } catch (...) {
            error = std::current_exception();
        }
        if (error)
            proxy.set_error(std::move(error));
        else
            proxy.set_stopped();
    }

    Proxy& proxy_;
    [[no_unique_address]] Run run_;
    const bool allocated_;
};

// Runs the items of a bulk operation. The proxy's `execute` never throws.
struct loop {
    loop_kind kind;
    std::size_t count;
    void operator()(replacement::bulk_item_receiver_proxy& proxy,
                    ex_std::inplace_stop_token stop) const {
        const auto body = [&proxy](std::size_t first, std::size_t last) {
            proxy.execute(first, last);
        };
        sennit::execution::detail::run_bulk(kind, count, std::move(stop), body);
    }
};
struct nothing {
    void operator()(replacement::receiver_proxy&,
                    const ex_std::inplace_stop_token&) const noexcept {}
};

class backend final : public replacement::parallel_scheduler_backend {
public:
    explicit backend(sennit::runtime& where) noexcept : where_(where.core()) {}

    void schedule(replacement::receiver_proxy& proxy,
                  std::span<std::byte> storage) noexcept override {
        start(proxy, storage, nothing{});
    }
    void schedule_bulk_chunked(std::size_t count, replacement::bulk_item_receiver_proxy& proxy,
                               std::span<std::byte> storage) noexcept override {
        start(proxy, storage, loop{loop_kind::chunked, count});
    }
    void schedule_bulk_unchunked(std::size_t count, replacement::bulk_item_receiver_proxy& proxy,
                                 std::span<std::byte> storage) noexcept override {
        start(proxy, storage, loop{loop_kind::unchunked, count});
    }

private:
    template <class Proxy, class Run>
    void start(Proxy& proxy, std::span<std::byte> storage, Run what) noexcept {
        if (auto* made = job<Proxy, Run>::make(proxy, storage, what))
            made->schedule(where_);
        else
            proxy.set_error(std::make_exception_ptr(std::bad_alloc()));
    }
    sennit::sched::runtime_core& where_;
};

} // namespace

// Replaces the function of the implementation. All callers get the same backend, so that all
// parallel_schedulers are equal. Throws the exceptions of the default runtime's start.
auto SENNIT_EXECUTION_REPLACEMENT_NAMESPACE::query_parallel_scheduler_backend()
    -> std::shared_ptr<SENNIT_EXECUTION_REPLACEMENT_NAMESPACE::parallel_scheduler_backend> {
    static const auto only = std::make_shared<backend>(sennit::default_runtime());
    return only;
}
