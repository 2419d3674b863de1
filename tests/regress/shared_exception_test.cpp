// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <thread>
#include <utility>

namespace {

struct numbered {
    int number;
};

int read(const std::exception_ptr& shared) {
    try {
        std::rethrow_exception(shared);
    } catch (const numbered& e) {
        return e.number;
    }
}

// Two threads share an exception as a future's maker and its reader do, and only the exception's
// own count orders the end of one before the other's. ThreadSanitizer knows it by
// tests/support/tsan_exceptions.cpp.
class shared_exception : public testing::Test {
protected:
    void end_the_first() {
        first_has_ended_.store(true, std::memory_order_relaxed);
    } // this wait orders nothing
    void await_the_first() const {
        while (!first_has_ended_.load(std::memory_order_relaxed)) std::this_thread::yield();
    }

    std::exception_ptr ours_ = std::make_exception_ptr(numbered{42});

private:
    std::atomic<bool> first_has_ended_{false};
};

TEST_F(shared_exception, ends_with_its_pointer_after_another_thread_has_read_it) {
    int sum = 0;
    std::thread other([&, theirs = ours_]() mutable {
        sum += read(theirs);
        theirs = nullptr;
        end_the_first();
    });
    await_the_first();
    ours_ = nullptr;
    other.join();
    EXPECT_EQ(sum, 42);
}

TEST_F(shared_exception, ends_with_its_catcher_after_another_thread_has_read_it) {
    int sum = 0;
    std::thread other([&, theirs = ours_]() mutable {
        try {
            std::rethrow_exception(std::exchange(theirs, nullptr));
        } catch (const numbered& e) {
            sum += e.number;
            await_the_first();
        }
    });
    const int number = read(ours_);
    ours_ = nullptr;
    end_the_first();
    other.join();
    EXPECT_EQ(sum + number, 84);
}

} // namespace
