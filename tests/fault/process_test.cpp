// SPDX-License-Identifier: Apache-2.0
// Child processes on a kernel without descriptors for processes: the waits look from time to time.
#include "faults.hpp"

#include <sennit/block_on.hpp>
#include <sennit/io.hpp>
#include <sennit/runtime.hpp>
#include <sennit/task.hpp>
#include <sennit/with_timeout.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace {

namespace io = sennit::io;
using namespace std::chrono_literals;

TEST(old_kernel, processes_are_waited_for_by_looks) {
    faults::refuse(faults::request::process, 1, faults::extent::all_from_there);
    sennit::runtime one({.workers = 1});
    one.run([] {
        EXPECT_EQ(io::run({"cat"}, {.input = "text"}).output, "text");
        EXPECT_EQ(io::run({"sh", "-c", "exit 3"}).status.code(), 3);
        io::child_process first({"sleep", "0.02"});
        EXPECT_TRUE(sennit::block_on(first.async_wait()).ok());
        io::child_process second({"sleep", "1000"});
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { (void)second.wait(); }), sennit::timed_out);
        second.kill();
        EXPECT_EQ(second.wait().signal(), 9);
    });
    EXPECT_GE(faults::stop(), 4);
}

} // namespace
