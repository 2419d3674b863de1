// SPDX-License-Identifier: Apache-2.0
// The kernels of the Cilk examples as workloads of forks. A runtime supplies the class that
// `../main.hpp` describes; `all` must also take two, three and seven functions.
//
// The kernels are a source file of their own in each program, `cilk.cpp`, so that they do not
// influence how the compiler inlines the other workloads.
#pragma once

#include "../main.hpp"
#include "cilksort.hpp"
#include "fft.hpp"
#include "heat.hpp"
#include "integrate.hpp"
#include "knapsack.hpp"
#include "lu.hpp"
#include "strassen.hpp"

namespace lab {

template <class R>
struct cilk {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name == "integrate") return measure<R>(integrate<R>(size), threads);
        if (name == "knapsack") return measure<R>(knapsack<R>(size), threads);
        if (name == "cilksort") return measure<R>(cilksort<R>(size), threads);
        if (name == "strassen") return measure<R>(strassen<R>(size), threads);
        if (name == "heat") return measure<R>(heat<R>(size), threads);
        if (name == "lu") return measure<R>(lu<R>(size), threads);
        if (name == "fft") return measure<R>(fft<R>(size), threads);
        return std::nullopt;
    }
};

} // namespace lab
