// SPDX-License-Identifier: Apache-2.0
// Descriptors: the record against its events, and the worker that waits for them:
// src/io/runtime/io_record.hpp; src/core/README.md, "Events from outside".
//
// The simulated kernel reports edges (ground/descriptors.hpp). In the explorer, time passes only
// while no thread can continue, so an event that no worker polls for is a deadlock.
#include "engine.hpp"

#include "ground/descriptors.hpp"
#include "io/runtime/io_call.hpp"
#include "io/runtime/io_poller.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/with_timeout.hpp"
#include "threads.hpp"

#include <optional>

namespace {

using namespace sennit::sched;

// A record of a simulated descriptor that calls read.
class stream {
public:
    stream() : record_(io_record::make(source_.number(), false)) {}
    ~stream() { record_.release(); }
    stream(const stream&) = delete;

    sim::descriptor& source() noexcept { return source_; }
    io_record& record() noexcept { return record_; }
    // Takes a unit, and returns 1; blocks until there is one. Returns 0 at the end.
    io_result read(std::size_t full = 0) {
        return io_run(record_, {.direction = io_direction::read,
                                .what = "a unit",
                                .call = [](int, void* from) noexcept -> std::ptrdiff_t {
                                    auto& own = *static_cast<sim::descriptor*>(from);
                                    const bool ended = own.ended(); // Before the units.
                                    if (own.take()) return 1;
                                    return ended ? 0 : io_would_block;
                                },
                                .argument = &source_,
                                .full = full});
    }

private:
    sim::descriptor source_;
    io_record& record_;
};

// A fiber's worth of work: reads one unit of a stream.
struct reader : runnable {
    explicit reader(stream& source)
        : runnable([](runnable* self) noexcept {
              auto& me = static_cast<reader&>(*self);
              me.result = me.from.read();
              if (me.then) me.then->wait(); // Blocks the worker's thread.
              me.done.set();
          }),
          from(source) {}
    stream& from;
    event* then = nullptr;
    io_result result;
    event done;
};

// Waits until all other threads wait.
void let_others_wait() {
    sim::world& all = sim::world::the();
    while (all.others_ready()) all.yield(sim::place::current());
}

// Starts `one` on the runtime, and lets it wait for its stream.
void start_calmly(engine& on, reader& one) {
    sim::calmly([&] { schedule(one, on->core()); });
}

} // namespace

// ---- the record: events against waits

// The event comes before the call, between the call and the wait, or while the fiber waits.
SIM_SCENARIO_WITHIN(io, event_meets_start_of_wait, .preemptions = 2, .stale_reads = 1) {
    stream one;
    engine first(1);
    sim::thread outside([&] { one.source().put(); });
    first.run([&] { sim::check(one.read().count == 1, "the unit was read"); });
    outside.join();
}

// The stream is watched already, and a thread that is no worker reads. A short read has said that
// the stream is empty.
SIM_SCENARIO_WITHIN(io, event_meets_wait_of_thread_for_drained_stream, .preemptions = 2,
                    .stale_reads = 1) {
    stream one;
    engine first(1);
    sim::calmly([&] {
        reader before(one);
        schedule(before, first->core());
        let_others_wait(); // The reader arms the stream.
        one.source().put();
        before.done.wait();
    });
    sim::thread outside([&] { one.source().put(); });
    sim::check(one.read(2).count == 1, "the unit was read");
    outside.join();
}

// One event stands for two units, and two fibers wait.
SIM_SCENARIO_WITHIN(io, one_event_serves_two_waiters, .preemptions = 2, .stale_reads = 0) {
    stream one;
    engine first(1);
    reader a(one), b(one);
    start_calmly(first, a);
    start_calmly(first, b);
    one.source().put();
    one.source().put();
    a.done.wait();
    b.done.wait();
    sim::check(a.result.count == 1 && b.result.count == 1, "each has read a unit");
}

// The end of the stream is reported together with the last unit, after which the stream looks
// drained.
SIM_SCENARIO_WITHIN(io, end_that_comes_with_data_is_seen, .preemptions = 2, .stale_reads = 0) {
    stream one;
    engine first(1);
    sim::thread outside([&] {
        one.source().put();
        one.source().hang_up();
    });
    first.run([&] {
        sim::check(one.read(2).count == 1, "the unit was read");
        sim::check(one.read(2).count == 0, "the end was seen");
    });
    outside.join();
}

// A cancelled read takes no unit.
SIM_SCENARIO_WITHIN(io, cancel_races_event, .preemptions = 2, .stale_reads = 0) {
    stream one;
    engine first(1);
    cancel_scope scope(nullptr);
    io_result result;
    event done;
    struct body : runnable {
        body() : runnable([](runnable* self) noexcept { static_cast<body*>(self)->run_it(); }) {}
        void run_it() {
            const in_scope here(*scope);
            *result = from->read();
            done->set();
        }
        stream* from;
        cancel_scope* scope;
        io_result* result;
        event* done;
    } work;
    work.from = &one;
    work.scope = &scope;
    work.result = &result;
    work.done = &done;
    sim::calmly([&] { schedule(work, first->core()); });
    sim::thread outside([&] { one.source().put(); });
    scope.cancel();
    done.wait();
    outside.join();
    sim::check(result.scope_canceled != (result.count == 1), "the read has one result");
    sim::check(one.source().take() == result.scope_canceled, "a cancelled read takes no unit");
}

// Another strand takes the unit before the woken read. `cancel` comes before the read waits again,
// or ends either wait.
SIM_SCENARIO_WITHIN(io, cancel_ends_read_that_waits_again, .preemptions = 2, .stale_reads = 0) {
    stream one;
    engine first(1);
    reader work(one);
    start_calmly(first, work);
    one.source().put();
    const bool faster = one.source().take();
    one.record().cancel();
    work.done.wait();
    sim::check(faster == (work.result.error == std::errc::operation_canceled),
               "a read without a unit was canceled");
}

// The read ends either way, and the descriptor's number is free only afterwards.
SIM_SCENARIO_WITHIN(io, close_races_event, .preemptions = 2, .stale_reads = 0) {
    stream one;
    engine first(1);
    reader work(one);
    start_calmly(first, work);
    sim::thread outside([&] { one.source().put(); });
    one.record().close();
    work.done.wait();
    outside.join();
    sim::check(work.result.count == 1 || work.result.error, "the read has one result");
    sim::check(one.record().descriptor() == -1 || work.result.count == 1,
               "the last use ends the descriptor");
    sim::check(one.read().error == std::errc::bad_file_descriptor, "later calls are refused");
}

SIM_SCENARIO_WITHIN(io, close_races_start_of_wait, .preemptions = 2, .stale_reads = 1) {
    stream one;
    engine first(1);
    reader work(one);
    schedule(work, first->core());
    one.record().close();
    work.done.wait();
    sim::check(static_cast<bool>(work.result.error), "the read has ended with an error");
}

SIM_SCENARIO_WITHIN(io, time_limit_races_event, .preemptions = 2, .stale_reads = 0) {
    stream one;
    engine first(1);
    one.record().set_limit_ns(1'000'000);
    reader work(one);
    start_calmly(first, work);
    sim::thread outside([&] {
        sim::sleep_with_the_next();
        one.source().put();
    });
    work.done.wait();
    outside.join();
    const bool late = work.result.error == std::errc::timed_out;
    sim::check(late != (work.result.count == 1), "the read has one result");
    sim::check(one.source().take() == late, "a read that was late takes no unit");
}

// The event of the first read leaves the timer armed. The second read waits later, and no event
// comes: the timer finds a later deadline, and comes again.
SIM_SCENARIO_WITHIN(io, limit_begins_anew_while_timer_is_armed, .preemptions = 2,
                    .stale_reads = 0) {
    constexpr std::int64_t limit_ns = 1'000'000;
    stream one;
    engine first(1);
    one.record().set_limit_ns(limit_ns);
    reader before(one);
    start_calmly(first, before);
    sim::calmly([&] {
        one.source().put();
        before.done.wait();
    });
    sim::check(before.result.count == 1, "the first read has its unit");
    const std::int64_t start = now_ns();
    reader work(one);
    schedule(work, first->core());
    work.done.wait();
    sim::check(work.result.error == std::errc::timed_out, "the second read has timed out");
    sim::check(now_ns() >= start + limit_ns, "and not early");
}

// Two reads wait, and the limit of the second one is shorter.
SIM_SCENARIO_WITHIN(io, shorter_limit_ends_its_wait_first, .preemptions = 2, .stale_reads = 0) {
    stream one;
    engine first(1);
    reader patient(one), hasty(one);
    one.record().set_limit_ns(8'000'000'000);
    start_calmly(first, patient);
    one.record().set_limit_ns(1'000'000);
    const std::int64_t start = now_ns();
    schedule(hasty, first->core());
    hasty.done.wait();
    sim::check(hasty.result.error == std::errc::timed_out, "the hasty read has timed out");
    sim::check(now_ns() < start + 8'000'000'000, "by its own limit");
    patient.done.wait();
    sim::check(patient.result.error == std::errc::timed_out, "the patient read has timed out");
    sim::check(now_ns() >= start + 8'000'000'000 - 1'000'000'000, "by its own limit");
}

// The timer expires while the stream is closed, and the next stream has the same record.
SIM_SCENARIO_WITHIN(io, limit_of_closed_stream_leaves_next_one_alone, .preemptions = 2,
                    .stale_reads = 0) {
    engine first(1);
    std::optional<stream> one(std::in_place);
    one->record().set_limit_ns(1'000'000);
    std::optional<reader> work(std::in_place, *one);
    start_calmly(first, *work);
    sim::thread outside([&] {
        sim::sleep_with_the_next();
        one->record().close();
    });
    work->done.wait();
    outside.join();
    sim::check(static_cast<bool>(work->result.error), "the read has ended with an error");
    work.reset();
    one.reset();
    stream next;
    next.record().set_limit_ns(1'000'000);
    const std::int64_t start = now_ns();
    reader later(next);
    schedule(later, first->core());
    later.done.wait();
    sim::check(later.result.error == std::errc::timed_out, "the next read has timed out");
    sim::check(now_ns() >= start + 1'000'000, "and not early");
}

// ---- the worker that waits for events

// The busy poll of another worker must not take the wake-up of the one that waits.
SIM_SCENARIO_WITHIN(io, busy_poll_leaves_wake_up_of_poller, .preemptions = 3, .stale_reads = 1) {
    engine none(1);
    io_poller events(none->core());
    parker own_parker;
    own_parker.announce();
    sim::thread sleeper([&] {
        caught_events caught;
        while (!own_parker.poll_until(never, events, caught)) {
        }
    });
    sim::thread busy([&] {
        caught_events caught;
        events.take(caught);
    });
    own_parker.notify();
    sleeper.join();
    busy.join();
}

// The wake-up comes before, while, or after the worker waits for events, and an event ends that
// wait meanwhile. The worker gets both.
SIM_SCENARIO_WITHIN(io, wake_up_races_event_in_poller, .preemptions = 3, .stale_reads = 1) {
    engine none(1);
    sim::descriptor source;
    io_poller events(none->core());
    (void)events.add(source.number(), sennit::sys::event_set::in, 7);
    parker own_parker;
    own_parker.announce();
    unsigned caught_in_all = 0;
    sim::thread sleeper([&] {
        caught_events caught;
        bool chosen = false;
        while (!chosen || caught_in_all == 0) {
            if (chosen)
                events.wait(caught, never);
            else
                chosen = own_parker.poll_until(never, events, caught);
            caught_in_all += caught.count;
            caught.count = 0;
        }
    });
    sim::thread outside([&] { source.put(); });
    own_parker.notify();
    sleeper.join();
    outside.join();
    sim::check(caught_in_all == 1, "the event was taken once");
}

// A task comes from outside while the only worker waits for events.
SIM_SCENARIO_BOTH_WAYS(io, post_wakes_poller, .preemptions = 2, .stale_reads = 1) {
    stream one;
    engine first(1);
    reader work(one);
    start_calmly(first, work);
    errand other;
    schedule(other, first->core());
    other.done.wait();
    sim::calm_from_here();
    one.source().put();
    work.done.wait();
}

// A post meets an event: the worker that waits for events rises for either.
SIM_SCENARIO_WITHIN(io, post_races_event, .preemptions = 2, .stale_reads = 0) {
    stream one;
    engine first(1);
    reader work(one);
    start_calmly(first, work);
    errand other;
    sim::thread outside([&] { one.source().put(); });
    schedule(other, first->core());
    other.done.wait();
    work.done.wait();
    outside.join();
}

namespace {

// A task for one worker, which blocks that worker's thread.
struct pinned_blocker : runnable {
    pinned_blocker(std::uint16_t worker, event& until)
        : runnable([](runnable* self) noexcept {
              auto& me = static_cast<pinned_blocker&>(*self);
              me.begun.set();
              me.end.wait();
          }),
          end(until) {
        affinity = worker;
    }
    event begun;
    event& end;
};

// A worker registers the first descriptor and then blocks its thread, without having pushed any
// work. The other worker, which sleeps on its futex, must come to wait for events. It is the timer
// leader or not, as the first worker is one or the other.
void first_descriptor_finds_poller(std::uint16_t busy) {
    stream one;
    event go;
    reader work(one);
    work.affinity = busy;
    pinned_blocker gate(busy, go), block(busy, work.done);
    engine two(2); // Ends first.
    sim::calmly([&] {
        schedule(gate, two->core());
        gate.begun.wait();
        schedule(work, two->core());
        schedule(block, two->core());
    });
    go.set();
    one.source().put();
    block.begun.wait();
    work.done.wait();
    sim::calm_from_here();
}

} // namespace

SIM_SCENARIO_WITHIN(io, first_descriptor_finds_poller, .preemptions = 2, .stale_reads = 0) {
    first_descriptor_finds_poller(1);
}

SIM_SCENARIO_WITHIN(io, first_descriptor_of_other_worker_finds_poller, .preemptions = 2,
                    .stale_reads = 0) {
    first_descriptor_finds_poller(2);
}

// The poller runs the task of the first event, which does not end before the second event: the
// other worker must wait for the second event.
SIM_SCENARIO_WITHIN(io, poller_in_long_task_is_replaced, .preemptions = 2, .stale_reads = 0) {
    stream a, b;
    engine two(2);
    reader first(a), second(b);
    first.then = &second.done;
    start_calmly(two, first);
    start_calmly(two, second);
    a.source().put();
    b.source().put();
    first.done.wait();
    second.done.wait();
}

// As poller_in_long_task_is_replaced, after events enough for a sentinel beside the poller.
SIM_SCENARIO_WITHIN(
    io, poller_beside_sentinel_is_replaced, .preemptions = 1, .stale_reads = 0,
    .preempt_in =
        "idle_search.cpp idle_search.hpp idle_map.hpp parker.hpp timers.hpp io_record.cpp "
        "runtime_core.hpp runtime_core.cpp descriptors.cpp") {
    stream a, b;
    engine two(2);
    sim::calmly([&] {
        reader before(a), behind(b);
        schedule(before, two->core());
        schedule(behind, two->core());
        a.source().put();
        b.source().put();
        before.done.wait();
        behind.done.wait();
    });
    reader first(a), second(b);
    first.then = &second.done;
    sim::calmly([&] {
        schedule(first, two->core());
        schedule(second, two->core());
    });
    a.source().put();
    b.source().put();
    first.done.wait();
    second.done.wait();
}

// The only worker always has a ready task, and never parks.
SIM_SCENARIO_WITHIN(io, busy_worker_polls, .preemptions = 1, .stale_reads = 0) {
    stream one;
    engine first(1);
    reader work(one);
    bool ended = false;
    first.run([&] {
        schedule(work, first->core());
        yield();
        one.source().put();
        sennit::base::atomic<std::uint32_t> turns{0};
        for (int i = 0; i < 16 && !ended; ++i) {
            yield();
            ended = work.result.count == 1;
        }
    });
    sim::check(ended, "a busy worker delivers events");
}

// The runtime ends while a worker waits for events.
SIM_SCENARIO_WITHIN(io, end_of_runtime_wakes_poller, .preemptions = 2, .stale_reads = 1) {
    stream one;
    std::unique_ptr<engine> last;
    sim::calmly([&] {
        last = std::make_unique<engine>(1);
        reader work(one);
        schedule(work, (*last)->core());
        let_others_wait();
        one.source().put();
        work.done.wait();
    });
    last.reset();
    sim::check(one.record().is_open(), "the stream outlives the runtime");
}
