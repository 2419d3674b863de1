// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: packaged_task<R\(Arguments...\)> calls the function with these arguments
// expect-error: sennit: change_properties<P> needs a class P that derives from
// expect-error: sennit: change_properties<P> calls the function with a P&
// expect-error: sennit: checkpointed takes a range
// Each refused task, change of properties and range says what the library needs.
#include "sennit/checkpoints.hpp"
#include "sennit/fiber.hpp"
#include "sennit/packaged_task.hpp"
#include "sennit/scheduling.hpp"
#include "sennit/this_fiber.hpp"

#include <chrono>
#include <functional>
#include <vector>

struct due : sennit::fiber_properties {};

void use(sennit::fiber& worker, std::vector<int>& several) {
    using namespace std::chrono_literals;
    const auto nothing = [] {};
    const auto number = [](int) {};
    const auto change = [](due&) {};
    const sennit::packaged_task<void(int)> ignores_result([](long value) { return value; });
    const sennit::packaged_task<long(int)> converts(std::negate<int>{});
    worker.change_properties<due>(change);
    sennit::this_fiber::change_properties<due>(change);
    for (int& each : sennit::checkpointed(several, 1ms)) ++each;
    for (const int each : sennit::checkpointed(std::vector<int>{1, 2})) number(each);
#ifdef SENNIT_EXPECT_ERROR
    const sennit::packaged_task<int(int)> square(nothing);
    worker.change_properties<int>(number);
    sennit::this_fiber::change_properties<due>(number);
    (void)sennit::checkpointed(1);
#else
    nothing();
#endif
}
