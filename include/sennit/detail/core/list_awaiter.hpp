// SPDX-License-Identifier: Apache-2.0
// list_awaiter: the await of an object that lets its waiters continue in order, and hands over
// nothing but the end of the wait.
//
// The object, `Source`, has three members for it. `ready_or_lock()` completes the wait without
// waiting, and returns true; otherwise it returns false with the object's lock held.
// `suspend(handle, deadline)` enters the waiter list, releases the lock, and returns the result of
// task_wait::block. `end_suspension()` ends that wait. It returns false if the deadline has ended
// it, and throws `cancelled` if a scope has.
#pragma once

#include "sennit/detail/core/awaitable.hpp"

#include <bit>
#include <coroutine>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sennit::sched {

// A source, and whether the task has waited for it. g++ 12 keeps two copies of an awaiter in the
// frame of its task, so a source that is the address of an object carries the note in its last bit.
template <class Source>
inline constexpr bool is_address =
    sizeof(Source) == sizeof(std::uintptr_t) && std::is_trivially_copyable_v<Source>;

template <class Source, bool Address = is_address<Source>>
class noted_source {
public:
    explicit noted_source(Source source) noexcept : source_(std::move(source)) {}
    noted_source(noted_source&& unused) noexcept : source_(std::move(unused.source_)) {}
    Source& source() noexcept { return source_; }
    void note_wait() noexcept { waits_ = true; }
    bool waits() const noexcept { return waits_; }

private:
    Source source_;
    bool waits_ = false;
};
template <class Source>
class noted_source<Source, true> {
public:
    explicit noted_source(Source source) noexcept : word_(std::bit_cast<std::uintptr_t>(source)) {}
    // SAFETY: the object has an even address, because it has a lock.
    Source source() const noexcept { return std::bit_cast<Source>(word_ & ~std::uintptr_t{1}); }
    void note_wait() noexcept { word_ |= 1; }
    bool waits() const noexcept { return (word_ & 1) != 0; }

private:
    std::uintptr_t word_;
};

// The part that both awaits share.
template <class Source>
class list_wait : public awaitable {
public:
    explicit list_wait(Source source) noexcept : source_(std::move(source)) {}
    list_wait(list_wait&& unused) noexcept : source_(std::move(unused.source_)) {}
    bool await_ready() {
        if (source_.source().ready_or_lock()) return true;
        source_.note_wait();
        return false;
    }

protected:
    std::coroutine_handle<> suspend_until(std::coroutine_handle<> caller,
                                          std::int64_t deadline_ns) {
        return source_.source().suspend(caller, deadline_ns);
    }
    bool end() { return !source_.waits() || source_.source().end_suspension(); }

private:
    noted_source<Source> source_;
};

template <class Source>
class list_awaiter : public list_wait<Source> {
public:
    using list_wait<Source>::list_wait;
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return this->suspend_until(caller, never);
    }
    void await_resume() { (void)this->end(); }
};
template <class Source>
list_awaiter(Source) -> list_awaiter<Source>;

// With a deadline. The await returns false if the deadline has come first.
template <class Source>
class timed_list_awaiter : public list_wait<Source> {
public:
    timed_list_awaiter(Source source, std::int64_t deadline_ns) noexcept
        : list_wait<Source>(std::move(source)), deadline_ns_(deadline_ns) {}
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return this->suspend_until(caller, deadline_ns_);
    }
    bool await_resume() { return this->end(); }

private:
    std::int64_t deadline_ns_;
};

} // namespace sennit::sched
