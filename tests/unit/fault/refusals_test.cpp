// SPDX-License-Identifier: Apache-2.0
// Refuses every request that the system can refuse, one request at a time, until a run meets no
// refusal. After each refusal the caller gets a documented exception or the right answer. Nothing
// is leaked, and the next run works.
#include "take_place_of_worker.hpp"

#include <sennit/detail/base/sanitizers.hpp>
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <system_error>
#include <thread>

#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)

TEST(refusals, refusals_are_not_injected_under_sanitizer) {
    GTEST_SKIP() << "the sanitizer owns the allocator";
}

#else

namespace {

enum kind { none, allocation, mapping, thread_creation };
std::atomic<int> failing{none};
std::atomic<long> countdown{0}; // The number of requests up to the refused one.
std::atomic<bool> refused{false};
std::atomic<long> alive{0};  // The number of live allocations.
std::atomic<long> mapped{0}; // The number of live mappings.

bool refuse(kind what) {
    if (failing != what || countdown.fetch_sub(1) != 1) return false;
    refused = true;
    return true;
}

} // namespace

#ifndef __clang__
#pragma GCC diagnostic ignored                                                                     \
    "-Wmismatched-new-delete" // g++ inlines one of the pair and misses the other
#endif
void* operator new(std::size_t size) {
    void* memory = refuse(allocation) ? nullptr : std::malloc(size);
    if (!memory) throw std::bad_alloc();
    ++alive;
    return memory;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    void* memory =
        refuse(allocation) ? nullptr : std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
    if (!memory) throw std::bad_alloc();
    ++alive;
    return memory;
}
void operator delete(void* memory) noexcept {
    if (memory) --alive;
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    operator delete(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    operator delete(memory);
}

// The library's calls reach these definitions. The C library's own calls do not.
extern "C" void* mmap(void* address, size_t length, int protection, int flags, int file,
                      off_t offset) noexcept {
    static const auto real = reinterpret_cast<decltype(&mmap)>(::dlsym(RTLD_NEXT, "mmap"));
    if (refuse(mapping)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void* memory = real(address, length, protection, flags, file, offset);
    if (memory != MAP_FAILED) ++mapped;
    return memory;
}
extern "C" int munmap(void* address, size_t length) noexcept {
    static const auto real = reinterpret_cast<decltype(&munmap)>(::dlsym(RTLD_NEXT, "munmap"));
    --mapped;
    return real(address, length);
}
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*entry)(void*), void* argument) noexcept {
    static const auto real =
        reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
    return refuse(thread_creation) ? EAGAIN : real(thread, attributes, entry, argument);
}

namespace {

// Runs `scenario` with the 1st, 2nd, … request of a kind refused, until a run meets no refusal.
void exhaust(kind what, const std::function<void()>& scenario) {
    scenario(); // Creates the objects that live once per process.
    take_place_of_worker();
    long refusals = 0;
    for (long n = 1;; ++n) {
        ASSERT_LT(n, 10'000);
        const long alive_before = alive, mapped_before = mapped;
        refused = false;
        countdown = n;
        failing = what;
        try {
            scenario();
        } catch (const std::bad_alloc&) {
        } catch (const std::system_error& error) {
            EXPECT_NE(
                std::string(error.what()).find("sennit: [SNT-019] cannot create a worker thread"),
                std::string::npos);
        }
        failing = none;
        EXPECT_EQ(alive, alive_before) << "refusal " << n;
        EXPECT_EQ(mapped, mapped_before) << "refusal " << n;
        if (!refused) break;
        ++refusals;
        scenario(); // The next run works.
    }
    EXPECT_GT(refusals, 0);
}

void make_a_runtime() {
    sennit::runtime runtime({.workers = 3, .stack_size = 64 << 10});
}

void run_everything() {
    sennit::runtime runtime({.workers = 2, .stack_size = 64 << 10});
    const long sum = runtime.run([] {
        std::atomic<long> total{0};
        sennit::scope children;
        for (int i = 0; i < 100; ++i)
            children.spawn([&total, text = std::string(40, 'x')] { total += 1; });
        sennit::sched::one_shot event;
        sennit::fork_join([&] { event.wait(); }, [&] { event.finish(); });
        for (long one : sennit::fork_each(20, [](std::size_t i) { return static_cast<long>(i); }))
            total += one;
        children.join();
        return total.load();
    });
    EXPECT_EQ(sum, 290);
}

TEST(refusals, runtime_construction_survives_refused_memory) {
    exhaust(allocation, &make_a_runtime);
}
TEST(refusals, runtime_construction_survives_refused_mappings) {
    exhaust(mapping, &make_a_runtime);
}
TEST(refusals, running_program_survives_refused_memory) {
    exhaust(allocation, &run_everything);
}
TEST(refusals, running_program_survives_refused_mappings) {
    exhaust(mapping, &run_everything);
}
TEST(refusals, runtime_construction_survives_refused_threads) {
    exhaust(thread_creation, &make_a_runtime);
}

} // namespace

#endif
