// SPDX-License-Identifier: Apache-2.0
// Connections that wait without a stack: the hook of src/io/runtime/io_record.hpp, the protocol of
// sennit/io/detail/idle_clients.hpp, and the limit of connections (client_count.hpp).
#include "engine.hpp"

#include "ground/descriptors.hpp"
#include "io/access.hpp"
#include "io/runtime/io_record.hpp"
#include "sennit/io/detail/idle_clients.hpp"
#include "threads.hpp"

#include <optional>
#include <system_error>

namespace {

using namespace sennit::sched;
namespace io = sennit::io;
using io::detail::client_count;
using io::detail::idle_client;
using io::detail::idle_clients;

struct hook_source { // The base, because the handle ends first.
    sim::descriptor source;
};

// A handle of a simulated descriptor.
class hook_peer : private hook_source, public io::handle {
public:
    hook_peer() : handle(io_record::make(source.number(), false)) {}
    sim::descriptor& kernel() noexcept { return source; }
};

// A server with one connection, on a runtime with one worker.
class waiting_server {
public:
    explicit waiting_server(std::int64_t limit_ns = never) {
        sim::calmly([&] {
            engine_.emplace(1);
            engine_->run([&] {
                all_.emplace(listener_, 1, limit_ns, calls);
                one_.emplace(*this);
                all_->count().add();
            });
        });
    }
    ~waiting_server() {
        sim::calm_from_here();
        one_.reset();
        all_.reset();
        engine_.reset();
    }

    // In the runtime: the connection begins to wait.
    void wait() {
        engine_->run([&] {
            std::error_code failed;
            outcome = all_->wait(*one_, one_->stream, failed);
            sim::check(!failed, "the system watches the descriptor");
        });
    }
    // The wait has ended, by its event or another call of `run`.
    void wait_for_run() { ran_.wait(); }
    // Nothing races from here on: `outside` and what it has given to the runtime have ended.
    void settle(sim::thread& outside) {
        outside.join();
        sim::calm_from_here();
        engine_->run([] {});
    }
    hook_peer& stream() noexcept { return one_->stream; }
    idle_clients& all() noexcept { return *all_; }

    idle_clients::outcome outcome = idle_clients::outcome::failed;
    sim::var<int> runs{0}, ended{0};
    std::error_code why;

private:
    struct client : idle_client {
        explicit client(waiting_server& in) : idle_client(*in.all_), whose(in) {}
        waiting_server& whose;
        hook_peer stream;
    };
    static void run(idle_client& one, std::error_code failed) noexcept {
        waiting_server& me = static_cast<client&>(one).whose;
        me.runs = me.runs + 1;
        me.why = failed;
        me.ran_.set();
    }
    static void destroy(idle_client& one) noexcept {
        waiting_server& me = static_cast<client&>(one).whose;
        me.ended = me.ended + 1;
    }
    static constexpr idle_clients::functions calls{&run, &destroy};

    event ran_;
    hook_peer listener_;
    std::optional<engine> engine_;
    std::optional<idle_clients> all_;
    std::optional<client> one_;
};

using wait_outcome = idle_clients::outcome;

} // namespace

// The event comes before the question to the system, before the hook is set, or while the
// connection waits.
SIM_SCENARIO_WITHIN(io_hook, event_meets_start_of_wait, .preemptions = 2, .stale_reads = 1) {
    waiting_server one;
    sim::thread outside([&] { one.stream().kernel().put(); });
    one.wait();
    if (one.outcome == wait_outcome::waits) one.wait_for_run();
    outside.join();
    sim::check(one.outcome == wait_outcome::waits || one.outcome == wait_outcome::readable,
               "the connection waits, or is readable");
    sim::check(one.runs == (one.outcome == wait_outcome::waits ? 1 : 0) && !one.why,
               "an event ends a wait once");
}

// A second event finds no hook.
SIM_SCENARIO_WITHIN(io_hook, two_events_call_once, .preemptions = 2, .stale_reads = 0) {
    waiting_server one;
    sim::calmly([&] { one.wait(); });
    sim::thread outside([&] { one.stream().kernel().put(); });
    one.stream().kernel().put();
    one.wait_for_run();
    one.settle(outside);
    sim::check(one.runs == 1, "the wait has ended once");
}

SIM_SCENARIO_WITHIN(io_hook, close_races_event, .preemptions = 2, .stale_reads = 0) {
    waiting_server one;
    sim::calmly([&] { one.wait(); });
    sim::thread outside([&] { one.stream().kernel().put(); });
    one.stream().close();
    one.wait_for_run();
    one.settle(outside);
    sim::check(one.runs == 1, "the wait has ended once");
    sim::check(!one.why || one.why == std::errc::operation_canceled, "by the event or by close");
}

SIM_SCENARIO_WITHIN(io_hook, close_races_start_of_wait, .preemptions = 2, .stale_reads = 1) {
    waiting_server one;
    sim::thread outside([&] { one.stream().close(); });
    one.wait();
    if (one.outcome == wait_outcome::waits) one.wait_for_run();
    outside.join();
    sim::check(one.outcome == wait_outcome::waits || one.outcome == wait_outcome::ended,
               "a closed connection does not wait for good");
}

// Two ends of one wait.
SIM_SCENARIO_WITHIN(io_hook, cancel_races_event, .preemptions = 2, .stale_reads = 0) {
    waiting_server one;
    sim::calmly([&] { one.wait(); });
    sim::thread outside([&] { one.stream().kernel().put(); });
    one.stream().cancel();
    one.wait_for_run();
    one.settle(outside);
    sim::check(one.runs == 1, "the wait has ended once");
}

// The server ends. No connection is left that waits.
SIM_SCENARIO_WITHIN(io_hook, stop_races_start_of_wait, .preemptions = 2, .stale_reads = 1) {
    waiting_server one;
    sim::thread outside([&] { one.all().stop(); });
    one.wait();
    outside.join();
    const bool waited = one.outcome == wait_outcome::waits;
    sim::check(waited || one.outcome == wait_outcome::ended, "the connection has waited, or ends");
    sim::check(one.ended == (waited ? 1 : 0), "stop ends the connection that waits");
}

SIM_SCENARIO_WITHIN(io_hook, stop_races_event, .preemptions = 2, .stale_reads = 0) {
    waiting_server one;
    sim::calmly([&] { one.wait(); });
    sim::thread outside([&] { one.stream().kernel().put(); });
    one.all().stop();
    if (one.ended == 0) one.wait_for_run();
    one.settle(outside);
    sim::check(one.ended + one.runs == 1, "the wait has one end");
}

SIM_SCENARIO_WITHIN(io_hook, time_limit_races_event, .preemptions = 2, .stale_reads = 0) {
    waiting_server one(1'000'000);
    sim::calmly([&] { one.wait(); });
    sim::thread outside([&] {
        sim::sleep_with_the_next();
        one.stream().kernel().put();
    });
    one.wait_for_run();
    one.settle(outside);
    sim::check(one.runs == 1, "the wait has ended once");
    sim::check(!one.why || one.why == std::errc::timed_out, "by the event or by its limit");
}

// ---- the limit of connections

// The last connection ends before the accepting strand asks, before it waits, or while it waits.
SIM_SCENARIO_WITHIN(io_hook, end_of_connection_gives_its_place, .preemptions = 2,
                    .stale_reads = 1) {
    hook_peer listener;
    engine first(1);
    client_count count(listener, 1);
    count.add();
    sim::thread outside([&] { count.remove(); });
    first.run([&] {
        std::error_code failed;
        count.wait_for_place(failed);
        sim::check(!failed && count.empty(), "a place is free");
    });
    outside.join();
}

SIM_SCENARIO_WITHIN(io_hook, join_waits_for_last_connection, .preemptions = 2, .stale_reads = 1) {
    hook_peer listener;
    std::optional<client_count> count(std::in_place, listener, 2);
    count->add();
    count->add();
    sim::thread outside([&] { count->remove(); });
    sim::thread other([&] { count->remove(); });
    count->join(false);
    count.reset(); // The object may end as soon as `join` has returned.
    outside.join();
    other.join();
}
