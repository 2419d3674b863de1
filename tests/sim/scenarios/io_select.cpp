// SPDX-License-Identifier: Apache-2.0
// select over a descriptor: src/io/select.cpp, and the steps of src/io/runtime/io_record.hpp that
// it makes (`prepare_entry`, `enter`, `leave`, `pass_on`).
//
// The selects are in plain threads, and the runtime's only worker delivers the events. A stream is
// watched before the exploration begins, unless a scenario says otherwise.
#include "engine.hpp"

#include "ground/descriptors.hpp"
#include "io/access.hpp"
#include "io/runtime/io_record.hpp"
#include "sennit/channel.hpp"
#include "sennit/io/select.hpp"
#include "sennit/select.hpp"
#include "sys/event_set.hpp"
#include "threads.hpp"

#include <functional>
#include <optional>
#include <system_error>
#include <utility>

namespace {

using namespace sennit::sched;
namespace io = sennit::io;
using numbers = sennit::channel<int>;

struct has_source { // The base, because the handle ends first.
    sim::descriptor source;
};

// A handle of a simulated descriptor.
class peer : private has_source, public io::handle {
public:
    peer() : handle(io_record::make(source.number(), false)) {}
    sim::descriptor& kernel() noexcept { return source; }
    io_record& record() noexcept { return *io::detail::handle_access::record(*this); }
};

// The results of the selects of one thread.
struct outcome {
    int units = 0;
    int in_vain = 0; // The case was chosen, and there was no unit.
    int popped = 0;
    std::error_code failed;
};

// A case that takes one unit, as on_accept takes one connection.
class take_unit final : public io::detail::handle_case {
public:
    take_unit(peer& from, outcome& into) : handle_case(from, false), from_(&from), into_(&into) {}
    void happen() override {
        if (failed_)
            into_->failed = failed_;
        else
            into_->units += static_cast<int>(has_unit_);
    }

private:
    bool take() override {
        has_unit_ = from_->kernel().take();
        into_->in_vain += static_cast<int>(!has_unit_);
        return has_unit_;
    }

    peer* from_;
    outcome* into_;
    bool has_unit_ = false;
};

// Chooses a unit of the stream.
void select_unit(peer& from, outcome& into) {
    sennit::select(take_unit(from, into));
}
// Chooses a unit of the stream or a value of the channel.
void select_unit_or_number(peer& from, numbers& other, outcome& into) {
    sennit::select(take_unit(from, into), sennit::on_pop(other, [&](int n) { into.popped = n; }));
}

// From here on the set of the runtime watches the stream.
void watch_calmly(engine& on, peer& one) {
    sim::calmly([&] {
        on.run([&] {
            std::error_code refused;
            (void)one.record().prepare_entry(io_direction::read, refused);
        });
    });
}

// Starts a thread, and lets it wait.
void start_calmly(std::optional<sim::thread>& one, std::function<void()> body) {
    sim::calmly([&] { one.emplace(std::move(body)); });
}

int taken_from(numbers& one) {
    int value = 0;
    (void)one.try_pop(value);
    return value;
}

} // namespace

// ---- events against the start of a select

// The event comes before the question to the system, between the question and the entry into the
// list, or while the select waits.
SIM_SCENARIO_WITHIN(io_select, event_meets_start_of_select, .preemptions = 3, .stale_reads = 1) {
    peer one;
    engine first(1);
    watch_calmly(first, one);
    sim::thread outside([&] { one.kernel().put(); });
    int units = 0;
    sennit::select(io::on_readable(one, [&] { units = one.kernel().take() ? 1 : 0; }));
    sim::check(units == 1, "the case has happened, and the unit was there");
    outside.join();
}

// As event_meets_start_of_select, for a fiber, and for a stream that the select has watched.
SIM_SCENARIO_WITHIN(io_select, event_meets_start_of_first_select, .preemptions = 2,
                    .stale_reads = 1) {
    peer one;
    engine first(1);
    sim::thread outside([&] { one.kernel().put(); });
    outcome got;
    first.run([&] { select_unit(one, got); });
    sim::check(got.units == 1, "the case has taken the unit");
    outside.join();
}

// An event and a value come while the select begins.
SIM_SCENARIO_WITHIN(io_select, event_and_value_meet_start_of_select, .preemptions = 2,
                    .stale_reads = 1) {
    peer one;
    numbers other(1);
    engine first(1);
    watch_calmly(first, one);
    sim::thread outside([&] { one.kernel().put(); });
    sim::thread sender([&] { (void)other.push(7); });
    outcome got;
    select_unit_or_number(one, other, got);
    outside.join();
    sender.join();
    sim::check(got.units + got.popped / 7 == 1, "one case has happened");
    sim::check(one.kernel().take() == (got.units == 0), "an event not chosen leaves its unit");
    sim::check(taken_from(other) == 7 - got.popped, "a value not chosen stays in the channel");
}

// ---- events against the other ends of a wait

// The event and the channel's partner claim the select.
SIM_SCENARIO_WITHIN(io_select, event_races_partner_of_channel, .preemptions = 3, .stale_reads = 1) {
    peer one;
    numbers other;
    const time_point when = soon();
    engine first(1);
    watch_calmly(first, one);
    outcome got;
    std::optional<sim::thread> chooser;
    start_calmly(chooser, [&] { select_unit_or_number(one, other, got); });
    sim::thread outside([&] { one.kernel().put(); });
    const sennit::channel_status pushed = other.push_until(7, when);
    chooser->join();
    outside.join();
    sim::check(got.units + got.popped / 7 == 1, "one case has happened");
    sim::check((pushed == sennit::channel_status::success) == (got.popped == 7),
               "the partner and the select agree");
    sim::check(one.kernel().take() == (got.units == 0), "an event not chosen leaves its unit");
}

// As event_races_partner_of_channel, and a second select waits behind the first.
SIM_SCENARIO_WITHIN(io_select, event_that_is_not_chosen_is_for_the_next_waiter, .preemptions = 2,
                    .stale_reads = 0) {
    peer one;
    numbers other(1);
    engine first(1);
    watch_calmly(first, one);
    outcome got, next;
    std::optional<sim::thread> chooser, behind;
    start_calmly(chooser, [&] { select_unit_or_number(one, other, got); });
    start_calmly(behind, [&] { select_unit(one, next); });
    sim::thread outside([&] { one.kernel().put(); });
    (void)other.push(7);
    chooser->join();
    outside.join();
    sim::check(got.units + got.popped / 7 == 1, "one case has happened");
    if (got.units == 1) one.kernel().put(); // Otherwise the unit is for the other select.
    behind->join();
    sim::check(next.units == 1 && !one.kernel().take(), "the next waiter has taken the unit");
    sim::check(taken_from(other) == 7 - got.popped, "a value not chosen stays in the channel");
}

// The time of the first select comes together with the event.
SIM_SCENARIO_WITHIN(io_select, event_that_comes_with_the_time_is_for_the_next_waiter,
                    .preemptions = 2, .stale_reads = 0) {
    peer one;
    engine first(1);
    watch_calmly(first, one);
    outcome got, next;
    bool late = false;
    const time_point when = soon();
    std::optional<sim::thread> chooser, behind;
    start_calmly(chooser, [&] {
        sennit::select(take_unit(one, got), sennit::at(when, [&] { late = true; }));
    });
    start_calmly(behind, [&] { select_unit(one, next); });
    sleep_until(when);
    one.kernel().put();
    chooser->join();
    sim::check(late == (got.units == 0), "one case has happened");
    if (!late) one.kernel().put();
    behind->join();
    sim::check(next.units == 1 && !one.kernel().take(), "the next waiter has taken the unit");
}

// The scope of the select is cancelled.
SIM_SCENARIO_WITHIN(io_select, cancelled_select_takes_no_unit, .preemptions = 3, .stale_reads = 0) {
    peer one;
    engine first(1);
    watch_calmly(first, one);
    cancel_scope scope(nullptr);
    outcome got;
    bool whole = false;
    std::optional<sim::thread> chooser;
    start_calmly(chooser, [&] { whole = not_cancelled(scope, [&] { select_unit(one, got); }); });
    sim::thread outside([&] { one.kernel().put(); });
    scope.cancel();
    chooser->join();
    outside.join();
    sim::check(whole == (got.units == 1), "the select has one result");
    sim::check(one.kernel().take() != whole, "a cancelled select takes no unit");
}

// ---- close and cancel of the handle

SIM_SCENARIO_WITHIN(io_select, close_races_event_of_select, .preemptions = 2, .stale_reads = 1) {
    peer one;
    engine first(1);
    watch_calmly(first, one);
    outcome got;
    std::optional<sim::thread> chooser;
    start_calmly(chooser, [&] { select_unit(one, got); });
    sim::thread outside([&] { one.kernel().put(); });
    one.close();
    chooser->join();
    outside.join();
    sim::check(got.units == 1 || got.failed == std::errc::operation_canceled,
               "the select has taken the unit, or was ended by the close");
    sim::check(one.kernel().take() == (got.units == 0), "a closed select takes no unit");
    sim::check(one.record().descriptor() == -1, "the last use ends the descriptor");
}

// The close comes before the select, between its question and its entry, or while it waits.
SIM_SCENARIO_WITHIN(io_select, close_meets_start_of_select, .preemptions = 3, .stale_reads = 1) {
    peer one;
    numbers other(1);
    engine first(1);
    watch_calmly(first, one);
    sim::thread closer([&] { one.close(); });
    bool ready = false;
    std::error_code why;
    const std::size_t which =
        sennit::select(io::on_readable(
                           one, [&] { ready = true; }, [&](std::error_code code) { why = code; }),
                       sennit::on_pop(other, [](int) {}));
    closer.join();
    sim::check(which == 0 && !ready, "the case of the descriptor has ended the select");
    sim::check(why == std::errc::operation_canceled || why == std::errc::bad_file_descriptor,
               "the error says that the descriptor is closed");
    sim::check(one.record().descriptor() == -1, "the last use ends the descriptor");
}

// `cancel` or the event ends the wait. A unit that was not taken stays.
SIM_SCENARIO_WITHIN(io_select, cancel_of_handle_races_event_of_select, .preemptions = 3,
                    .stale_reads = 0) {
    peer one;
    engine first(1);
    watch_calmly(first, one);
    outcome got;
    std::optional<sim::thread> chooser;
    start_calmly(chooser, [&] { select_unit(one, got); });
    sim::thread outside([&] { one.kernel().put(); });
    one.cancel();
    chooser->join();
    outside.join();
    sim::check((got.units == 1) != (got.failed == std::errc::operation_canceled),
               "the select has one result");
    sim::check(one.kernel().take() == (got.units == 0), "a canceled select takes no unit");
    sim::check(one.is_open(), "the descriptor is still open");
}

// Another strand takes the unit before the woken select. `cancel` comes before the select waits
// again, or ends either wait.
SIM_SCENARIO_WITHIN(io_select, cancel_ends_select_that_waits_again, .preemptions = 3,
                    .stale_reads = 0) {
    peer one;
    engine first(1);
    watch_calmly(first, one);
    outcome got;
    std::optional<sim::thread> chooser;
    start_calmly(chooser, [&] { select_unit(one, got); });
    one.kernel().put();
    const bool faster = one.kernel().take();
    one.cancel();
    chooser->join();
    sim::check(faster == (got.failed == std::errc::operation_canceled),
               "a select without a unit was canceled");
}

// ---- an earlier descriptor with the same number

// A worker has taken an event out of the set before the descriptor was closed, and delivers it to
// the record, which belongs to another descriptor by then.
SIM_SCENARIO_WITHIN(io_select, event_of_earlier_descriptor_chooses_nothing, .preemptions = 2,
                    .stale_reads = 0) {
    std::optional<peer> one(std::in_place);
    engine first(1); // Ends first.
    watch_calmly(first, *one);
    const int number = one->kernel().number();
    const io_record* const record = &one->record();
    const std::uint64_t tag = one->kernel().tag();
    sim::thread late([&] {
        wake_ups woken;
        (void)io_record::find(tag)->deliver(tag, sennit::sys::event_set::in, woken); // No hook.
    });
    one.reset();
    one.emplace();
    sim::check(one->kernel().number() == number && &one->record() == record,
               "the number and the record are used again");
    outcome got;
    sim::thread outside([&] { one->kernel().put(); });
    first.run([&] { select_unit(*one, got); });
    sim::check(got.units == 1 && got.in_vain == 0, "only the event of this descriptor counts");
    late.join();
    outside.join();
}

// ---- two selects of one descriptor

// One event stands for two units, or each unit has its own.
SIM_SCENARIO_WITHIN(io_select, two_selects_take_two_units, .preemptions = 2, .stale_reads = 0) {
    peer one;
    engine first(1);
    watch_calmly(first, one);
    outcome a, b;
    std::optional<sim::thread> ahead, behind;
    start_calmly(ahead, [&] { select_unit(one, a); });
    start_calmly(behind, [&] { select_unit(one, b); });
    one.kernel().put();
    one.kernel().put();
    ahead->join();
    behind->join();
    sim::check(a.units == 1 && b.units == 1, "each select has taken a unit");
}

// The second unit comes after one select has ended.
SIM_SCENARIO_WITHIN(io_select, next_event_is_for_the_other_select, .preemptions = 2,
                    .stale_reads = 0) {
    peer one;
    engine first(1);
    watch_calmly(first, one);
    outcome a, b;
    event any;
    std::optional<sim::thread> ahead, behind;
    start_calmly(ahead, [&] {
        select_unit(one, a);
        any.set();
    });
    start_calmly(behind, [&] {
        select_unit(one, b);
        any.set();
    });
    one.kernel().put();
    any.wait();
    sim::check(a.units + b.units == 1, "one unit ends one select");
    one.kernel().put();
    ahead->join();
    behind->join();
    sim::check(a.units == 1 && b.units == 1, "each select has taken a unit");
}
