// SPDX-License-Identifier: Apache-2.0
// The connections of serve_when_readable that wait without a stack.
//
// Which threads run this: the fibers of the server and of its connections, and any thread that ends
// a wait.
//
// A connection is in one of two states. It waits: the record of its descriptor has its hook, and it
// is in the list `waiting_`. Or one thread or fiber owns it. The thread that takes the hook owns
// the connection, and removes it from the list.
//
// Protocol. W1: the owner reads the tick of the record. W2: it asks the system whether the
// connection is readable. W3: it arms the record. W4: it takes the lock; if the server ends, it
// keeps the connection. W5: it sets the hook; if there was an event since W1, it keeps the
// connection. W6: it puts the connection into the list, and releases the lock. Afterwards it does
// not touch the connection.
// An end of a wait: E1: a thread takes the hook: the thread of an event, of `close` and of `cancel`
// under the record's lock, the timer and `stop` also under this lock. E2: it removes the connection
// from the list, under this lock. E3: it calls `run`, or ends the connection.
//
// No event is lost: io_record.hpp has the proof for U1 to U6, which W1 to W5 are.
// `stop` finds each connection. If W4 comes after it, the owner sees `stopped_`. If W6 comes
// before it, the connection is in the list: `stop` takes its hook, or the thread of E1 owns it.
//
// All limits have one length, so the list is in the order of the deadlines, and one timer serves
// all connections. It is armed while the list is not empty, and is not moved when a connection
// leaves the list: when it expires too early, it is armed for the connection that is then first.
//
// Tested by tests/sim/scenarios/io_hook.cpp and tests/unit/io/serve_when_readable_test.cpp.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/event_hook.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/core/timer.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/io/detail/client_count.hpp"

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace sennit::io::detail {

class idle_clients;

// The part of a connection that does not depend on its stream.
class idle_client : public base::list_node, public sched::event_hook {
public:
    explicit idle_client(idle_clients& server) noexcept;
    idle_client(const idle_client&) = delete;
    idle_clients& server() const noexcept { return server_; }

protected:
    ~idle_client() = default;

private:
    friend class idle_clients;
    union {
        std::int64_t deadline_ns_; // While it waits.
        sched::io_wake why_;       // In the list `late_`: how the wait has ended.
    };
    sched::io_record* record_ = nullptr; // Of the last wait.
    idle_clients& server_;
};

class idle_clients {
public:
    struct functions {
        // Takes the connection. Its wait has ended with `failed`; clear: it is readable. Must not
        // block.
        void (*run)(idle_client&, std::error_code failed) noexcept;
        // Closes and frees the connection.
        void (*destroy)(idle_client&) noexcept;
    };
    enum class outcome {
        waits,    // The caller does not own the connection any more.
        readable, // A read would not block.
        ended,    // The server ends, or the connection is closed.
        failed,
    };

    idle_clients(const handle& listener, std::size_t most, std::int64_t limit_ns,
                 const functions& how);
    // Requires that no connection is left.
    ~idle_clients();
    idle_clients(const idle_clients&) = delete;

    client_count& count() noexcept { return count_; }
    // W1 to W6. Throws the exceptions of io_poller::here.
    outcome wait(idle_client& one, const handle& stream, std::error_code& failed);
    // Every 32nd call for a connection that was readable at once: lets other tasks run.
    static void take_turns(const handle& stream) noexcept;
    // The owner ends the connection.
    void end(idle_client& one) noexcept;
    // Ends the connections that wait, now and from here on.
    void stop() noexcept;

private:
    friend class idle_client;
    struct own_timer : sched::timer {
        idle_clients* all;
    };
    struct relay : sched::runnable {
        explicit relay(idle_clients& whose) noexcept;
        idle_clients& all;
    };

    void wait_has_ended(idle_client& one, sched::io_wake why) noexcept;
    void run_late() noexcept;
    void take_waiting(std::int64_t latest, base::intrusive_queue<idle_client>& into) noexcept;
    void expire() noexcept;
    bool arm_timer() noexcept;

    client_count count_;
    const functions how_;
    const std::int64_t limit_ns_;
    sched::runtime_core& runtime_;
    base::spin_lock lock_; // Guards the members below.
    base::intrusive_queue<idle_client> waiting_;
    bool stopped_ = false;
    bool timer_in_use_ = false; // The timer is armed, is about to be, or runs.
    own_timer timer_;
    // Connections whose waits have ended in a thread that is no worker of the runtime.
    base::intrusive_queue<idle_client> late_;
    bool relay_posted_ = false;
    relay relay_;
};

} // namespace sennit::io::detail
