// SPDX-License-Identifier: Apache-2.0
// oneTBB: a task_group for each node. The last child runs inline.
#pragma once

#include "deep_stack.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <memory>
#include <optional>

struct with_tbb {
    tbb::global_control control;
    std::optional<tbb::global_control> stacks; // of the library's threads
    tbb::task_arena arena;
    explicit with_tbb(unsigned threads)
        : control(tbb::global_control::max_allowed_parallelism, threads),
          arena(static_cast<int>(threads)) {}
    // The calling thread takes part, so it needs such a stack as well.
    with_tbb(unsigned threads, lab::deep_recursion)
        : control(tbb::global_control::max_allowed_parallelism, threads),
          stacks(std::in_place, tbb::global_control::thread_stack_size, lab::deep_stack),
          arena(static_cast<int>(threads)) {}
    template <class F>
    auto run(F f) {
        if (!stacks) return arena.execute(f);
        decltype(f()) result{};
        lab::call_on_stack(lab::deep_stack, [&] { result = arena.execute(f); });
        return result;
    }
    // excerpt forks
    template <class F, class G>
    static auto both(F f, G g) {
        tbb::task_group group;
        decltype(f()) a;
        group.run([&] { a = f(); });
        auto b = g();
        group.wait();
        return std::pair(a, b);
    }
    // excerpt end
    template <class F, class... More>
    [[gnu::always_inline]] static void start(tbb::task_group& group, const F& f,
                                             const More&... more) {
        if constexpr (sizeof...(more) == 0) {
            f();
        } else {
            group.run(f);
            start(group, more...);
        }
    }
    template <class... F>
    static void all(F... f) {
        tbb::task_group group;
        start(group, f...);
        group.wait();
    }
    template <std::size_t Most, class F>
    static std::int64_t sum(std::size_t count, F f) {
        if (count == 0) return 0;
        constexpr std::size_t fixed = Most == 0 ? 100 : Most;
        std::array<std::int64_t, fixed> few;
        std::vector<std::int64_t> many(count > fixed ? count : 0);
        std::int64_t* results = count > fixed ? many.data() : few.data();
        tbb::task_group group;
        for (std::size_t i = 0; i + 1 < count; ++i) group.run([=, &f] { results[i] = f(i); });
        results[count - 1] = f(count - 1);
        group.wait();
        std::int64_t result = 0;
        for (std::size_t i = 0; i < count; ++i) result += results[i];
        return result;
    }
};
