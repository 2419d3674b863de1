// SPDX-License-Identifier: Apache-2.0
// single_flight: callers that ask for the same key at the same time share one computation; and a
// cache, if the results have a lifetime.
//
//     sennit::single_flight<std::string, page> pages({.lifetime = 10s});
//     page p = pages.get(name, [&] { return render(name); });
//
// Use it in front of expensive calls for which many tasks ask at once, as Go's singleflight. For a
// value that is made once use `call_once`; for one result and many readers use `shared_future`.
//
// The first caller of a key computes in its own fiber; later callers wait for it. All of them get a
// copy of the result, or the exception. Exceptions are shared by the callers that wait, and are not
// kept. If the computing caller is cancelled, the other callers are not: one of them computes with
// its own function.
// Lifetime. Without one, a result is forgotten as soon as it is there. With one, it serves later
// calls until it is so old. Entries that are too old are removed by later calls, in constant time
// per call on average. There is no limit on the number of entries.
// A computation must not ask for its own key, because it would wait for itself.
// Blocking: until the result is there. Cancellation: throws `cancelled`. Thread safety: all members
// may be called concurrently; the object is destroyed when no call is in progress. Cost of a result
// that is there: a mutex, a look-up, a copy; of a computation: two allocations more.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/future.hpp"
#include "sennit/mutex.hpp"
#include "sennit/promise.hpp"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace sennit {

struct single_flight_options {
    // How long a result serves later calls. 0: not at all; duration::max(): for ever.
    std::chrono::nanoseconds lifetime{0};
};

template <class Key, class T, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
class single_flight {
    static_assert(std::copy_constructible<T>,
                  "sennit: each caller of single_flight gets a copy of the result; use a "
                  "std::shared_ptr for a type that cannot be copied");

public:
    explicit single_flight(const single_flight_options& how = {}) noexcept
        : lifetime_ns_(how.lifetime.count()) {}
    single_flight(const single_flight&) = delete;
    single_flight& operator=(const single_flight&) = delete;

    // Returns the result for the key: a result that is young enough, that of a running computation,
    // or that of `compute()`. Throws the exception of the computation, `cancelled`, std::bad_alloc,
    // and the exceptions of copying.
    template <class F>
        requires std::is_invocable_r_v<T, F&>
    T get(const Key& key, F&& compute) {
        for (;;) {
            std::optional<promise<T>> mine;
            shared_future<T> result;
            std::uint64_t number = 0; // of this caller's computation; 0: another caller computes
            {
                std::lock_guard guard(lock_);
                remove_old();
                auto found = entries_.find(key);
                if (found != entries_.end() && !found->second.fresh()) {
                    entries_.erase(found);
                    found = entries_.end();
                }
                if (found != entries_.end()) {
                    result = found->second.result;
                } else {
                    number = ++numbers_;
                    mine.emplace();
                    entries_.emplace(key, entry{mine->get_future().share(), number, forever});
                }
            }
            if (number != 0) return lead(key, number, *mine, compute);
            try {
                return result.get();
            } catch (const leader_left&) {
                // its caller was cancelled; ask again
            }
        }
    }
    // Explains a call that the other overload refuses.
    template <class F>
    base::refused_call get(const Key&, F&&) {
        static_assert(base::refused<F>, "sennit: single_flight::get calls the function without "
                                        "arguments, and converts its result to T");
        return {};
    }

    // Forgets the key: later calls compute again. A running computation still serves the callers
    // that wait for it. Returns true if there was an entry.
    bool erase(const Key& key) {
        std::lock_guard guard(lock_);
        return entries_.erase(key) != 0;
    }
    // Forgets all keys.
    void clear() {
        std::lock_guard guard(lock_);
        entries_.clear();
    }
    // The number of results that are kept and of computations that run.
    std::size_t size() const {
        std::lock_guard guard(lock_);
        return entries_.size();
    }

private:
    static constexpr std::int64_t forever = INT64_MAX;
    struct leader_left {}; // the exception of a computation whose caller was cancelled
    struct entry {
        shared_future<T> result;
        std::uint64_t number;
        std::int64_t until_ns; // `forever` while the computation runs
        bool fresh() const noexcept { return until_ns == forever || sched::now_ns() < until_ns; }
    };

    template <class F>
    T lead(const Key& key, std::uint64_t number, promise<T>& mine, F& compute) {
        try {
            T value = std::invoke(compute);
            finish(key, number, lifetime_ns_ > 0);
            mine.set_value(value);
            return value;
        } catch (const cancelled&) {
            finish(key, number, false);
            mine.set_exception(std::make_exception_ptr(leader_left{}));
            throw;
        } catch (...) {
            finish(key, number, false);
            mine.set_exception(std::current_exception());
            throw;
        }
    }
    // Keeps the entry of the computation, or removes it, unless it was erased meanwhile.
    void finish(const Key& key, std::uint64_t number, bool keep) {
        std::lock_guard guard(lock_);
        const auto found = entries_.find(key);
        if (found == entries_.end() || found->second.number != number) return;
        if (!keep) {
            entries_.erase(found);
        } else {
            const std::int64_t now = sched::now_ns();
            found->second.until_ns = lifetime_ns_ < forever - now ? now + lifetime_ns_ : forever;
        }
    }
    // Looks at all entries whenever their number has doubled since the last time.
    void remove_old() {
        if (lifetime_ns_ <= 0 || entries_.size() < look_at_) return;
        std::erase_if(entries_, [](const auto& one) { return !one.second.fresh(); });
        look_at_ = 2 * entries_.size() + 16;
    }

    const std::int64_t lifetime_ns_;
    mutable mutex lock_; // guards all members below
    std::unordered_map<Key, entry, Hash, Equal> entries_;
    std::uint64_t numbers_ = 0;
    std::size_t look_at_ = 16;
};

} // namespace sennit
