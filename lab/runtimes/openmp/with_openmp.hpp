// SPDX-License-Identifier: Apache-2.0
// OpenMP: explicit tasks and taskwait. The last child runs inline.
#pragma once

#include "runtime_base.hpp"

#include <omp.h>

struct with_openmp {
    explicit with_openmp(unsigned threads) { omp_set_num_threads(static_cast<int>(threads)); }
    template <class F>
    auto run(F f) {
        decltype(f()) result{};
#pragma omp parallel shared(result)
#pragma omp single
        result = f();
        return result;
    }
    // excerpt forks
    template <class F, class G>
    static auto both(F f, G g) {
        decltype(f()) a{};
#pragma omp task shared(a) firstprivate(f)
        a = f();
        auto b = g();
#pragma omp taskwait
        return std::pair(a, b);
    }
    // excerpt end
    template <class F, class... More>
    static void start(F f, More... more) {
        if constexpr (sizeof...(more) == 0) {
            f();
        } else {
#pragma omp task firstprivate(f)
            f();
            start(more...);
        }
    }
    template <class... F>
    static void all(F... f) {
        start(f...);
#pragma omp taskwait
    }
    template <std::size_t Most, class F>
    static std::int64_t sum(std::size_t count, F f) {
        if (count == 0) return 0;
        constexpr std::size_t fixed = Most == 0 ? 100 : Most;
        std::array<std::int64_t, fixed> few;
        std::vector<std::int64_t> many(count > fixed ? count : 0);
        std::int64_t* results = count > fixed ? many.data() : few.data();
        for (std::size_t i = 0; i + 1 < count; ++i) {
#pragma omp task shared(f) firstprivate(i, results)
            results[i] = f(i);
        }
        results[count - 1] = f(count - 1);
#pragma omp taskwait
        std::int64_t result = 0;
        for (std::size_t i = 0; i < count; ++i) result += results[i];
        return result;
    }
};
