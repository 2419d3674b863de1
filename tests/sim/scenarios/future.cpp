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

// Whether the promise could still be set.
template <class T, class V>
bool set(sennit::promise<T>& promise, V&& value) {
    try {
        promise.set_value(std::forward<V>(value));
        return true;
    } catch (const sennit::future_error& error) {
        sim::check(error.code() == sennit::future_errc::promise_already_satisfied,
                   "nothing else is wrong");
        return false;
    }
}

struct fragile { // its copy may fail, but has begun then
    fragile() = default;
    fragile(const fragile& from) : value(from.value) {
        sennit::base::annotate_write(this);
        if (value < 0) throw std::runtime_error("copy");
    }
    int value = 0;
};

// What it points to is looked at when it dies.
struct ended {
    explicit ended(std::array<sim::var<int>, 2>* users) : by(users) {}
    ended(ended&& from) noexcept : by(std::exchange(from.by, nullptr)) {}
    ~ended() {
        if (by) (void)((*by)[0].get() + (*by)[1].get());
    }
    std::array<sim::var<int>, 2>* by;
};

} // namespace

SIM_SCENARIO_WITHIN(future, get_meets_set, .preemptions = 3, .stale_reads = 2) {
    sennit::promise<int> promise;
    sennit::future<int> future = promise.get_future();
    sim::var<int> data{0};
    sim::thread setter([&] {
        data = 1;
        promise.set_value(42);
    });
    sim::check(future.get() == 42 && data == 1, "the value, and what came before it, has arrived");
    setter.join();
}

// Whoever has got the value destroys the promise, in which set_value is under way.
SIM_SCENARIO_WITHIN(future, the_promise_dies_as_soon_as_it_is_kept, .preemptions = 3,
                    .stale_reads = 1) {
    auto promise = std::make_unique<sennit::promise<int>>();
    sennit::future<int> future = promise->get_future();
    sim::thread setter([&] { promise->set_value(42); });
    sim::check(future.get() == 42, "it has arrived");
    promise.reset();
    setter.join();
}

SIM_SCENARIO_WITHIN(future, two_set_at_once, .preemptions = 2, .stale_reads = 1) {
    sennit::promise<int> promise;
    sennit::future<int> future = promise.get_future();
    std::array<bool, 2> was_set{};
    sim::thread first([&] { was_set[0] = set(promise, 1); });
    sim::thread second([&] { was_set[1] = set(promise, 2); });
    const int got = future.get();
    first.join();
    second.join();
    sim::check(was_set[0] != was_set[1] && got == (was_set[0] ? 1 : 2),
               "one has set it, to its value");
}

// A value that cannot be copied sets nothing; the other may come meanwhile, or after it.
SIM_SCENARIO_WITHIN(future, a_copy_that_throws_sets_nothing, .preemptions = 3, .stale_reads = 1) {
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
    sim::check(thrown, "the bad one was not set");
    if (!was_set) sim::check(set(promise, std::as_const(good)), "nothing is set");
    sim::check(future.get().value == 1, "the good one has arrived");
}

SIM_SCENARIO_WITHIN(future, a_promise_is_broken_before_or_after_the_future_asks, .preemptions = 3,
                    .stale_reads = 2) {
    auto promise = std::make_unique<sennit::promise<int>>();
    std::optional<sennit::future<int>> future = promise->get_future();
    sim::thread breaker([&] { promise.reset(); });
    bool broken = false;
    try {
        (void)future->get();
    } catch (const sennit::future_error& error) {
        broken = error.code() == sennit::future_errc::broken_promise;
    }
    sim::check(broken, "it is told");
    future.reset();
    breaker.join();
}

// Both sides go away at once; the state dies once.
SIM_SCENARIO_WITHIN(future, both_ends_are_dropped_at_once, .preemptions = 3, .stale_reads = 2) {
    auto promise = std::make_unique<sennit::promise<std::unique_ptr<int>>>();
    std::optional<sennit::future<std::unique_ptr<int>>> future = promise->get_future();
    sim::thread setter([&] {
        promise->set_value(std::make_unique<int>(1));
        promise.reset();
    });
    future.reset();
    setter.join();
}

SIM_SCENARIO_WITHIN(future, a_timed_wait_meets_the_set, .preemptions = 3, .stale_reads = 1) {
    sennit::promise<int> promise;
    sennit::future<int> future = promise.get_future();
    const std::int64_t when = soon().time_since_epoch().count();
    sim::var<int> data{0};
    sim::thread setter([&] {
        sleep_until(time_point(std::chrono::nanoseconds(when)));
        data = 1;
        promise.set_value(42);
    });
    auto& state = sennit::detail::future_access::state(
        future); // its clock is the system's: wait_until would look at it
    if (state.wait(when, "timed") == sennit::sched::wake_reason::source)
        sim::check(data == 1, "it is seen");
    sim::check(future.get() == 42 && data == 1, "it comes all the same");
    setter.join();
}

SIM_SCENARIO_WITHIN(future, a_cancelled_get_leaves_it_as_it_was, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::promise<int> promise;
    sennit::future<int> future = promise.get_future();
    sennit::sched::cancel_scope scope(nullptr);
    int got = 0;
    sim::thread setter([&] { promise.set_value(42); });
    sim::thread canceller([&] { scope.cancel(); });
    if (!not_cancelled(scope, [&] { got = future.get(); })) got = future.get();
    sim::check(got == 42, "it comes all the same");
    setter.join();
    canceller.join();
}

SIM_SCENARIO_WITHIN(future, two_share_it, .preemptions = 2, .stale_reads = 1) {
    sennit::promise<int> promise;
    std::optional<sennit::shared_future<int>> shared = promise.get_future().share();
    sim::var<int> data{0};
    sim::thread other([&, copy = *shared]() mutable {
        sim::check(copy.get() == 42 && data == 1, "it has arrived");
        copy = {};
    });
    sim::thread setter([&] {
        data = 1;
        promise.set_value(42);
    });
    sim::check(shared->get() == 42 && data == 1, "it has arrived");
    shared.reset();
    other.join();
    setter.join();
}

// Whoever drops it last destroys the value, after all that the others have done with it.
SIM_SCENARIO_WITHIN(future, the_last_of_two_destroys_the_value, .preemptions = 3,
                    .stale_reads = 2) {
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

// The continuation starts at once, or when the value comes.
SIM_SCENARIO_WITHIN(future, then_meets_set, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::promise<int> promise;
    sim::thread setter([&] { promise.set_value(41); });
    one.run([&] {
        sennit::future<int> next =
            promise.get_future().then([](sennit::future<int> ready) { return ready.get() + 1; });
        sim::check(next.get() == 42, "it went on from there");
    });
    setter.join();
}

// It returns a future, which is set at that moment.
SIM_SCENARIO_WITHIN(future, then_of_a_future_meets_set, .preemptions = 2, .stale_reads = 0) {
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
        sim::check(next.get() == 42, "it is ready when the inner one is");
    });
    setter.join();
}
