// SPDX-License-Identifier: Apache-2.0
// std::async with launch::async: a thread for each child but the last, and for each fiber. There is
// no pool. The threads are those of the system.
#include "main.hpp"

#include "fibers/main.hpp"
#include "fibers/threads.hpp"

#include <future>
#include <system_error>

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

struct asyncs_as_fibers : lab::threads_base {
    explicit asyncs_as_fibers(unsigned) {}

    class fiber {
    public:
        fiber() = default;
        explicit fiber(std::future<void> end) : end_(std::move(end)) {}
        void join() { end_.get(); }

    private:
        std::future<void> end_;
    };
    template <class F>
    static fiber start(F f) {
        try {
            return fiber(std::async(std::launch::async, std::move(f)));
        } catch (const std::system_error& error) {
            refused(error.what());
        }
    }
};

int main(int argc, char** argv) {
    return lab::program<lab::forks<with_async>, lab::fibers<asyncs_as_fibers>>(argc, argv);
}
