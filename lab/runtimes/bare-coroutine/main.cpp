// SPDX-License-Identifier: Apache-2.0
// Coroutines without a scheduler: the floor under every library of tasks. A frame comes from a
// thread-local list of its size, an await transfers control, and a fork is a plain await.
//
// `task-switch` transfers between two coroutines, and `task-spawn` is an await, since both need no
// queue here.
#include "main.hpp"
#include "fibers/count.hpp"

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>

namespace {

// Free frames by size, in units of 64 bytes.
class frames {
public:
    static void* take(std::size_t bytes) {
        const std::size_t list = bytes / unit;
        if (list >= lists) return ::operator new(bytes);
        free_frame* found = free_[list];
        if (!found) return ::operator new((list + 1) * unit);
        free_[list] = found->next;
        return found;
    }
    static void give(void* memory, std::size_t bytes) noexcept {
        const std::size_t list = bytes / unit;
        if (list >= lists) return ::operator delete(memory);
        free_[list] = ::new (memory) free_frame{free_[list]};
    }

private:
    struct free_frame {
        free_frame* next;
    };
    static constexpr std::size_t unit = 64, lists = 8;
    static thread_local constinit std::array<free_frame*, lists> free_;
};
thread_local constinit std::array<frames::free_frame*, frames::lists> frames::free_{};

class bare {
public:
    struct promise_type {
        std::coroutine_handle<> continuation;
        std::int64_t* result;
        static void* operator new(std::size_t bytes) { return frames::take(bytes); }
        static void operator delete(void* memory, std::size_t bytes) noexcept {
            frames::give(memory, bytes);
        }
        bare get_return_object() noexcept { return bare(handle::from_promise(*this)); }
        static std::suspend_always initial_suspend() noexcept { return {}; }
        struct end {
            static constexpr bool await_ready() noexcept { return false; }
            static std::coroutine_handle<>
            await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
                const std::coroutine_handle<> next = ended.promise().continuation;
                ended.destroy();
                return next;
            }
            static void await_resume() noexcept {}
        };
        static end final_suspend() noexcept { return {}; }
        void return_value(std::int64_t value) noexcept { *result = value; }
        [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
    };
    using handle = std::coroutine_handle<promise_type>;

    struct awaiter {
        handle child;
        std::int64_t result;
        static constexpr bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
            child.promise().continuation = caller;
            child.promise().result = &result;
            return child;
        }
        std::int64_t await_resume() const noexcept { return result; }
    };
    awaiter operator co_await() && noexcept { return {frame_, 0}; }

    // Prepares the coroutine to write `result` and to continue `next`. The caller resumes it.
    handle begin(std::int64_t& result, std::coroutine_handle<> next) const noexcept {
        frame_.promise().result = &result;
        frame_.promise().continuation = next;
        return frame_;
    }
    std::int64_t run() const {
        std::int64_t result = 0;
        begin(result, std::noop_coroutine()).resume();
        return result;
    }

private:
    explicit bare(handle frame) noexcept : frame_(frame) {}
    handle frame_;
};

bare fib_node(int n) {
    if (n < 2) co_return n;
    const std::int64_t a = co_await fib_node(n - 1);
    const std::int64_t b = co_await fib_node(n - 2);
    co_return a + b;
}

bare one_more(std::int64_t before) {
    co_return before + 1;
}
bare count_by_awaits(std::int64_t n) {
    std::int64_t count = 0;
    while (count < n) count = co_await one_more(count);
    co_return count;
}

struct pair {
    std::coroutine_handle<> other;
};
// Continues the other coroutine, and leaves the calling one in its place.
struct transfer {
    pair& both;
    static constexpr bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) const noexcept {
        return std::exchange(both.other, self);
    }
    static void await_resume() noexcept {}
};
bare transfer_often(pair& both, std::int64_t share) {
    std::int64_t count = 0;
    for (; count < share; ++count) co_await transfer{both};
    co_return count;
}

struct without_runtime {
    explicit without_runtime(unsigned) {}
    template <class F>
    auto run(F f) {
        return f();
    }
};

struct fib : lab::fib<without_runtime> {
    using lab::fib<without_runtime>::fib;
    std::int64_t run() const { return fib_node(n).run(); }
};
struct awaits : lab::counted {
    using counted::counted;
    std::int64_t run() const { return count_by_awaits(n).run(); }
};
struct transfers : lab::counted {
    using counted::counted;
    std::int64_t run() const {
        pair both;
        std::int64_t first = 0, second = 0;
        const std::coroutine_handle<> last = std::noop_coroutine();
        both.other = transfer_often(both, n / 2).begin(second, last);
        // With equal shares, the coroutine that begins ends first.
        const bool equal = n % 2 == 0;
        transfer_often(both, n - n / 2).begin(first, equal ? both.other : last).resume();
        if (!equal) both.other.resume();
        return first + second;
    }
};

struct floor_of_tasks {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        using lab::measure;
        if (name == "fib") return measure<without_runtime>(fib(size), threads);
        if (name == "task-ready" || name == "task-spawn")
            return measure<without_runtime>(awaits(size), threads);
        if (name == "task-switch") return measure<without_runtime>(transfers(size), threads);
        return std::nullopt;
    }
};

} // namespace

int main(int argc, char** argv) {
    return lab::program<floor_of_tasks>(argc, argv);
}
