// SPDX-License-Identifier: Apache-2.0
// A runtime whose workers are all parked when the scenario begins. Its start and end are not
// explored.
#pragma once

#include "explorer/sim.hpp"

#include "core/idle/idle_map.hpp"
#include "core/idle/parker.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/checkpoint.hpp"
#include "sennit/detail/sys/cpu_relax.hpp"
#include "sennit/fork_each.hpp"
#include "sennit/fork_join.hpp"
#include "sennit/runtime.hpp"
#include "sennit/scope.hpp"
#include "sys/futex.hpp"

#include <memory>
#include <string>

namespace sim = sennit::sim;

inline constexpr std::size_t small_stack = 64 * 1024;

// The exception that the body of a scenario throws.
struct failure {};

class engine {
public:
    // `more`: the number of workers by which the runtime may grow.
    explicit engine(unsigned workers, unsigned spares = 0, unsigned more = 0,
                    bool consolidate = false) {
        sim::calmly([&] {
            runtime_ = std::make_unique<sennit::runtime>(
                sennit::runtime_options{.workers = workers,
                                        .stack_size = small_stack,
                                        .consolidate = consolidate,
                                        .max_spare_workers = spares,
                                        .max_workers = workers + more});
        });
        sim::when_stuck([this] { return work_that_lies_about(); });
    }
    ~engine() {
        sim::when_stuck(nullptr);
        sim::calm_from_here();
    }

    template <class F>
    decltype(auto) run(F&& body) {
        return runtime_->run(body);
    }
    sennit::runtime& operator*() { return *runtime_; }
    sennit::runtime* operator->() { return runtime_.get(); }

private:
    // Describes a lost wake-up, for the case that all workers are parked.
    std::string work_that_lies_about() {
        sennit::sched::runtime_core& core = runtime_->core();
        std::string text;
        if (!core.injector().empty()) text += "work lies in the shared queue; ";
        for (unsigned i = 0; i < core.worker_count_with_spares(); ++i) {
            sennit::sched::worker& one = core.worker_at(i);
            const std::string whose = "worker " + std::to_string(i);
            if (!one.queue().empty())
                text += whose + " has " + std::to_string(one.queue().size()) + " in its queue; ";
            const sennit::sched::context* runs = one.running();
            if (runs && !sennit::sched::fork_range::of(runs->forks.load()).empty())
                text += whose + " has public forks; ";
        }
        return text;
    }

    std::unique_ptr<sennit::runtime> runtime_;
};

// A task that records that it has run.
struct errand : sennit::sched::runnable {
    errand()
        : runnable([](runnable* self) noexcept { static_cast<errand*>(self)->done.finish(); }) {}
    sennit::sched::one_shot done;
};

// An event that blocks the waiting thread, as a long leaf or a system call would.
class event {
public:
    void set() {
        word_.store(1);
        sennit::sys::futex_wake(word_, 8);
    }
    void wait() {
        while (word_.load() == 0) sennit::sys::futex_wait(word_, 0);
    }

private:
    sennit::base::atomic<std::uint32_t> word_{0};
};

// A task that sets an event.
struct setter : sennit::sched::runnable {
    explicit setter(event& e)
        : runnable([](runnable* self) noexcept { static_cast<setter*>(self)->target.set(); }),
          target(e) {}
    event& target;
};

// A small model of parking: one bit in the idle map, and a last check for work.
template <class F>
void park_in_small(sennit::sched::parker& own_parker, sennit::sched::idle_map& map,
                   F work_in_sight) {
    own_parker.announce();
    map.set(0);
    if (work_in_sight() && map.clear(0))
        own_parker.cancel();
    else
        own_parker.sleep();
}
