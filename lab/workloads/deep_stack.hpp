// SPDX-License-Identifier: Apache-2.0
// Calls a function on a thread with a large stack.
#pragma once

#include "program.hpp"

#include <pthread.h>

#include <stdexcept>

namespace lab {

// Returns when the function has returned. The system gives memory only to the touched pages.
template <class F>
void call_on_stack(std::size_t size, F f) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    int refused = pthread_attr_setstacksize(&attributes, size);
    if (refused == 0)
        refused = pthread_create(
            &thread, &attributes,
            [](void* function) -> void* {
                (*static_cast<F*>(function))();
                return nullptr;
            },
            &f);
    pthread_attr_destroy(&attributes);
    if (refused != 0) throw std::runtime_error("the system refuses a thread with a large stack");
    pthread_join(thread, nullptr);
}

} // namespace lab
