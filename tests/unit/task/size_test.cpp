// SPDX-License-Identifier: Apache-2.0
// The memory of suspended tasks. docs/internals/decisions/0081 has the list of its parts: a part
// that grows takes its place from another one, or needs a new figure in the docs.
#include "support.hpp"

#include "sennit/detail/base/sanitizers.hpp"
#include "sennit/detail/core/task_strand.hpp"

#include <sennit/event.hpp>
#include <sennit/nursery.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

using sennit::future;
using sennit::spawn;
using sennit::task;
using sennit::detail::nothing_kept;
using sennit::detail::nursery_task;
using sennit::detail::spawned_task;

#ifndef SENNIT_SIMULATED_ATOMICS
struct one_capture {
    void* captured;
    task<> operator()() const { co_return; }
};
static_assert(sizeof(sennit::sched::task_strand) <= 192);
static_assert(sizeof(spawned_task<void, nothing_kept>) <= 248);
static_assert(sizeof(spawned_task<int, nothing_kept>) <= 264);
static_assert(sizeof(spawned_task<void, std::optional<one_capture>>) <= 264);
static_assert(sizeof(nursery_task<one_capture>) <= 280);
static_assert(sizeof(sennit::sched::wait_point) <= 24);
static_assert(sizeof(sennit::sched::wait_entry) <= 32);
// g++ 12 keeps it twice in each frame.
static_assert(sizeof(std::declval<sennit::event&>().async_wait()) <= 8);
#endif

// The identity of a strand is its address, whose four last bits locks use.
TEST(task_size, identity_of_a_task_is_a_multiple_of_16) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        const auto low_bits = []() -> task<std::uintptr_t> {
            co_await sennit::async_yield();
            co_return reinterpret_cast<std::uintptr_t>(sennit::sched::current_identity()) % 16;
        };
        EXPECT_EQ(spawn(low_bits).get(), 0u);
        EXPECT_EQ(sennit::block_on(low_bits()), 0u);
        EXPECT_EQ(sennit::block_on([&]() -> task<std::uintptr_t> {
                      auto both = co_await sennit::async_all(low_bits(), low_bits());
                      co_return std::get<0>(both) + std::get<1>(both);
                  }()),
                  0u);
        sennit::nursery family;
        family.start([&]() -> task<> { EXPECT_EQ(co_await low_bits(), 0u); });
        family.join();
    });
}

#if defined(__GLIBC__) && defined(__OPTIMIZE__) && !defined(SENNIT_ADDRESS_SANITIZER) &&           \
    !defined(SENNIT_THREAD_SANITIZER)

task<> pass(sennit::event& gate) {
    co_await gate.async_wait();
}

std::size_t bytes_in_use() {
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
}

// Counts what malloc has given, with its own headers.
TEST(task_size, spawned_task_that_waits_takes_at_most_384_bytes) {
    constexpr std::size_t many = 20'000;
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        sennit::event gate;
        std::vector<future<void>> all(2 * many);
        const auto fill = [&](std::size_t from) {
            for (std::size_t i = from; i < from + many; ++i) all[i] = spawn(pass, std::ref(gate));
            // The new tasks begin before this fiber continues.
            sennit::this_fiber::yield();
        };
        fill(0); // Takes the blocks that earlier tests have left in the lists of sizes.
        const std::size_t before = bytes_in_use();
        fill(many);
        EXPECT_LE(bytes_in_use() - before, 384 * many);
        gate.set();
        for (future<void>& one : all) one.get();
    });
}

#endif

} // namespace
