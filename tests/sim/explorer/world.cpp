// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include "ground/ground.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

namespace sennit::sim {

namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;

std::string hex(std::uint64_t value) {
    if (value < 1'000'000) return std::to_string(value);
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

// What another execution left in the thread's record of exceptions belongs to nobody.
void forget_exceptions() noexcept {
    sys::thread_exception_globals() = {};
}

} // namespace

world& world::the() noexcept {
    static world only;
    return only;
}

// ---- one execution -------------------------------------------------------------------------------------------------

outcome world::run(const std::function<void()>& scenario, strategy& by, limits within, trace* into) {
    memory_.begin_execution();
    reset_ground();
    plains_.clear();
    for (thread& one : threads_) one = thread{};
    count_ = 0;
    strategy_ = &by;
    limits_ = within;
    trace_ = into;
    outcome_ = {};
    time_ = 1'000'000;
    stuck_ = nullptr;
    calm_ = false;
    hold_next_ = false;
    if (limits_.preempt_in != preempt_in_known_) {
        preemptible_.clear();
        preempt_in_known_ = limits_.preempt_in;
    }
    updating_ = nullptr;
    start_thread(scenario);
    threads_[0].known.at[0] = 1;
    current_ = 0;
    sys::switch_stacks(driver_, threads_[0].machine, sys::thread_exception_globals());
    current_ = nobody;
    forget_exceptions();
    for (thread& one : threads_) one.body = nullptr; // of abandoned ones
    return std::move(outcome_);
}

unsigned world::start_thread(std::function<void()> body) {
    if (count_ == max_threads) fail("a scenario starts too many threads");
    const unsigned number = count_++;
    thread& made = threads_[number];
    if (!stacks_[number]) stacks_[number] = static_cast<std::byte*>(std::aligned_alloc(4096, stack_bytes));
    if (!stacks_[number]) throw std::bad_alloc();
    made.machine.sp = sys::prepare_stack(stacks_[number] + stack_bytes, [] { thread_main(); });
    made.machine.stack_low = stacks_[number];
    made.machine.stack_size = stack_bytes;
    made.body = std::move(body);
    made.is = std::exchange(hold_next_, false) ? state::held : state::ready;
    if (current_ != nobody) {
        made.known = me().known;
        ++me().known.at[current_];
    }
    made.known.at[number] = 1;
    return number;
}

void world::thread_main() noexcept {
    world& self = the();
    try {
        self.me().body();
    } catch (const std::exception& error) {
        self.fail(std::string("an exception left a thread: ") + error.what());
    } catch (...) {
        self.fail("an exception left a thread");
    }
    self.end_thread();
    std::abort(); // an ended thread is never switched to
}

void world::end_thread() {
    me().is = state::ended;
    me().body = nullptr;
    for (unsigned t = 0; t < count_; ++t)
        if (threads_[t].is == state::joining && threads_[t].joins == current_) threads_[t].is = state::ready;
    if (current_ == 0) {
        for (unsigned t = 1; t < count_; ++t)
            if (threads_[t].is != state::ended) fail("the scenario ended before its thread " + std::to_string(t));
        sys::switch_stacks(threads_[0].machine, driver_, sys::thread_exception_globals());
    }
    give_way(false);
}

void world::fail(const std::string& what) {
    if (current_ == nobody) {
        std::fprintf(stderr, "sim: failure outside of an execution: %s\n", what.c_str());
        std::abort();
    }
    note(me().where, "FAILS: " + what);
    outcome_.failed = true;
    outcome_.what = "T" + std::to_string(current_) + ": " + what;
    sys::switch_stacks(me().machine, driver_, sys::thread_exception_globals());
    std::abort(); // abandoned
}

// ---- who goes on ---------------------------------------------------------------------------------------------------

thread_set world::ready() const noexcept {
    thread_set set = 0;
    for (unsigned t = 0; t < count_; ++t)
        if (threads_[t].is == state::ready) set |= 1u << t;
    return set;
}

void world::step(place where) {
    me().where = where;
    if (++outcome_.steps > limits_.steps) fail("livelock: more than " + std::to_string(limits_.steps) + " steps");
}

void world::point(place where) {
    step(where);
    if (count_ > 1 && !calm_ && (!limits_.preempt_in || may_preempt_at(where))) give_way(true);
}

bool world::may_preempt_at(place where) {
    explorers_own guard;
    const auto [found, is_new] = preemptible_.try_emplace(where.file_name(), false);
    if (is_new) {
        const std::string_view file = base_name(where);
        const std::string_view list = limits_.preempt_in;
        for (std::size_t at = list.find(file); at != list.npos; at = list.find(file, at + 1))
            found->second |=
                (at == 0 || list[at - 1] == ' ') && (at + file.size() == list.size() || list[at + file.size()] == ' ');
    }
    return found->second;
}

void world::give_way(bool can_go_on) {
    thread_set all = ready();
    if (all == 0) {
        if (!let_time_pass()) stuck();
        all = ready();
    }
    thread_choice choice{};
    if (can_go_on && !me().yielded) {
        choice = {all, 1u << current_, current_};
    } else {
        thread_set free = 0;
        for (unsigned t = 0; t < count_; ++t)
            if ((all >> t & 1) != 0 && !threads_[t].yielded) free |= 1u << t;
        if (free == 0) { // everybody waits in a loop: again from the start
            for (thread& one : threads_) one.yielded = false;
            free = all;
            if (can_go_on && std::popcount(all) > 1) free &= ~(1u << current_);
        }
        const auto behind = static_cast<thread_set>(free & ~((2u << current_) - 1)); // in turn, not the first again
        choice = {free, free, static_cast<unsigned>(std::countr_zero(behind != 0 ? behind : free))};
    }
    unsigned next = choice.usual;
    if (std::popcount(choice.all) > 1 && !calm_) {
        explorers_own guard;
        next = strategy_->choose_thread(choice);
        outcome_.decisions.push_back(static_cast<std::uint8_t>(next));
    }
    if (next != current_) switch_to(next);
    me().yielded = false;
}

void world::release_threads() noexcept {
    for (unsigned t = 0; t < count_; ++t)
        if (threads_[t].is == state::held) threads_[t].is = state::ready;
}

void world::switch_to(unsigned next) {
    thread& from = me();
    current_ = next;
    sys::switch_stacks(from.machine, threads_[next].machine, sys::thread_exception_globals());
}

// Ends the waits with the earliest deadline, all at once; false when none has one.
bool world::let_time_pass() {
    std::int64_t earliest = never;
    for (const thread& one : threads_)
        if (one.is == state::waiting) earliest = std::min(earliest, one.deadline);
    if (earliest == never) return false;
    time_ = std::max(time_, earliest);
    for (thread& one : threads_) {
        if (one.is != state::waiting || one.deadline != earliest) continue;
        one.is = state::ready;
        one.timed_out = true;
    }
    return true;
}

void world::stuck() {
    std::string text = "deadlock:";
    for (unsigned t = 0; t < count_; ++t) {
        const thread& one = threads_[t];
        if (one.is != state::waiting && one.is != state::joining) continue;
        text += " T" + std::to_string(t) + (one.is == state::waiting ? " sleeps" : " joins") + " at " +
                base_name(one.where) + ":" + std::to_string(one.where.line()) + ";";
    }
    if (stuck_) {
        auto look = std::exchange(stuck_, nullptr);
        limits_.steps += 10'000;
        // The look runs as the current thread, which alone is ready, and sees the newest values.
        me().is = state::ready;
        calm_ = true;
        if (const std::string more = look(); !more.empty()) text = "lost wake-up: " + more + "; " + text;
    }
    fail(text);
}

void world::yield(place where) {
    step(where);
    me().yielded = true;
    strategy_->yielded(current_);
    if (count_ > 1) give_way(true);
}

void world::join_thread(unsigned other, place where) {
    point(where);
    if (threads_[other].is != state::ended) {
        me().is = state::joining;
        me().joins = other;
        give_way(false);
    }
    me().known.join(threads_[other].known);
}

// ---- atomic words --------------------------------------------------------------------------------------------------

word& world::access(const void* address, std::uint64_t value, place where) {
    point(where);
    explorers_own guard;
    word& found = memory_.at(address, value);
    if (found.dead) fail("an atomic word is used after its end");
    if (found.made_at != 0 && !me().known.knows(found.made_by, found.made_at))
        fail("race: an atomic word is used that T" + std::to_string(found.made_by) + " may still be making");
    return found;
}

std::uint64_t world::load(const void* address, std::uint64_t value, order with, place where) {
    with = effective(operation::load, with, where);
    word& from = access(address, value, where);
    explorers_own guard;
    unsigned age = 0;
    if (const unsigned count = calm_ ? 1 : memory::readable(from, current_, me().known, with); count > 1) {
        age = strategy_->choose_age(count);
        outcome_.decisions.push_back(static_cast<std::uint8_t>(age));
    }
    const std::uint64_t result = memory::read(from, age, current_, me().known, with);
    if (trace_)
        trace_->add({current_, std::string("load ") + sim::name(with), trace_->called(address, from.number),
                     hex(result) + (age == 0 ? "" : " (stale, newest is " + hex(from.newest().value) + ")"), where});
    return result;
}

void world::store(const void* address, std::uint64_t before, std::uint64_t value, order with, place where) {
    with = effective(operation::store, with, where);
    word& to = access(address, before, where);
    explorers_own guard;
    if (trace_)
        trace_->add({current_, std::string("store ") + sim::name(with), trace_->called(address, to.number),
                     hex(to.newest().value) + " -> " + hex(value), where});
    memory::write(to, value, current_, me().known, with, false);
}

std::uint64_t world::begin_update(const void* address, std::uint64_t value, operation what, order with, place where) {
    word& target = access(address, value, where); // others may run here, and update
    updating_ = &target;
    update_order_ = effective(what, with, where);
    update_what_ = what;
    update_where_ = where;
    return updating_->newest().value;
}

void world::end_update(std::uint64_t value) {
    explorers_own guard;
    word& target = *updating_;
    const std::uint64_t old = memory::read(target, 0, current_, me().known, update_order_);
    if (trace_)
        trace_->add({current_, std::string(sim::name(update_what_)) + " " + sim::name(update_order_),
                     trace_->called(target.address, target.number), hex(old) + " -> " + hex(value), update_where_});
    memory::write(target, value, current_, me().known, update_order_, true);
}

void world::abandon_update(order failure) {
    explorers_own guard;
    word& target = *updating_;
    if (!acquires(update_order_)) failure = order::relaxed; // a mutant weakens both halves
    const std::uint64_t old = memory::read(target, 0, current_, me().known, failure);
    if (trace_)
        trace_->add({current_, std::string(sim::name(update_what_)) + " fails",
                     trace_->called(target.address, target.number), hex(old), update_where_});
}

void world::construct(const void* address, std::uint64_t value) {
    explorers_own guard;
    memory_.construct(address, value, current_, ++me().known.at[current_]);
}

void world::destroy(const void* address) {
    explorers_own guard;
    memory_.destroy(address);
}

void world::barrier_all(place where) {
    point(where);
    note(where, "membarrier");
    if (mutated("membarrier")) return;
    clock all{};
    for (unsigned t = 0; t < count_; ++t) all.join(threads_[t].known);
    for (unsigned t = 0; t < count_; ++t) threads_[t].known = all;
}

// ---- plain data ----------------------------------------------------------------------------------------------------

void world::plain_read(plain& data, place where) {
    me().where = where;
    if (data.written_at != 0 && !me().known.knows(data.written_by, data.written_at))
        fail("data race: a read beside a write of T" + std::to_string(data.written_by));
    data.read_at[current_] = ++me().known.at[current_];
}

void world::plain_write(plain& data, place where) {
    me().where = where;
    if (data.written_at != 0 && !me().known.knows(data.written_by, data.written_at))
        fail("data race: a write beside a write of T" + std::to_string(data.written_by));
    for (unsigned t = 0; t < max_threads; ++t)
        if (data.read_at[t] != 0 && !me().known.knows(t, data.read_at[t]))
            fail("data race: a write beside a read of T" + std::to_string(t));
    data.written_by = static_cast<std::uint8_t>(current_);
    data.written_at = ++me().known.at[current_];
    data.read_at = {};
}

world::plain& world::plain_at(const void* address) {
    explorers_own guard;
    return plains_[address];
}

// ---- sleeping ------------------------------------------------------------------------------------------------------

bool world::wait(const void* address, std::uint64_t value, std::uint32_t expected, std::int64_t deadline, place where) {
    // The kernel compares under its own lock: it sees the newest value and orders nothing for the caller.
    word& on = access(address, value, where);
    if (static_cast<std::uint32_t>(on.newest().value) != expected) {
        note(where, "does not sleep");
        return true;
    }
    note(where, "sleeps");
    me().is = state::waiting;
    me().waits_on = address;
    me().deadline = deadline;
    me().timed_out = false;
    give_way(false);
    note(where, me().timed_out ? "times out" : "wakes");
    return !me().timed_out;
}

void world::wake(const void* address, int count, place where) {
    point(where);
    note(where, "wakes others");
    for (unsigned t = 0; t < count_ && count > 0; ++t)
        if (threads_[t].is == state::waiting && threads_[t].waits_on == address) {
            threads_[t].is = state::ready;
            --count;
        }
}

// ---- notes and mutants ---------------------------------------------------------------------------------------------

void world::note(place where, const std::string& text) {
    if (!trace_ || current_ == nobody) return;
    explorers_own guard;
    trace_->add({current_, text, "", "", where});
}

void world::name(const void* address, std::string text) {
    if (!trace_) return;
    explorers_own guard;
    trace_->names[address] = std::move(text);
}

order world::effective(operation what, order with, place where) {
    if (record_sites) {
        explorers_own guard;
        record_sites->push_back({where, what, with});
    }
    if (!mutant_ || mutant_->line != where.line() || mutant_->column != where.column() ||
        mutant_->file != where.file_name())
        return with;
    return mutant_->becomes;
}

bool world::mutated(const char* named) noexcept {
    if (record_names) {
        explorers_own guard;
        record_names->push_back(named);
    }
    return mutant_ && mutant_->named == named;
}

} // namespace sennit::sim
