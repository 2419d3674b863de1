// SPDX-License-Identifier: Apache-2.0
// Sennit's stackless generators, on a worker.
#include "control/main.hpp"
#include "../sennit/with_runtime.hpp"

#include <sennit/generator.hpp>

struct with_generators : with_runtime {
    using with_runtime::with_runtime;
    [[gnu::noinline]] static sennit::generator<std::int64_t> endless() {
        for (std::int64_t i = 0;; ++i) co_yield i;
    }
    class suspended {
    public:
        void resume() { ++at_; }

    private:
        sennit::generator<std::int64_t> all_ = endless();
        sennit::generator<std::int64_t>::iterator at_ = all_.begin();
    };
    [[gnu::noinline]] static void create_one() { auto one = endless(); }
};

int main(int argc, char** argv) {
    return lab::program<lab::control<with_generators>>(argc, argv);
}
