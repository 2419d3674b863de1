// SPDX-License-Identifier: Apache-2.0
// A program over the installed component execution, with a named implementation, and with Sennit
// behind its parallel scheduler. Fails if they do not work.
#include <sennit/execution.hpp>
#include <sennit/sennit.hpp>

#include <tuple>

namespace ex = sennit::execution::ex;

int main() {
    bool on_worker = false;
    auto sum = ex::schedule(ex::get_parallel_scheduler()) | ex::then([&] {
                   on_worker = sennit::sched::on_worker();
                   return 40;
               });
    const auto [forty] = sennit::execution::sync_wait(std::move(sum)).value();
    const sennit::execution::runtime_scheduler workers;
    auto two = ex::schedule(workers) | ex::then([] { return 2; });
    const auto [rest] = sennit::execution::sync_wait(std::move(two)).value();
    return on_worker && forty + rest == 42 ? 0 : 1;
}
