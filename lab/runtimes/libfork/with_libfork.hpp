// SPDX-License-Identifier: Apache-2.0
// A pool of libfork, as the shared headers know a runtime. The tasks are coroutines, so only the
// problems are those of the shared headers.
#pragma once

#include <libfork.hpp>

struct with_libfork {
    lf::lazy_pool pool;
    explicit with_libfork(unsigned threads) : pool(threads) {}
    template <class F>
    auto run(F f) {
        current = &pool;
        return f();
    }
    static inline lf::lazy_pool* current = nullptr;
};
