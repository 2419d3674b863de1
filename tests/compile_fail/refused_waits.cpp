// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: a condition variable's wait calls the predicate without arguments
// expect-error: sennit: a condition variable waits with a lock that has lock\(\) and unlock\(\)
// expect-error: sennit: the function of `after` and `at` takes no arguments
// expect-error: sennit: the function of `on_stop` takes no arguments
// expect-error: sennit: the function of `otherwise` takes no arguments
// expect-error: sennit: select takes from 1 to 64 cases
// expect-error: sennit: waituntil takes clauses such as on_pop, on_lock or after
// expect-error: sennit: enter takes objects whose classes derive from sennit::monitor
// expect-error: sennit: enter takes from 1 to 8 monitors
// expect-error: sennit: monitored::with calls the function with the object
// Each refused wait says what it needs.
#include "sennit/condition_variable.hpp"
#include "sennit/monitor.hpp"
#include "sennit/monitored.hpp"
#include "sennit/mutex.hpp"
#include "sennit/select.hpp"
#include "sennit/waituntil.hpp"

#include <chrono>
#include <mutex>
#include <stop_token>

struct part : sennit::monitor {};
void both(part& a, part& b) {
    const auto in = sennit::enter<&both>(a, b);
}

void use(sennit::condition_variable_any& changed, std::unique_lock<sennit::mutex>& lock, part& one,
         sennit::monitored<int>& guarded, std::stop_token stop) {
    using namespace std::chrono_literals;
    const auto nothing = [] {};
    const auto done = [] { return true; };
    changed.wait(lock, done);
    (void)changed.wait_for(lock, 1s, done);
    sennit::select(sennit::after(1s, nothing), sennit::on_stop(stop, nothing),
                   sennit::otherwise(nothing));
    (void)sennit::waituntil(sennit::after(1s, nothing));
    const auto in = sennit::enter(one, one);
    guarded.with([](int& value) { ++value; });
#ifdef SENNIT_EXPECT_ERROR
    int number = 0;
    const auto takes_one = [](int) {};
    changed.wait(lock, takes_one);
    changed.wait(number);
    (void)sennit::after(1s, takes_one);
    (void)sennit::on_stop(stop, takes_one);
    (void)sennit::otherwise(takes_one);
    sennit::select();
    (void)sennit::waituntil(number);
    (void)sennit::enter(number);
    (void)sennit::enter(one, one, one, one, one, one, one, one, one);
    guarded.with(nothing);
#endif
}
