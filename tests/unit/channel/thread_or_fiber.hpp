// SPDX-License-Identifier: Apache-2.0
// A fixture whose tests each run once on a plain thread and once in a fiber. The runtime has two
// workers, so that partners may move between them.
#pragma once

#include <sennit/fiber.hpp>
#include <sennit/runtime.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

class thread_or_fiber : public testing::TestWithParam<bool> {
protected:
    sennit::runtime runtime{{.workers = 2}};
    template <class F>
    void go(F body) {
        if (GetParam())
            sennit::fiber({.runtime = &runtime}, std::move(body)).join();
        else
            body();
    }
    template <class F>
    sennit::fiber partner(F body) {
        return sennit::fiber({.runtime = &runtime}, std::move(body));
    }
};

inline std::string name_of_strand(const testing::TestParamInfo<bool>& test) {
    return test.param ? "fiber" : "thread";
}
