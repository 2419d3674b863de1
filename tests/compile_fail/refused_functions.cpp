// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: nursery::start calls the function without arguments
// expect-error: sennit: async calls the function with copies of the arguments
// expect-error: sennit: spawn calls the function with copies of the arguments
// expect-error: sennit: future::then calls the function with the future
// expect-error: sennit: shared_future::then calls the function with a copy of the future
// expect-error: sennit: runtime::run calls the function without arguments
// expect-error: sennit: blocking calls the function without arguments
// expect-error: sennit: with_timeout takes a std::chrono::duration and a function
// expect-error: sennit: with_deadline takes a std::chrono::time_point and a function
// expect-error: sennit: call_once calls the function with the arguments
// expect-error: sennit: when_all takes futures, and a sennit::future only by std::move
// expect-error: sennit: when_any takes futures, and a sennit::future only by std::move
// expect-error: sennit: wait_all takes futures
// expect-error: sennit: a coroutine's body is called with a sennit::suspender<In, Out>&
// expect-error: sennit: a stackful_generator's function is called with a sennit::yielder<T>&
// Each refused call says what the library calls the function with.
#include "sennit/async.hpp"
#include "sennit/blocking.hpp"
#include "sennit/coroutine.hpp"
#include "sennit/future.hpp"
#include "sennit/nursery.hpp"
#include "sennit/once.hpp"
#include "sennit/runtime.hpp"
#include "sennit/stackful_generator.hpp"
#include "sennit/when.hpp"
#include "sennit/with_timeout.hpp"

#include <chrono>
#include <stop_token>
#include <vector>

void use(sennit::runtime& here, sennit::nursery& family, sennit::future<int>& one,
         sennit::shared_future<int>& shared, sennit::once_flag& flag) {
    using namespace std::chrono_literals;
    const auto nothing = [] {};
    family.start(nothing);
    family.start({.name = "child"}, [](std::stop_token) {});
    (void)sennit::async(nothing);
    (void)sennit::async(sennit::launch::enqueue, [](int) {}, 1);
    (void)sennit::spawn([](int) {}, 1);
    (void)shared.then([](const sennit::shared_future<int>&) {});
    (void)one.then([](sennit::future<int>) {});
    here.run(nothing);
    sennit::blocking(nothing);
    sennit::with_timeout(1s, nothing);
    sennit::with_deadline(std::chrono::steady_clock::now() + 1s, nothing);
    sennit::call_once(flag, [](int) {}, 1);
    std::vector<sennit::future<int>> several;
    sennit::wait_all(one, shared);
    sennit::wait_all(several);
    (void)sennit::when_all(std::move(one), shared);
    (void)sennit::when_any(std::move(several));
    (void)sennit::when_all(several.begin(), several.end());
    const sennit::coroutine<int, int> twice(
        [](sennit::suspender<int, int>&, int value) { return 2 * value; });
    const sennit::stackful_generator<int> numbers([](sennit::yielder<int>&) {});
#ifdef SENNIT_EXPECT_ERROR
    const auto number = [](int) {};
    family.start(number);
    (void)sennit::async(number, "text");
    (void)sennit::spawn(number);
    (void)one.then(nothing);
    (void)shared.then(nothing);
    (void)here.run(number);
    (void)sennit::blocking(number);
    (void)sennit::with_timeout(1s, number);
    (void)sennit::with_deadline(1s, nothing);
    sennit::call_once(flag, number);
    (void)sennit::when_all(one);
    (void)sennit::when_any(1);
    sennit::wait_all(1);
    const sennit::coroutine<> walk(nothing);
    const sennit::stackful_generator<int> none(nothing);
#endif
}
