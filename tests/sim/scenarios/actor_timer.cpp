// SPDX-License-Identifier: Apache-2.0
// Timers of actors: sennit/actor/actor_timer.hpp.
#include "actor_house.hpp"

#include "sennit/actor/actor_timer.hpp"

// Like tell_after and tell_every, which look at the system's clock, but due immediately.
static sennit::actor_timer timer_for(const sennit::actor_ref<keeper>& whom, put message,
                                     std::int64_t period_ns = 0) {
    using namespace sennit;
    return actor_timer(detail::begin_timer(
        whom.address(), 0, period_ns,
        {actor_ref<keeper>::make_told(message), &detail::copy_told<put>, &detail::drop_told<put>}));
}

// A cancel races the firing of its timer, which sends a message.
SIM_SCENARIO_WITHIN(actor, cancel_races_timer, .preemptions = 2, .stale_reads = 0) {
    house all(1, 1);
    auto timer = timer_for(all.actor, put{1});
    const bool cancelled = timer.cancel();
    sim::check(!timer.pending(), "the timer is not pending either way");
    if (!cancelled) all.what.enough.wait();
    all.actor.stop();
    all.group->join();
    sim::check(all.what.sum == (cancelled ? 0 : 1),
               "the message was handled, or the timer was cancelled");
}

// A repeating timer is cancelled while its message re-arms it: it does not stay armed.
SIM_SCENARIO_WITHIN(actor, cancel_races_repeating_timer, .preemptions = 2, .stale_reads = 0) {
    house all(1, 9);
    auto timer = timer_for(all.actor, put{0}, 1'000'000);
    sim::check(timer.cancel(), "a repeating timer is always pending");
    all.actor.stop();
    all.group->join();
    sim::check(all.one->core().timers().next_ns() == sennit::sched::never, "no timer is armed");
}

// A receiver ends while its timer fires.
SIM_SCENARIO_WITHIN(actor, end_of_receiver_races_timer, .preemptions = 2, .stale_reads = 0) {
    house all(1, 1);
    auto timer = timer_for(all.actor, put{1});
    all.actor.tell(quit{});
    all.group->join();
    sim::check(!timer.pending() && !timer.cancel(), "the timer is gone");
}
