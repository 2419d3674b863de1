// SPDX-License-Identifier: Apache-2.0
// citor: forkJoin and forkJoinAll on one pool. Its workers are pinned, which is its default.
#pragma once

#include "runtime_base.hpp"

#include <citor/hints.h>
#include <citor/thread_pool.h>

#include <thread>

struct with_citor {
    static inline citor::ThreadPool* pool = nullptr;
    citor::ThreadPool own;
    explicit with_citor(unsigned threads) : own(threads) { pool = &own; }
    template <class F>
    auto run(F f) {
        return f();
    }
    template <class F, class G>
    static auto both(F f, G g) {
        decltype(f()) a, b;
        pool->forkJoin<citor::HintsDefaults>([&] { a = f(); }, [&] { b = g(); });
        return std::pair(a, b);
    }
    template <class... F>
    static void all(F... f) {
        pool->forkJoin<citor::HintsDefaults>(f...);
    }
    template <std::size_t Most, class F>
    static std::int64_t sum(std::size_t count, F f) {
        if (count == 0) return 0;
        constexpr std::size_t fixed = Most == 0 ? 100 : Most;
        std::array<std::int64_t, fixed> few;
        std::vector<std::int64_t> many(count > fixed ? count : 0);
        std::int64_t* results = count > fixed ? many.data() : few.data();
        pool->forkJoinAll<citor::HintsDefaults>(count, [&](std::size_t i) { results[i] = f(i); });
        std::int64_t result = 0;
        for (std::size_t i = 0; i < count; ++i) result += results[i];
        return result;
    }
};
