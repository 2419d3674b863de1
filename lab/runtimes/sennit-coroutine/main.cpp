// SPDX-License-Identifier: Apache-2.0
// Sennit's coroutines, on a worker.
#include "control/main.hpp"
#include "../sennit/with_runtime.hpp"

#include <sennit/coroutine.hpp>

struct with_coroutines : with_runtime {
    using with_runtime::with_runtime;
    class suspended {
    public:
        // Inlined, as if the program had no wrapper.
        [[gnu::always_inline]] void resume() { body_.resume(); }

    private:
        sennit::coroutine<> body_{[](auto& self) {
            for (;;) self.suspend();
        }};
    };
    [[gnu::noinline]] static void create_one() {
        sennit::coroutine<> one([](auto& self) { self.suspend(); });
    }
};

int main(int argc, char** argv) {
    return lab::program<lab::control<with_coroutines>>(argc, argv);
}
