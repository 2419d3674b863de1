// SPDX-License-Identifier: Apache-2.0
// Boost.Context: fcontext by its class `fiber`, with a stack of the default size.
#include "control/main.hpp"

#include <boost/context/fiber.hpp>

struct with_boost_context {
    explicit with_boost_context(unsigned) {}
    template <class F>
    auto run(F f) {
        return f();
    }
    using fiber_type = boost::context::fiber;

    class suspended {
    public:
        void resume() { body_ = std::move(body_).resume(); }

    private:
        fiber_type body_{[](fiber_type&& back) {
            for (;;) back = std::move(back).resume();
            return std::move(back);
        }};
    };
    [[gnu::noinline]] static void create_one() {
        fiber_type one([](fiber_type&& back) { return std::move(back); });
    }
};

int main(int argc, char** argv) {
    return lab::program<lab::control<with_boost_context>>(argc, argv);
}
