// SPDX-License-Identifier: Apache-2.0
// Sennit's fibers, and the primitives on which they block. The stacks have the default size, and 16
// KiB where very many fibers are blocked.
#include "control/main.hpp"
#include "../sennit/with_runtime.hpp"
#include "actors/fiber_servants.hpp"
#include "fibers/beside.hpp"
#include "fibers/main.hpp"
#include "fibers/mpmc.hpp"
#include "fibers/scaling.hpp"
#include "main.hpp"

#include <sennit/channel.hpp>
#include <sennit/condition_variable.hpp>
#include <sennit/event.hpp>
#include <sennit/mutex.hpp>
#include <sennit/select.hpp>
#include <sennit/semaphore.hpp>

struct with_sennit_fibers : with_fibers {
    using with_fibers::with_fibers;
    with_sennit_fibers(unsigned threads, lab::many_blocked)
        : with_fibers({.workers = threads, .stack_size = 16 * 1024}) {}

    static void create_one() {
        start([] {}).join();
    }
    template <class D>
    static void sleep_for(D duration) {
        sennit::this_fiber::sleep_for(duration);
    }
    template <class D>
    static bool wait_for(sennit::event& gate, D duration) {
        return gate.wait_for(duration);
    }
    using mutex = sennit::mutex;
    using condition_variable = sennit::condition_variable;
    using event = sennit::event;
    struct semaphore : sennit::counting_semaphore<> {
        semaphore() : counting_semaphore(0) {}
    };

    template <class T>
    struct buffered : sennit::channel<T> {
        using sennit::channel<T>::channel;
        T pop() { return *sennit::channel<T>::pop(); } // no program closes the channel
    };
    template <class T>
    struct rendezvous : buffered<T> {
        rendezvous() : buffered<T>(0) {}
    };
    static constexpr bool selects = true;
    template <class T, class F>
    static void select(rendezvous<T>& a, rendezvous<T>& b, F f) {
        sennit::select(sennit::on_pop(a, f), sennit::on_pop(b, f));
    }
};

int main(int argc, char** argv) {
    return lab::program<lab::fibers<with_sennit_fibers>, lab::scaling<with_sennit_fibers>,
                        lab::many_producers<with_sennit_fibers>,
                        lab::beside_long_ones<with_sennit_fibers>, lab::control<with_sennit_fibers>,
                        lab::fiber_servants<with_sennit_fibers>, lab::elsewhere<lab::run_io>,
                        lab::elsewhere<lab::run_files>>(argc, argv);
}
