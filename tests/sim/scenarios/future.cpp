// SPDX-License-Identifier: Apache-2.0
// promise, future, shared_future: sennit/promise.hpp, sennit/future.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/detail/base/race_annotations.hpp"
#include "sennit/future.hpp"
#include "sennit/promise.hpp"

#include <memory>
#include <optional>
#include <stdexcept>

namespace {

// True if the promise could still be set.
template <class T, class V>
bool set(sennit::promise<T>& promise, V&& value) {
    try {
        promise.set_value(std::forward<V>(value));
        return true;
    } catch (const sennit::future_error& error) {
        sim::check(error.code() == sennit::future_errc::promise_already_satisfied,
                   "there is no other error");
        return false;
    }
}

// Its copy constructor may throw after it has begun.
struct fragile {
    fragile() = default;
    fragile(const fragile& from) : value(from.value) {
        sennit::base::annotate_write(this);
        if (value < 0) throw std::runtime_error("copy");
    }
    int value = 0;
};

// Its destructor reads the object that it points to.
struct ended {
    explicit ended(std::array<sim::var<int>, 2>* users) : by(users) {}
    ended(ended&& from) noexcept : by(std::exchange(from.by, nullptr)) {}
    ~ended() {
        if (by) (void)((*by)[0].get() + (*by)[1].get());
    }
    std::array<sim::var<int>, 2>* by;
};

} // namespace

SIM_SCENARIO_WITHIN(future, get_races_set, .preemptions = 3, .stale_reads = 2) {
    sennit::promise<int> promise;
    sennit::future<int> future = promise.get_future();
    sim::var<int> data{0};
    sim::thread setter([&] {
        data = 1;
        promise.set_value(42);
    });
    sim::check(future.get() == 42 && data == 1,
               "the value has arrived, and the writes before it are visible");
    setter.join();
}

// The thread that has received the value destroys the promise, while set_value is still running.
SIM_SCENARIO_WITHIN(future, promise_is_destroyed_while_set_value_returns, .preemptions = 3,
                    .stale_reads = 1) {
    auto promise = std::make_unique<sennit::promise<int>>();
    sennit::future<int> future = promise->get_future();
    sim::thread setter([&] { promise->set_value(42); });
    sim::check(future.get() == 42, "the value has arrived");
    promise.reset();
    setter.join();
}

SIM_SCENARIO_WITHIN(future, two_threads_set_concurrently, .preemptions = 2, .stale_reads = 1) {
    sennit::promise<int> promise;
    sennit::future<int> future = promise.get_future();
    std::array<bool, 2> was_set{};
    sim::thread first([&] { was_set[0] = set(promise, 1); });
    sim::thread second([&] { was_set[1] = set(promise, 2); });
    const int got = future.get();
    first.join();
    second.join();
    sim::check(was_set[0] != was_set[1] && got == (was_set[0] ? 1 : 2),
               "one thread has set the promise, to its value");
}

// A value whose copy throws sets nothing. The other thread sets the promise meanwhile, or
// afterwards.
SIM_SCENARIO_WITHIN(future, throwing_copy_sets_nothing, .preemptions = 3, .stale_reads = 1) {
    sennit::promise<fragile> promise;
    sennit::future<fragile> future = promise.get_future();
    sim::var<int> data{0};
    fragile bad, good;
    bad.value = -1;
    good.value = 1;
    bool thrown = false, was_set = false;
    sim::thread thrower([&] {
        try {
            thrown = !set(promise, std::as_const(bad));
        } catch (const std::runtime_error&) {
            thrown = true;
        }
    });
    was_set = set(promise, std::as_const(good));
    thrower.join();
    sim::check(thrown, "the value whose copy throws was not set");
    if (!was_set) sim::check(set(promise, std::as_const(good)), "the promise is not set");
    sim::check(future.get().value == 1, "the good value has arrived");
}

SIM_SCENARIO_WITHIN(future, broken_promise_races_get, .preemptions = 3, .stale_reads = 2) {
    auto promise = std::make_unique<sennit::promise<int>>();
    std::optional<sennit::future<int>> future = promise->get_future();
    sim::thread breaker([&] { promise.reset(); });
    bool broken = false;
    try {
        (void)future->get();
    } catch (const sennit::future_error& error) {
        broken = error.code() == sennit::future_errc::broken_promise;
    }
    sim::check(broken, "get reports the broken promise");
    future.reset();
    breaker.join();
}

// Both sides go away concurrently; the state is destroyed once.
SIM_SCENARIO_WITHIN(future, both_ends_are_dropped_concurrently, .preemptions = 3,
                    .stale_reads = 2) {
    auto promise = std::make_unique<sennit::promise<std::unique_ptr<int>>>();
    std::optional<sennit::future<std::unique_ptr<int>>> future = promise->get_future();
    sim::thread setter([&] {
        promise->set_value(std::make_unique<int>(1));
        promise.reset();
    });
    future.reset();
    setter.join();
}

SIM_SCENARIO_WITHIN(future, timed_wait_races_set, .preemptions = 3, .stale_reads = 1) {
    sennit::promise<int> promise;
    sennit::future<int> future = promise.get_future();
    const std::int64_t when = soon().time_since_epoch().count();
    sim::var<int> data{0};
    sim::thread setter([&] {
        sleep_until(time_point(std::chrono::nanoseconds(when)));
        data = 1;
        promise.set_value(42);
    });
    // The future's clock is the system's, and wait_until would read it.
    auto& state = sennit::detail::future_access::state(future);
    if (state.wait(when, "timed") == sennit::sched::wake_reason::source)
        sim::check(data == 1, "the write before the set is visible");
    sim::check(future.get() == 42 && data == 1, "the value still arrives");
    setter.join();
}

SIM_SCENARIO_WITHIN(future, cancelled_get_leaves_future_unchanged, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::promise<int> promise;
    sennit::future<int> future = promise.get_future();
    sennit::sched::cancel_scope scope(nullptr);
    int got = 0;
    sim::thread setter([&] { promise.set_value(42); });
    sim::thread canceller([&] { scope.cancel(); });
    if (!not_cancelled(scope, [&] { got = future.get(); })) got = future.get();
    sim::check(got == 42, "the value still arrives");
    setter.join();
    canceller.join();
}

SIM_SCENARIO_WITHIN(future, two_threads_share_future, .preemptions = 2, .stale_reads = 1) {
    sennit::promise<int> promise;
    std::optional<sennit::shared_future<int>> shared = promise.get_future().share();
    sim::var<int> data{0};
    sim::thread other([&, copy = *shared]() mutable {
        sim::check(copy.get() == 42 && data == 1, "the value has arrived");
        copy = {};
    });
    sim::thread setter([&] {
        data = 1;
        promise.set_value(42);
    });
    sim::check(shared->get() == 42 && data == 1, "the value has arrived");
    shared.reset();
    other.join();
    setter.join();
}

// The last owner destroys the value, after all accesses of the other owners.
SIM_SCENARIO_WITHIN(future, last_owner_destroys_value, .preemptions = 3, .stale_reads = 2) {
    std::array<sim::var<int>, 2> uses;
    std::optional<sennit::shared_future<ended>> shared =
        sennit::make_ready_future(ended(&uses)).share();
    sim::thread other([&, copy = *shared]() mutable {
        (*copy.get().by)[1] = 1;
        copy = {};
    });
    (*shared->get().by)[0] = 1;
    shared.reset();
    other.join();
}

// ---- on workers

// The continuation starts immediately, or when the value arrives.
SIM_SCENARIO_WITHIN(future, then_races_set, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::promise<int> promise;
    sim::thread setter([&] { promise.set_value(41); });
    one.run([&] {
        sennit::future<int> next =
            promise.get_future().then([](sennit::future<int> ready) { return ready.get() + 1; });
        sim::check(next.get() == 42, "the continuation received the value");
    });
    setter.join();
}

// The continuation returns a future, which is set at that moment.
SIM_SCENARIO_WITHIN(future, then_of_inner_future_races_set, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    sennit::promise<int> first, second;
    sennit::future<int> inner = second.get_future();
    sim::thread setter([&] {
        first.set_value(1);
        second.set_value(42);
    });
    one.run([&] {
        sennit::future<int> next =
            first.get_future().then([&](sennit::future<int>) { return std::move(inner); });
        sim::check(next.get() == 42, "the outer future is ready when the inner one is");
    });
    setter.join();
}
