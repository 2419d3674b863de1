// SPDX-License-Identifier: Apache-2.0
// once_flag, call_once: as in std, for fibers, forked children and OS threads.
//
//     sennit::once_flag loaded;
//     sennit::call_once(loaded, [&] { table = load_table(); });
//
// Use them for an initialisation that blocks in calls of Sennit. For any other use a function-local
// static variable. A wait is not a point of cancellation. In a task, await async_call_once of
// sennit/task/once.hpp; both forms may meet at one flag.
#pragma once

#include "sennit/detail/core/wait.hpp"

#include <cstdint>
#include <functional>
#include <utility>

namespace sennit {

namespace detail {
class once_turn;
} // namespace detail

class once_flag {
public:
    once_flag() noexcept = default;
    once_flag(const once_flag&) = delete;
    once_flag& operator=(const once_flag&) = delete;

private:
    template <class F, class... A>
    friend void call_once(once_flag& flag, F&& function, A&&... arguments);

    friend class detail::once_turn;
    static constexpr std::uint32_t fresh = 0, running = 1, done = 2;

    // Pairs with end.
    bool is_done() const noexcept { return state_.load_acq() == done; }
    // returns true if the caller must run the function, and false if it is done
    bool begin() noexcept;
    // Returns true if the caller must run the function. Does not block.
    bool try_begin() noexcept;
    // Sets `done`, or `fresh` after an exception; then a waiter runs the function.
    void end(std::uint32_t how) noexcept;

    base::atomic<std::uint32_t> state_{fresh};
    base::spin_lock lock_;
    sched::wait_list waiters_;
};

// Calls `function(arguments...)` unless a call for this flag has returned. Blocks while another
// call for the flag runs. A call that throws does not count; its exception is rethrown. Cost: one
// load when the flag is done.
template <class F, class... A>
void call_once(once_flag& flag, F&& function, A&&... arguments) {
    static_assert(std::is_invocable_v<F, A...>,
                  "sennit: call_once calls the function with the arguments, and the function does "
                  "not take these");
    if (flag.is_done() || !flag.begin()) return;
    struct ending {
        once_flag& flag;
        std::uint32_t how = once_flag::fresh;
        ~ending() { flag.end(how); }
    } at_end{flag};
    std::invoke(std::forward<F>(function), std::forward<A>(arguments)...);
    at_end.how = once_flag::done;
}

} // namespace sennit
