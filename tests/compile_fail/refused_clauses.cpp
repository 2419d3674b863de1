// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: on_pop calls the function with the value
// expect-error: sennit: on_pop calls the function for the end of the channel without arguments
// expect-error: sennit: on_pop takes a sennit::channel
// expect-error: sennit: on_push calls its functions without arguments
// expect-error: sennit: on_push takes a sennit::channel
// expect-error: sennit: on_lock takes a sennit::mutex or a sennit::timed_mutex
// expect-error: sennit: on_lock calls the function without arguments
// expect-error: sennit: on_acquire calls the function without arguments
// expect-error: sennit: on_set calls the function without arguments
// expect-error: sennit: on_ready calls the function with the future, or without arguments
// expect-error: sennit: on_ready takes a variable of type sennit::future
// expect-error: sennit: select takes cases such as on_pop
// expect-error: sennit: accept takes objects whose classes derive from sennit::monitor
// expect-error: sennit: accept takes from 1 to 8 monitors
// expect-error: sennit: waitfor takes clauses: accept
// Each refused clause of select, waituntil and waitfor says what it takes.
#include "sennit/channel.hpp"
#include "sennit/monitor.hpp"
#include "sennit/mutex.hpp"
#include "sennit/on_lock.hpp"
#include "sennit/on_ready.hpp"
#include "sennit/select.hpp"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

struct part : sennit::monitor {
    void call() { auto in = sennit::enter<&part::call>(*this); }
};
void many(part&, part&, part&, part&, part&, part&, part&, part&, part&);

void use(sennit::channel<long>& numbers, sennit::channel<std::string>& names, sennit::mutex& lock,
         sennit::timed_mutex& timed, sennit::counting_semaphore<5>& tokens, sennit::event& set,
         sennit::future<int>& one, sennit::shared_future<int>& shared,
         const sennit::shared_future<int>& constant, part& own) {
    const auto nothing = [] {};
    const auto number = [](long) {};
    auto mutable_function = [calls = 0]() mutable { ++calls; };
    sennit::select(sennit::on_pop(numbers, number),
                   sennit::on_pop(
                       names, [](auto&&) {}, nothing),
                   sennit::on_push(numbers, 1, nothing), sennit::on_push(names, "text", nothing),
                   sennit::on_push(names, {}, mutable_function, nothing));
    sennit::select(sennit::on_lock(lock, nothing), sennit::on_lock(timed, mutable_function),
                   sennit::on_acquire(tokens, nothing), sennit::on_set(set, nothing));
    sennit::select(sennit::on_ready(one, nothing), sennit::on_ready(one, [](auto&) {}),
                   sennit::on_ready(shared, nothing), sennit::on_ready(constant, [](auto&) {}));
    sennit::waitfor(sennit::accept<&part::call>(own), sennit::accept_destructor(own));
#ifdef SENNIT_EXPECT_ERROR
    std::vector<int> values;
    std::mutex plain;
    int object = 0;
    (void)sennit::on_pop(numbers, nothing);
    (void)sennit::on_pop(numbers, number, number);
    (void)sennit::on_pop(values, number);
    (void)sennit::on_push(numbers, 1, number);
    (void)sennit::on_push(values, 1, nothing);
    (void)sennit::on_lock(plain, nothing);
    (void)sennit::on_lock(lock, number);
    (void)sennit::on_acquire(tokens, number);
    (void)sennit::on_set(set, number);
    (void)sennit::on_ready(one, number);
    (void)sennit::on_ready(constant, number);
    (void)sennit::on_ready(std::move(one), nothing);
    (void)sennit::select(nothing);
    (void)sennit::accept<&part::call>(object);
    (void)sennit::accept<&many>(own, own, own, own, own, own, own, own, own);
    (void)sennit::waitfor(nothing);
#endif
}
