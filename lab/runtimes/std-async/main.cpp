// SPDX-License-Identifier: Apache-2.0
// std::async with launch::async: a thread for each child but the last. It has no pool; threads are what the system
// gives.
#include "main.hpp"

#include <future>

struct with_async {
    explicit with_async(unsigned) {}
    template <class F>
    auto run(F f) {
        return f();
    }
    template <class F, class G>
    static auto both(F f, G g) {
        auto a = std::async(std::launch::async, f);
        auto b = g();
        return std::pair(a.get(), b);
    }
    template <class F, class G, class H, class I>
    static void all(F f, G g, H h, I i) {
        auto a = std::async(std::launch::async, f);
        auto b = std::async(std::launch::async, g);
        auto c = std::async(std::launch::async, h);
        i();
        a.get(), b.get(), c.get();
    }
    template <std::size_t Most, class F>
    static std::int64_t sum(std::size_t count, F f) {
        if (count == 0) return 0;
        std::vector<std::future<std::int64_t>> children;
        for (std::size_t i = 0; i + 1 < count; ++i)
            children.push_back(std::async(std::launch::async, [&f, i] { return f(i); }));
        std::int64_t result = f(count - 1);
        for (auto& child : children) result += child.get();
        return result;
    }
};

int main(int argc, char** argv) {
    return lab::main_for<with_async>(argc, argv);
}
