// SPDX-License-Identifier: Apache-2.0
// The common part of Sennit's programs for single models: a runtime with a given number of workers.
#pragma once

#include "counters.hpp"

#include <sennit/fiber.hpp>
#include <sennit/runtime.hpp>
#include <sennit/this_fiber.hpp>

#include <utility>

struct with_runtime {
    sennit::runtime runtime;
    explicit with_runtime(unsigned threads) : runtime({.workers = threads}) {}
    explicit with_runtime(const sennit::runtime_options& options) : runtime(options) {}
    template <class F>
    auto run(F f) {
        return runtime.run(f);
    }
    lab::scheduling_counts counts() const { return lab::counts_of(runtime.metrics()); }
};

// A runtime with the operations of fibers.
struct with_fibers : with_runtime {
    using with_runtime::with_runtime;
    using fiber = sennit::fiber;
    template <class F>
    static fiber start(F f) {
        return fiber(std::move(f));
    }
    static void yield() { sennit::this_fiber::yield(); }
};
