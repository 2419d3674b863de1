// SPDX-License-Identifier: Apache-2.0
// Boost.Coroutine2, with stacks of the default size.
#include "control/main.hpp"

#include <boost/coroutine2/all.hpp>

struct with_boost_coroutine2 {
    explicit with_boost_coroutine2(unsigned) {}
    template <class F>
    auto run(F f) {
        return f();
    }
    using pull = boost::coroutines2::coroutine<void>::pull_type;
    using push = boost::coroutines2::coroutine<void>::push_type;

    class suspended {
    public:
        void resume() { body_(); }

    private:
        push body_{[](pull& back) {
            for (;;) back();
        }};
    };
    [[gnu::noinline]] static void create_one() {
        push one([](pull&) {});
    }
};

int main(int argc, char** argv) {
    return lab::program<lab::control<with_boost_coroutine2>>(argc, argv);
}
