// SPDX-License-Identifier: Apache-2.0
// The backend of parallel_scheduler: schedulers of the implementation run on Sennit's workers.
#include "support.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <span>
#include <tuple>
#include <utility>

namespace {

TEST(parallel_scheduler, schedules_on_the_default_runtime) {
    const auto everywhere = ex::get_parallel_scheduler();
    EXPECT_EQ(everywhere, ex::get_parallel_scheduler());
    record<> seen;
    auto operation = ex::connect(ex::schedule(everywhere), record_in(seen));
    ex::start(operation);
    seen.done.wait();
    EXPECT_EQ(seen.ended, completion::value);
    EXPECT_EQ(seen.completed_on, &sennit::default_runtime().core());
}

TEST(parallel_scheduler, stop_request_ends_in_set_stopped) {
    ex_std::inplace_stop_source stop;
    stop.request_stop();
    record<> seen;
    auto operation = ex::connect(ex::schedule(ex::get_parallel_scheduler()), record_in(seen, stop));
    ex::start(operation);
    seen.done.wait();
    EXPECT_EQ(seen.ended, completion::stopped);
}

TEST(parallel_scheduler, function_may_block) {
    sennit::event other_ran;
    const auto everywhere = ex::get_parallel_scheduler();
    sennit::fiber other(
        [&] { sync_wait(ex::schedule(everywhere) | ex::then([&] { other_ran.set(); })); });
    sync_wait(ex::schedule(everywhere) | ex::then([&] { other_ran.wait(); }));
    other.join();
}

#ifdef SENNIT_EXECUTION_HEADER

// The proxies of the archetype, as a front end of the implementation makes them.
namespace replacement = SENNIT_EXECUTION_REPLACEMENT_NAMESPACE;

template <class Base>
struct test_proxy : Base {
    record<> seen;
    ex_std::inplace_stop_token token;
    void set_value() noexcept override { seen.complete(completion::value); }
    void set_error(std::exception_ptr error) noexcept override {
        seen.error = std::move(error);
        seen.complete(completion::error);
    }
    void set_stopped() noexcept override { seen.complete(completion::stopped); }
    bool query_env(const void* query, const void*, void* answer) noexcept override {
        if (query != &ex::type_number<ex_std::get_stop_token_t>) return false;
        static_cast<std::optional<ex_std::inplace_stop_token>*>(answer)->emplace(token);
        return true;
    }
};
struct item_proxy : test_proxy<replacement::bulk_item_receiver_proxy> {
    std::array<std::atomic<int>, 1000> visited{};
    std::atomic<std::size_t> longest = 0;
    void execute(std::size_t first, std::size_t last) noexcept override {
        std::size_t seen_longest = longest;
        while (last - first > seen_longest &&
               !longest.compare_exchange_weak(seen_longest, last - first)) {
        }
        for (; first != last; ++first) ++visited[first];
    }
};

TEST(parallel_scheduler, items_are_executed_once_each) {
    const auto backend = replacement::query_parallel_scheduler_backend();
    std::array<std::byte, ex::lent_bytes> storage;
    const auto check = [](item_proxy& items) {
        items.seen.done.wait();
        EXPECT_EQ(items.seen.ended, completion::value);
        for (auto& each : items.visited) EXPECT_EQ(each, 1);
    };
    item_proxy chunks;
    backend->schedule_bulk_chunked(chunks.visited.size(), chunks, storage);
    check(chunks);
    item_proxy single;
    backend->schedule_bulk_unchunked(single.visited.size(), single, storage);
    check(single);
    EXPECT_EQ(single.longest, 1u);
}

TEST(parallel_scheduler, small_or_crooked_storage_is_not_used) {
    const auto backend = replacement::query_parallel_scheduler_backend();
    std::array<std::byte, 9> bytes;
    bytes.fill(std::byte{0x5a});
    for (const std::size_t size : {0u, 1u, 8u}) {
        test_proxy<replacement::receiver_proxy> proxy;
        backend->schedule(proxy, std::span(bytes).subspan(1, size));
        proxy.seen.done.wait();
        EXPECT_EQ(proxy.seen.ended, completion::value);
    }
    for (const std::byte each : bytes) EXPECT_EQ(each, std::byte{0x5a});
}

#endif

} // namespace
