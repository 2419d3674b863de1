// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: as_sender takes tasks, futures and the results of
//
// expect-error: sennit: as_sender takes an rvalue
//
// expect-error: sennit: sync_wait takes a sender that sends values in at most one way
//
// expect-error: sennit: a task awaits tasks, futures
#define SENNIT_EXECUTION_HEADER "draft/execution.hpp"
#define SENNIT_EXECUTION_NAMESPACE draft::execution
#define SENNIT_EXECUTION_STD_NAMESPACE draft
#include <sennit/execution.hpp>
#include <sennit/task.hpp>

#include <utility>

namespace ex = draft::execution;

// Sends an int or nothing.
struct two_ways {
    using sender_concept = ex::sender_t;
    template <class, class...>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(), ex::set_value_t(int)>();
    }
};

sennit::task<int> one() {
    co_return 1;
}

void accepted() {
    sennit::task<int> object = one();
    (void)sennit::execution::as_sender(std::move(object));
    sennit::execution::sync_wait(ex::just(1));
}

#ifdef SENNIT_EXPECT_ERROR
void refused() {
    sennit::task<int> object = one();
    sennit::execution::as_sender(object);
    sennit::execution::as_sender(3);
    sennit::execution::sync_wait(two_ways());
}
sennit::task<> refused_await() {
    two_ways wanted;
    co_await std::move(wanted);
}
#endif
