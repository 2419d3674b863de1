// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: nursery::try_start calls the function without arguments
// expect-error: sennit: for_each_concurrent takes a range, a limit, and a function
// expect-error: sennit: map_concurrent takes a range, a limit, and a function
// expect-error: sennit: as_completed takes a range, a limit, and a function
// expect-error: sennit: race takes two or more functions, or a container of functions
// expect-error: sennit: retry calls the function without arguments
// expect-error: sennit: single_flight::get calls the function without arguments
// expect-error: sennit: watch::observer::wait calls the predicate with the value
// expect-error: sennit: watch::update calls the function with the value
// expect-error: sennit: lease_pool takes a function that returns an object of the pool
// Each refused call says what it needs.
#include "sennit/as_completed.hpp"
#include "sennit/lease_pool.hpp"
#include "sennit/map_concurrent.hpp"
#include "sennit/nursery.hpp"
#include "sennit/race.hpp"
#include "sennit/retry.hpp"
#include "sennit/single_flight.hpp"
#include "sennit/watch.hpp"

#include <string>
#include <vector>

void use(sennit::nursery& jobs, std::vector<int>& numbers, sennit::single_flight<int, int>& calls,
         sennit::watch<int>& level, sennit::watch<int>::observer& follower) {
    const auto nothing = [] {};
    const auto number = [] { return 1; };
    const auto takes_one = [](int n) { return n; };
    (void)jobs.try_start(nothing);
    sennit::for_each_concurrent(numbers, 1, takes_one);
    (void)sennit::map_concurrent(numbers, 1, takes_one);
    auto results = sennit::as_completed(numbers, 1, takes_one);
    (void)sennit::race(number, number);
    (void)sennit::retry({}, number);
    (void)calls.get(1, number);
    (void)follower.wait([](int n) { return n > 1; });
    level.update(takes_one);
    sennit::lease_pool<int> pool(number);
#ifdef SENNIT_EXPECT_ERROR
    (void)jobs.try_start(takes_one);
    sennit::for_each_concurrent(numbers, 1, [](std::string&) {});
    (void)sennit::map_concurrent(numbers, 1, [](int) {});
    (void)sennit::as_completed(numbers, 1, [](int) {});
    (void)sennit::race(number);
    (void)sennit::retry(sennit::retry_policy(), takes_one);
    (void)calls.get(1, takes_one);
    (void)follower.wait(nothing);
    level.update(number);
    sennit::lease_pool<int> other(takes_one);
#endif
}
