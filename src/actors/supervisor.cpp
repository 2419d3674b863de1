// SPDX-License-Identifier: Apache-2.0
// Supervision: the reaction to the end of a child.
//
// State of a child: down (not started yet), running, ending (asked to end) or waiting (for its
// restart). `must_end` marks the children that must end. They end one after the other, the last one
// first: `advance` asks the next child when the one before is gone. When no child is left to end,
// the supervisor restarts the waiting children after their delay, or ends. With one_for_one each
// waiting child has a timer of its own. With the other two strategies all waiting children restart
// together, and a failure meanwhile begins the delay again.
#include "sennit/actor/supervisor.hpp"

#include <algorithm>
#include <bit>

namespace sennit {

namespace detail {

sched::address child_cell::start(actor_group& where, sched::address supervisor) {
    spawn_options how = how_.spawn;
    how.watcher = supervisor;
    const sched::address made = make(where, how);
    current_.store(std::bit_cast<std::uint64_t>(made));
    starts_.fetch_add(1);
    return made;
}

void child_cell::ended() noexcept {
    current_.store(0);
}

void child_cell::claim(sched::address supervisor) {
    std::uint64_t before = owner_.load();
    do {
        const auto other = std::bit_cast<sched::address>(before);
        if (other != supervisor && sched::alive(other))
            throw std::logic_error("sennit: [SNT-504] a child has one supervisor at a time, and "
                                   "this one has another: " +
                                   name_);
    } while (!owner_.cas(before, std::bit_cast<std::uint64_t>(supervisor)));
}

void child_cell::release(sched::address supervisor) noexcept {
    auto mine = std::bit_cast<std::uint64_t>(supervisor);
    (void)owner_.cas(mine, 0);
}

sched::address child_cell::current() const noexcept {
    return std::bit_cast<sched::address>(current_.load());
}

std::uint64_t child_cell::restarts() const noexcept {
    const std::uint64_t starts = starts_.load();
    return starts == 0 ? 0 : starts - 1;
}

} // namespace detail

namespace {

std::string text_of(const std::string& child, unsigned restarts) {
    std::string text = "sennit: [SNT-505] a supervisor gave up after more than " +
                       std::to_string(restarts) + " restarts within supervision::within";
    if (!child.empty()) text += ", the last one of " + child;
    return text;
}

} // namespace

restarts_exceeded::restarts_exceeded(const std::string& child, unsigned restarts,
                                     std::exception_ptr cause)
    : std::runtime_error(text_of(child, restarts)), cause_(std::move(cause)) {}

supervisor::supervisor(const supervision& how, std::vector<any_child> children) : how_(how) {
    const struct backoff& waits = how.backoff;
    if (!(waits.jitter >= 0 && waits.jitter <= 1) || waits.first < waits.first.zero() ||
        waits.most < waits.first || how.within < how.within.zero() || !how.now)
        throw std::invalid_argument(
            "sennit: [SNT-506] the options of a supervisor are out of range: jitter must be from 0 "
            "to 1, first, most and within not negative, most not below first, and now not empty");
    for (const any_child& one : children) add(one);
}

void supervisor::add(const any_child& which) {
    if (std::ranges::any_of(children_, [&](const auto& one) { return one->cell == which.cell(); }))
        throw std::logic_error("sennit: [SNT-507] this supervisor has that child already: " +
                               which.cell()->name());
    auto one = std::make_unique<entry>();
    one->number = ++numbers_;
    one->cell = which.cell();
    children_.push_back(std::move(one));
}

// Throws the exceptions of the child's constructor.
void supervisor::start(entry& one) {
    one.state = state::waiting;
    one.started = how_.now();
    one.cell->claim(address());
    one.who = one.cell->start(group(), address());
    one.state = state::running;
}

void supervisor::remove(entry& one) {
    one.cell->release(address());
    std::erase_if(children_, [&](const auto& each) { return each.get() == &one; });
    if (children_.empty() && !how_.stays && !ends_) end_all(nullptr);
}

// ---- messages -----------------------------------------------------------------------------------

void supervisor::on(detail::start_children, reply_to<void> answer) {
    try {
        for (const auto& one : children_) start(*one);
        answer.set();
    } catch (...) {
        start_error_ = std::current_exception();
        starter_ = std::move(answer); // answered when the started children are gone
        end_all(nullptr);
    }
}

void supervisor::on(add_child m, reply_to<void> answer) {
    if (ends_) return; // the asker is told that the supervisor is down
    try {
        add(m.which);
    } catch (...) {
        return answer.fail(std::current_exception());
    }
    try {
        start(*children_.back());
        answer.set();
    } catch (...) {
        answer.fail(std::current_exception());
        children_.back()->cell->release(address());
        children_.pop_back();
    }
}

void supervisor::on(end_supervision, reply_to<void> answer) {
    waiting_.push_back(std::move(answer));
    if (!ends_) end_all(nullptr);
}

void supervisor::end_as_child(const actor_ref<supervisor>& me) {
    auto* const one = actor_ref<supervisor>::make_told(end_supervision{});
    one->urgent = true;
    // Uncounted: the supervisor's own messages may have taken the room.
    (void)sched::deliver_uncounted(me.address(), *one);
}

// If the supervisor is killed, or its group ends, it does not wait for its children. Otherwise no
// child is left here.
void supervisor::stopped(exit_reason) noexcept {
    for (auto one = children_.rbegin(); one != children_.rend(); ++one) {
        try {
            if ((*one)->state == state::running) (*one)->cell->end((*one)->who);
        } catch (const std::bad_alloc&) {
            // the child lives on, until its group ends
        }
        (*one)->cell->release(address());
    }
}

void supervisor::on(const down& m) {
    const auto found = std::find_if(children_.begin(), children_.end(), [&](const auto& one) {
        return one->who == m.who && (one->state == state::running || one->state == state::ending);
    });
    if (found == children_.end())
        return; // the child's constructor failed, or the watch is not the supervisor's
    entry& one = **found;
    const bool asked = one.state == state::ending || one.must_end;
    const bool by_error = m.why == exit_reason::error || m.why == exit_reason::linked;
    one.state = state::waiting;
    one.must_end = false;
    one.cell->ended();
    if (ends_) return advance();
    const restart kind = one.cell->restart();
    if (kind == restart::temporary || (kind == restart::transient && !by_error && !asked)) {
        remove(one);
        if (asked && !ends_) advance();
        return;
    }
    if (asked) return advance();
    if (m.why == exit_reason::shutdown) return end_all(nullptr); // the group ends
    failed(one, m.error);
}

// ---- restarts -----------------------------------------------------------------------------------

void supervisor::failed(entry& one, std::exception_ptr error) {
    const auto now = how_.now();
    restarts_.push_back(now);
    while (restarts_.front() < now - how_.within) restarts_.pop_front();
    if (restarts_.size() > how_.restarts)
        return end_all(std::make_exception_ptr(
            restarts_exceeded(one.cell->name(), how_.restarts, std::move(error))));
    if (now - one.started >= how_.within) one.failures = 0;
    const auto delay = how_.backoff.random_delay(++one.failures);
    if (how_.strategy == strategy::one_for_one) {
        one.timer = tell_after(self(), delay, detail::restart_due{one.number});
        return;
    }
    const std::uint64_t from = how_.strategy == strategy::one_for_all ? 0 : one.number;
    for (const auto& other : children_)
        if (other->state == state::running && other->number > from) other->must_end = true;
    timer_.cancel();
    restarting_ = true;
    delay_ = std::max(delay_, delay);
    advance();
}

void supervisor::on(detail::restart_due m) {
    if (ends_) return;
    for (std::size_t i = 0; i < children_.size(); ++i) {
        entry& one = *children_[i];
        if (one.state != state::waiting || (m.which != 0 && m.which != one.number)) continue;
        try {
            start(one);
        } catch (...) {
            return failed(one, std::current_exception());
        }
    }
}

void supervisor::end_all(std::exception_ptr error) {
    ends_ = true;
    error_ = std::move(error);
    timer_.cancel();
    for (const auto& one : children_) {
        one->timer.cancel();
        one->must_end = one->state == state::running || one->state == state::ending;
    }
    advance();
}

// Ends the next child that must end. If there is none, restarts the waiting children or ends the
// supervisor.
void supervisor::advance() {
    for (auto one = children_.rbegin(); one != children_.rend(); ++one) {
        entry& last = **one;
        if (last.state == state::ending) return; // this child is not gone yet
        if (!last.must_end) continue;
        last.state = state::ending;
        return last.cell->end(last.who);
    }
    if (!ends_) {
        if (!std::exchange(restarting_, false)) return;
        timer_ = tell_after(self(), std::exchange(delay_, delay_.zero()), detail::restart_due{0});
        return;
    }
    for (const auto& one : children_) one->cell->release(address());
    for (auto& one : waiting_) one.set();
    if (start_error_) starter_.fail(start_error_);
    if (error_) std::rethrow_exception(error_);
    stop();
}

} // namespace sennit
