// SPDX-License-Identifier: Apache-2.0
// taskflow: a TaskGroup for each node. The last child runs inline, and corun is the join.
#pragma once

#include "runtime_base.hpp"

#include <pthread.h>

#include <taskflow/taskflow.hpp>

struct with_taskflow {
    static inline tf::Executor* executor = nullptr;
    tf::Executor own;
    explicit with_taskflow(unsigned threads) : own((reserve_stacks(), threads)) { executor = &own; }

    // corun runs other tasks on top of the waiting task. uts(T3) takes over 100 MB of stack, and
    // the default stack of a thread has 8 MB. This reserves address space; memory is used only for
    // touched pages.
    static void reserve_stacks() {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        const int refused = pthread_attr_setstacksize(&attributes, std::size_t{256} << 20) |
                            pthread_setattr_default_np(&attributes);
        pthread_attr_destroy(&attributes);
        if (refused != 0) throw std::runtime_error("the system refuses stacks of 256 MiB");
    }
    template <class F>
    auto run(F f) {
        return own.async(f).get();
    }
    template <class F, class G>
    static auto both(F f, G g) {
        tf::TaskGroup group = executor->task_group();
        decltype(f()) a;
        group.silent_async([&] { a = f(); });
        auto b = g();
        group.corun();
        return std::pair(a, b);
    }
    template <class F, class... More>
    [[gnu::always_inline]] static void start(tf::TaskGroup& group, const F& f,
                                             const More&... more) {
        if constexpr (sizeof...(more) == 0) {
            f();
        } else {
            group.silent_async(f);
            start(group, more...);
        }
    }
    template <class... F>
    static void all(F... f) {
        tf::TaskGroup group = executor->task_group();
        start(group, f...);
        group.corun();
    }
    template <std::size_t Most, class F>
    static std::int64_t sum(std::size_t count, F f) {
        if (count == 0) return 0;
        constexpr std::size_t fixed = Most == 0 ? 100 : Most;
        std::array<std::int64_t, fixed> few;
        std::vector<std::int64_t> many(count > fixed ? count : 0);
        std::int64_t* results = count > fixed ? many.data() : few.data();
        tf::TaskGroup group = executor->task_group();
        for (std::size_t i = 0; i + 1 < count; ++i)
            group.silent_async([=, &f] { results[i] = f(i); });
        results[count - 1] = f(count - 1);
        group.corun();
        std::int64_t result = 0;
        for (std::size_t i = 0; i < count; ++i) result += results[i];
        return result;
    }
};
