// SPDX-License-Identifier: Apache-2.0
// For tests that count resources: the main thread gets a signal stack when it first takes the place
// of a worker (src/core/worker/guest_thread.cpp). The process makes that stack once.
#pragma once

#include <sennit/runtime.hpp>

#include <thread>

inline void take_place_of_worker() {
    sennit::runtime runtime({.workers = 1});
    const std::thread::id mine = std::this_thread::get_id();
    while (runtime.run([] { return std::this_thread::get_id(); }) != mine)
        std::this_thread::yield();
}
