// SPDX-License-Identifier: Apache-2.0
// The floor: the plain functions, without a library.
#pragma once

#include "runtime_base.hpp"

struct serial {
    explicit serial(unsigned) {}
    template <class F>
    auto run(F f) {
        return f();
    }
    template <class F, class G>
    [[gnu::always_inline]] static auto both(F f, G g) {
        auto a = f();
        return std::pair(a, g());
    }
    template <class... F>
    [[gnu::always_inline]] static void all(F... f) {
        (f(), ...);
    }
    template <std::size_t Most, class F>
    [[gnu::always_inline]] static std::int64_t sum(std::size_t count, F f) {
        std::int64_t result = 0;
        for (std::size_t i = 0; i < count; ++i) result += f(i);
        return result;
    }
};
