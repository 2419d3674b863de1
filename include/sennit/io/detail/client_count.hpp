// SPDX-License-Identifier: Apache-2.0
// The number of connections of one server, and its limit.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/io/handle.hpp"

#include <cstddef>
#include <system_error>
#include <utility>

namespace sennit::io::detail {

class client_count {
public:
    // `listener` must outlive the object. Ends the program with a message if `most` is 0.
    client_count(const handle& listener, std::size_t most) noexcept;
    client_count(const client_count&) = delete;

    // For the strand that accepts: blocks until there are fewer connections than the limit. `close`
    // and `cancel` of the listener end the wait as they end `accept`. Throws `cancelled`.
    void wait_for_place(std::error_code& failed);
    void add() noexcept;
    // The object may be gone afterwards if this was the last connection and a strand joins.
    void remove() noexcept;
    bool empty() const noexcept { return now_.load() == 0; }
    // Blocks until there is no connection. Throws `cancelled`, unless it is not `cancellable`.
    void join(bool cancellable);

private:
    const handle& listener_;
    const std::size_t most_;
    base::spin_lock lock_; // Guards the list, and `now_` against its last decrement.
    base::atomic<std::size_t> now_{0};
    sched::wait_list joiner_;
};

// A counted connection.
class counted_client {
public:
    explicit counted_client(client_count& in) noexcept : in_(&in) { in.add(); }
    counted_client(counted_client&& from) noexcept : in_(std::exchange(from.in_, nullptr)) {}
    ~counted_client() {
        if (in_) in_->remove();
    }

private:
    client_count* in_;
};

} // namespace sennit::io::detail
