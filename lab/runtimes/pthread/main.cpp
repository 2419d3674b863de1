// SPDX-License-Identifier: Apache-2.0
// pthread_create with the smallest stack that the system allows. Threads block on the primitives of
// std-thread.
#include "control/main.hpp"
#include "fibers/main.hpp"
#include "fibers/threads.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <memory>

struct with_pthreads : lab::threads_base {
    explicit with_pthreads(unsigned) {}

    class fiber {
    public:
        fiber() = default;
        explicit fiber(pthread_t thread) : thread_(thread) {}
        void join() { pthread_join(thread_, nullptr); }

    private:
        pthread_t thread_{};
    };

    static void create_one() {
        start([] {}).join();
    }

    struct small_stack {
        pthread_attr_t attributes;
        small_stack() {
            pthread_attr_init(&attributes);
            const long least = sysconf(_SC_THREAD_STACK_MIN);
            if (const int error =
                    pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(least)))
                refused(std::strerror(error));
        }
    };

    template <class F>
    static fiber start(F f) {
        static const small_stack small;
        auto body = std::make_unique<F>(std::move(f));
        pthread_t thread;
        const auto enter = [](void* given) -> void* {
            (*std::unique_ptr<F>(static_cast<F*>(given)))();
            return nullptr;
        };
        if (const int error = pthread_create(&thread, &small.attributes, enter, body.get()))
            refused(std::strerror(error));
        body.release(); // the thread owns the body
        return fiber(thread);
    }
};

int main(int argc, char** argv) {
    return lab::program<lab::fibers<with_pthreads>, lab::control<with_pthreads>>(argc, argv);
}
