// SPDX-License-Identifier: Apache-2.0
// For runtimes whose fibers are operating-system threads: all members that do not depend on how a
// thread is started.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <queue>
#include <semaphore>
#include <thread>
#include <utility>

namespace lab {

// A thread that waits as long as this object lives. glibc locks without atomic instructions while a
// process has a single thread, which no program with two threads benefits from. A comparison with
// such locks would mislead.
class second_thread {
public:
    second_thread() : waits_([this] { over_.acquire(); }) {}
    ~second_thread() {
        over_.release();
        waits_.join();
    }

private:
    std::binary_semaphore over_{0};
    std::thread waits_;
};

struct threads_base {
    second_thread beside;

    template <class F>
    auto run(F f) {
        return f();
    }
    static void yield() { std::this_thread::yield(); }

    struct semaphore : std::counting_semaphore<> {
        semaphore() : counting_semaphore(0) {}
    };

    class event {
    public:
        void wait() {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return set_; });
        }
        void set() {
            const std::lock_guard lock(mutex_);
            set_ = true;
            changed_.notify_all();
        }

    private:
        std::mutex mutex_;
        std::condition_variable changed_;
        bool set_ = false;
    };

    // The standard library has no channel, so this is the bounded queue of its textbooks.
    template <class T>
    class buffered {
    public:
        explicit buffered(std::size_t capacity) : capacity_(capacity) {}
        void push(T value) {
            std::unique_lock lock(mutex_);
            room_.wait(lock, [this] { return values_.size() < capacity_; });
            values_.push(std::move(value));
            some_.notify_one();
        }
        T pop() {
            std::unique_lock lock(mutex_);
            some_.wait(lock, [this] { return !values_.empty(); });
            T value = std::move(values_.front());
            values_.pop();
            room_.notify_one();
            return value;
        }

    private:
        const std::size_t capacity_;
        std::mutex mutex_;
        std::condition_variable room_, some_;
        std::queue<T> values_;
    };

    // Ends the program when the system refuses another thread, because blocked threads cannot be
    // unwound.
    [[noreturn]] static void refused(const char* why) {
        std::fprintf(stderr, "no more threads: %s\n", why);
        std::fflush(stderr);
        std::_Exit(1);
    }
};

} // namespace lab
