// SPDX-License-Identifier: Apache-2.0
// sync_wait: results, errors, and that a waiting fiber leaves its worker.
#include "support.hpp"

#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

namespace {

class sync_waits : public with_workers {
protected:
    runtime_scheduler workers{runtime};
};
SENNIT_FOR_WORKERS(sync_waits);

TEST_P(sync_waits, values_arrive_as_an_optional_tuple_in_fibers_and_threads) {
    const auto look = [] {
        EXPECT_EQ(sync_wait(ex::just()), std::make_optional(std::tuple<>()));
        EXPECT_EQ(sync_wait(ex::just(1, 'b')), std::make_optional(std::tuple(1, 'b')));
        const auto kept = ex::just(2);
        EXPECT_EQ(sync_wait(kept), std::make_optional(std::tuple(2)));
        EXPECT_FALSE(sync_wait(ex::just_stopped()));
        EXPECT_THROW(sync_wait(ex::just_error(std::make_exception_ptr(std::logic_error("x")))),
                     std::logic_error);
    };
    look();
    runtime.run(look);
}

// With one worker, the second fiber runs only if the first one leaves the worker.
TEST_P(sync_waits, waiting_fiber_leaves_its_worker) {
    runtime.run([&] {
        gate open;
        sennit::fiber completes([&] {
            open.started.wait();
            EXPECT_EQ(open.scheduler, workers);
            open.complete(completion::value);
        });
        EXPECT_EQ(sync_wait(open.get()), std::make_optional(std::tuple(42)));
        completes.join();
    });
}

TEST_P(sync_waits, thread_waits_with_the_scheduler_of_the_default_runtime) {
    gate open;
    std::thread completes([&] {
        open.started.wait();
        EXPECT_EQ(open.scheduler, runtime_scheduler(sennit::default_runtime()));
        open.complete(completion::error);
    });
    EXPECT_THROW(sync_wait(open.get()), std::runtime_error);
    completes.join();
}

TEST_P(sync_waits, cancelled_fiber_requests_the_stop_and_throws_cancelled) {
    runtime.run([&] {
        gate open;
        bool was_cancelled = false;
        sennit::nursery family;
        family.start([&] {
            try {
                sync_wait(open.get());
            } catch (const sennit::cancelled&) {
                was_cancelled = true;
                throw;
            }
        });
        open.started.wait();
        family.cancel();
        open.stop_requested.wait();
        EXPECT_FALSE(was_cancelled);
        open.complete(completion::stopped);
        family.join();
        EXPECT_TRUE(was_cancelled);
    });
}

TEST_P(sync_waits, value_that_comes_in_spite_of_the_stop_is_returned) {
    runtime.run([&] {
        gate open;
        std::optional<std::tuple<int>> got;
        sennit::nursery family;
        family.start([&] { got = sync_wait(open.get()); });
        open.started.wait();
        family.cancel();
        open.stop_requested.wait();
        open.complete(completion::value);
        family.join();
        EXPECT_EQ(got, std::make_optional(std::tuple(42)));
    });
}

} // namespace
