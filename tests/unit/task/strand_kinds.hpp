// SPDX-License-Identifier: Apache-2.0
// The strands that meet at one object: a thread, a fiber and a task.
#pragma once

#include <sennit/async.hpp>
#include <sennit/future.hpp>
#include <sennit/task.hpp>

#include <functional>
#include <memory>
#include <thread>
#include <utility>

enum class strand_kind { thread, fiber, task };
constexpr strand_kind all_kinds[] = {strand_kind::thread, strand_kind::fiber, strand_kind::task};

// Runs the blocking form in a thread or a fiber, or the awaiting form in a task. Call `get` on the
// result.
template <class Blocking, class Awaiting>
std::function<void()> start_as(strand_kind kind, Blocking blocking, Awaiting awaiting) {
    if (kind == strand_kind::thread) {
        auto made = std::make_shared<std::thread>(blocking);
        return [made] { made->join(); };
    }
    auto made = std::make_shared<sennit::future<void>>(
        kind == strand_kind::fiber ? sennit::async(blocking) : sennit::spawn(awaiting));
    return [made] { made->get(); };
}
