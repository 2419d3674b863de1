// SPDX-License-Identifier: Apache-2.0
// The behaviour of the platform layer when the system refuses a request.
#include "faults.hpp"

#include "child_process.hpp"
#include "core/policy/tuning.hpp"
#include "core/queues/biased_lock.hpp"
#include "sys/machine.hpp"
#include "sys/stack.hpp"
#include "sys/stack_overflow.hpp"
#include "sys/thread.hpp"
#include "sys/topology.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <cstdlib>
#include <new>
#include <system_error>
#include <vector>

namespace {

using faults::extent, faults::request;
using sennit::sys::guard_kind, sennit::sys::stack, sennit::sys::stack_source;

void nothing(void*) noexcept {}

TEST(refused_thread, is_a_system_error_and_leaves_nothing) {
    sennit::sys::thread(&nothing, nullptr).join();
    const faults::account before = faults::balance();
    faults::refuse(request::thread_creation, 1, extent::one);
    try {
        sennit::sys::thread one(&nothing, nullptr);
        ADD_FAILURE() << "nothing was thrown";
        one.join();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::resource_unavailable_try_again);
        EXPECT_EQ(
            std::string(error.what()).rfind("sennit: [SNT-019] cannot create a worker thread", 0),
            0u)
            << error.what();
    }
    EXPECT_EQ(faults::stop(), 1);
    faults::refuse(request::allocation, 1, extent::one);
    EXPECT_THROW(sennit::sys::thread(&nothing, nullptr), std::bad_alloc);
    EXPECT_EQ(faults::stop(), 1);
    EXPECT_EQ(faults::balance(), before);
}

// The handler is registered once in a process. A refusal must not be remembered for ever.
TEST(refused_fork_handler_death_test, is_asked_for_again) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            faults::refuse(request::fork_handler, 1, extent::one);
            bool thrown = false;
            try {
                sennit::sys::install_atfork_handlers();
            } catch (const std::bad_alloc&) {
                thrown = true;
            }
            const long refused = faults::stop();
            sennit::sys::install_atfork_handlers();
            const int generation =
                status_of_child([] { return static_cast<int>(sennit::sys::fork_generation()); });
            std::_Exit(thrown && refused == 1 && generation == 1 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST(refused_memory, loses_no_stack) {
    stack_source source(16 << 10);
    for (const request what : {request::mapping, request::allocation})
        for (int round = 0; round < 6;
             ++round) { // each round can take twice as many stacks as the round before
            std::vector<stack> held;
            held.reserve(100'000); // the test itself allocates nothing meanwhile
            const std::size_t cached = source.cached();
            faults::refuse(what, 1, extent::all_from_there);
            bool thrown = false;
            try {
                for (;;) held.push_back(source.take());
            } catch (const std::bad_alloc&) {
                thrown = true;
            }
            EXPECT_GT(faults::stop(), 0);
            EXPECT_TRUE(thrown);
            EXPECT_GE(held.size(), cached) << "stacks that are there need no memory";
            EXPECT_EQ(source.live(), held.size());
            held.push_back(source.take()); // `take` works again
            for (const stack& one : held) source.give(one);
            EXPECT_EQ(source.live(), 0u);
            EXPECT_GE(source.cached(), held.size());
        }
}

TEST(refused_memory, is_asked_for_in_smaller_pieces) {
    stack_source source(16 << 10);
    const faults::account before = faults::balance();
    faults::refuse(request::mapping, 1, extent::one);
    const stack one = source.take();
    EXPECT_EQ(faults::stop(), 1);
    EXPECT_EQ(faults::balance().mappings, before.mappings + 1);
    std::vector<stack> more;
    for (int i = 0; i < 300; ++i) more.push_back(source.take());
    for (const stack& each : more) each.low[0] = each.high[-1] = std::byte{1};
    one.low[0] = one.high[-1] = std::byte{1};
    for (const stack& each : more) source.give(each);
    source.give(one);
}

TEST(refused_memory, while_giving_back_is_never_needed) {
    stack_source source(16 << 10);
    std::vector<stack> held;
    for (int i = 0; i < 500; ++i) held.push_back(source.take());
    faults::refuse(request::allocation, 1, extent::all_from_there);
    for (const stack& one : held) source.give(one);
    source.trim();
    EXPECT_EQ(faults::stop(), 0);
    EXPECT_EQ(source.cached(), 500u);
}

TEST(refused_memory, for_a_signal_stack_is_bad_alloc) {
    EXPECT_EQ(status_of_child([] {
                  stack_t none{};
                  none.ss_flags = SS_DISABLE; // sanitized programs have a signal stack
                  ::sigaltstack(&none, nullptr);
                  const faults::account before = faults::balance();
                  faults::refuse(request::mapping, 1, extent::one);
                  try {
                      const sennit::sys::signal_stack mine;
                      return 1;
                  } catch (const std::bad_alloc&) {
                  }
                  if (faults::stop() != 1) return 2;
                  {
                      const sennit::sys::signal_stack mine;
                  }
                  return faults::balance() == before ? 0 : 3;
              }),
              0);
}

TEST(refused_memory, while_the_processors_are_counted_leaks_nothing) {
    const auto count = sennit::sys::usable_cpus();
    long n = 0;
    for (long refused = 1; refused > 0;) {
        const faults::account before = faults::balance();
        faults::refuse(request::allocation, ++n, extent::one);
        try {
            EXPECT_EQ(sennit::sys::usable_cpus(), count);
        } catch (const std::bad_alloc&) {
        }
        refused = faults::stop();
        EXPECT_EQ(faults::balance(), before) << n;
    }
    EXPECT_GT(n, 1);
}

TEST(refused_memory, while_the_machine_is_described_leaks_nothing) {
    const std::vector<unsigned> cpus = sennit::sys::affinity_cpus();
    const auto machine = sennit::sys::describe_processors(cpus);
    long n = 0;
    for (long refused = 1; refused > 0;) {
        const faults::account before = faults::balance();
        faults::refuse(request::allocation, ++n, extent::one);
        try {
            EXPECT_EQ(sennit::sys::describe_processors(cpus), machine);
        } catch (const std::bad_alloc&) {
        }
        refused = faults::stop();
        EXPECT_EQ(faults::balance(), before) << n;
    }
    EXPECT_GT(n, 1);
}

// A kernel that does not know MADV_GUARD_INSTALL, or removes guards later (in a process that locks
// its memory).
TEST(refused_guard, is_replaced_by_a_guard_that_costs_a_mapping) {
    const auto touch_below = [](bool refused_from_the_start) {
        if (refused_from_the_start) faults::refuse(request::advice, 1, extent::all_from_there);
        stack_source source(16 << 10);
        if (!refused_from_the_start) faults::refuse(request::advice, 1, extent::all_from_there);
        const stack one = source.take();
        if (source.unguarded() == 0 && faults::stop() > 0) one.low[-1] = std::byte{1};
        source.give(one);
    };
    EXPECT_DEATH(touch_below(true), "");
    EXPECT_DEATH(touch_below(false), "");
    faults::refuse(request::advice, 1, extent::all_from_there);
    EXPECT_EQ(stack_source(16 << 10).guards(), guard_kind::mprotect);
    faults::stop();
}

TEST(refused_guard, of_both_kinds_is_counted_and_the_stack_works_without) {
    ::setenv("SENNIT_NO_MADV_GUARD", "1", 1);
    {
        stack_source source(16 << 10);
        faults::refuse(request::protection, 2, extent::one);
        const stack a = source.take(), b = source.take(), c = source.take();
        EXPECT_EQ(faults::stop(), 1);
        EXPECT_EQ(source.unguarded(), 1u);
        b.low[0] = b.high[-1] = std::byte{1};
        for (const stack& one : {a, b, c}) source.give(one);
    }
    ::unsetenv("SENNIT_NO_MADV_GUARD");
}

// A thief that comes while the lock is contended makes no barrier, so no barrier can be refused.
TEST(refused_barrier, keeps_thieves_out_of_a_biased_lock_unless_it_is_contended) {
    sennit::sched::biased_lock lock;
    if (lock.always_contended()) GTEST_SKIP() << "the system has no membarrier";
    const auto claim = [&] {
        const auto answer = lock.try_lock_remote();
        if (answer) lock.unlock_remote();
        return answer;
    };
    ASSERT_TRUE(claim());
    faults::refuse(request::barrier, 1, extent::all_from_there);
    EXPECT_TRUE(claim());
    EXPECT_EQ(faults::so_far(), 0);
    for (unsigned i = 0; i <= sennit::sched::tuning::contended_sections; ++i)
        sennit::sched::owner_guard inside(lock);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(claim().refused);
        sennit::sched::owner_guard inside(lock); // the owner still enters
    }
    EXPECT_GE(faults::stop(), 2);
    EXPECT_TRUE(claim());
}

} // namespace
