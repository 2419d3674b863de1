// SPDX-License-Identifier: Apache-2.0
// The CPU executor of TooManyCooks, as the shared headers know a runtime.
#pragma once

#include <tmc/all_headers.hpp>

#include <utility>

struct with_tmc {
    explicit with_tmc(unsigned threads) { tmc::cpu_executor().set_thread_count(threads).init(); }
    ~with_tmc() { tmc::cpu_executor().teardown(); }
    template <class F>
    auto run(F f) {
        return f();
    }
    template <class T>
    static T wait(tmc::task<T> task) {
        return tmc::post_waitable(tmc::cpu_executor(), std::move(task)).get();
    }
};
