// SPDX-License-Identifier: Apache-2.0
// once_flag, call_once: as in std, for fibers, forked children and OS threads at once. Not a point
// of cancellation.
#pragma once

#include "sennit/detail/core/wait.hpp"

#include <cstdint>
#include <functional>
#include <utility>

namespace sennit {

class once_flag {
public:
    once_flag() noexcept = default;
    once_flag(const once_flag&) = delete;
    once_flag& operator=(const once_flag&) = delete;

private:
    template <class F, class... A>
    friend void call_once(once_flag& flag, F&& function, A&&... arguments);

    static constexpr std::uint32_t fresh = 0, running = 1, done = 2;

    bool is_done() const noexcept { return state_.load_acq() == done; } // pairs with end
    bool begin() noexcept; // true: the caller runs the function; false: it is done
    void
    end(std::uint32_t how) noexcept; // done, or fresh after an exception: then one who waits tries

    base::atomic<std::uint32_t> state_{fresh};
    base::spin_lock lock_;
    sched::wait_list waiters_;
};

// Calls `function(arguments...)` unless a call for this flag has returned; waits while one runs. A
// call that throws does not count. One load when it is done.
template <class F, class... A>
void call_once(once_flag& flag, F&& function, A&&... arguments) {
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
