// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "counters.hpp"
#include "program.hpp"

#include <sennit/sennit.hpp>

#include <functional>

struct with_sennit {
    sennit::runtime runtime;
    explicit with_sennit(unsigned threads) : runtime({.workers = threads}) {}
    with_sennit(unsigned threads, lab::deep_recursion)
        : runtime({.workers = threads, .stack_size = lab::deep_stack}) {}
    template <class F>
    auto run(F f) {
        return runtime.run(f);
    }
    lab::scheduling_counts counts() const { return lab::counts_of(runtime.metrics()); }
    // excerpt forks
    template <class F, class G>
    [[gnu::always_inline]] static auto both(F f, G g) {
        return sennit::fork_join(f, g);
    }
    template <class... F>
    [[gnu::always_inline]] static void all(F... f) {
        sennit::fork_join(f...);
    }
    template <std::size_t Most, class F>
    [[gnu::always_inline]] static std::int64_t sum(std::size_t count, F f) {
        return sennit::fork_reduce(count, std::int64_t{0}, std::plus<>{}, f);
    }
    // excerpt end
};
