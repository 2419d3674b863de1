// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include "ground/ground.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// Clears the exceptions that another execution left in the thread's record.
void forget_exceptions() noexcept {
    sys::thread_exception_globals() = {};
}

} // namespace

constinit bool hooks::running = false;
world world::only;

// ---- one execution

outcome& world::run(const std::function<void()>& scenario, strategy& by, limits within,
                    trace* into) {
    memory_.begin_execution();
    meeting_ = within.meeting;
    meeting_->begin_execution();
    reset_platform();
    plains_.clear();
    for (unsigned t = 0; t < count_; ++t) threads_[t] = thread{};
    count_ = 0;
    ready_ = 0;
    old_words_ = UINT32_MAX;
    strategy_ = &by;
    limits_ = within;
    trace_ = into;
    outcome_.failed = false;
    outcome_.met_anew = false;
    outcome_.what.clear();
    outcome_.steps = 0;
    outcome_.decisions.clear();
    time_ = 1'000'000;
    stuck_ = nullptr;
    calm_ = false;
    over_ = false;
    hold_next_ = false;
    updating_ = nullptr;
    start_thread(scenario);
    threads_[0].known.at[0] = 1;
    run_as(0);
    sys::switch_stacks(driver_, threads_[0].machine, sys::thread_exception_globals());
    run_as(nobody);
    forget_exceptions();
    // the bodies of abandoned threads
    for (unsigned t = 0; t < count_; ++t) threads_[t].body = nullptr;
    outcome_.met_anew |= meeting_->learn();
    return outcome_;
}

void world::run_as(unsigned number) noexcept {
    current_ = number;
    hooks::running = number != nobody;
}

void world::become(unsigned number, state what) noexcept {
    threads_[number].is = what;
    const thread_set bit = 1u << number;
    ready_ = what == state::ready ? ready_ | bit : ready_ & ~bit;
}

unsigned world::start_thread(std::function<void()> body) {
    if (count_ == max_threads) fail("a scenario starts too many threads");
    const unsigned number = count_++;
    thread& made = threads_[number];
    if (!stacks_[number])
        stacks_[number] = static_cast<std::byte*>(std::aligned_alloc(4096, stack_bytes));
    if (!stacks_[number]) throw std::bad_alloc();
    made.machine.sp = sys::prepare_stack(stacks_[number] + stack_bytes, [] { thread_main(); });
    made.machine.stack_low = stacks_[number];
    made.machine.stack_size = stack_bytes;
    made.body = std::move(body);
    become(number, std::exchange(hold_next_, false) ? state::held : state::ready);
    if (current_ != nobody) {
        made.known = me().known;
        tick();
    }
    made.known.at[number] = 1;
    return number;
}

void world::thread_main() noexcept {
    world& self = the();
    try {
        self.me().body();
        thread_ends();
    } catch (const std::exception& error) {
        self.fail(std::string("an exception left a thread: ") + error.what());
    } catch (...) {
        self.fail("an exception left a thread");
    }
    self.end_thread();
    std::abort(); // an ended thread is never switched to
}

void world::end_thread() {
    become(current_, state::ended);
    me().body = nullptr;
    for (unsigned t = 0; t < count_; ++t)
        if (threads_[t].is == state::joining && threads_[t].joins == current_)
            become(t, state::ready);
    if (current_ == 0) {
        for (unsigned t = 1; t < count_; ++t)
            if (threads_[t].is != state::ended)
                fail("the scenario ended before its thread " + std::to_string(t));
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

// ---- choosing the next thread

void world::step(place at, std::uint32_t word) {
    me().where = me().acted = at;
    me().acted_on = word;
    if (++outcome_.steps > limits_.steps || me().known.at[current_] > latest - 8)
        fail("livelock: more than " + std::to_string(outcome_.steps - 1) + " steps");
}

// Advances the time of the running thread.
instant world::tick() {
    instant& mine = me().known.at[current_];
    if (mine >= latest) fail("livelock: a thread reads and writes without end");
    return ++mine;
}

// A thread continues at a place where no other thread meets it. A replay, which asks everywhere,
// must find that decision, too.
void world::point(place at, std::uint32_t word, bool shared, bool in_list) {
    step(at, word);
    if (count_ == 1 || calm_ || !in_list) return;
    if (shared || trace_) return give_way(true);
    if ((ready_ & (ready_ - 1)) != 0) decided(current_);
}

void world::decided(unsigned what) {
    explorers_own guard;
    if (outcome_.decisions.empty()) old_words_ = memory_.count();
    outcome_.decisions.push_back(static_cast<std::uint8_t>(what));
}

// Before an operation that waits or wakes.
void world::point_anyway(place at) {
    places::entry& known = meeting_->of(at, 0);
    known.shared = true;
    point(at, 0, true, known.in_list);
}

void world::touch(std::uint32_t what, bool writes, const places::entry& at) {
    if (!touches_count()) return;
    explorers_own guard;
    meeting_->touch(what, current_, writes, at);
}

void world::touch_here(std::uint32_t what, bool writes) {
    if (touches_count() && me().acted.line() != 0)
        touch(what, writes,
              meeting_->of(me().acted, me().acted_on)); // otherwise before its first operation
}

void world::give_way(bool can_go_on) {
    if (ready_ == 0 && !let_time_pass()) stuck();
    const thread_set all = ready_;
    thread_choice choice{};
    if (can_go_on && !me().yielded) {
        choice = {all, 1u << current_, current_};
    } else {
        thread_set free = 0;
        for (unsigned t = 0; t < count_; ++t)
            if ((all >> t & 1) != 0 && !threads_[t].yielded) free |= 1u << t;
        // Every thread waits in a loop: start again from the first.
        if (free == 0) {
            for (thread& one : threads_) one.yielded = false;
            free = all;
            if (can_go_on && (all & (all - 1)) != 0) free &= ~(1u << current_);
        }
        // In turn, and not the first thread again.
        const auto behind = static_cast<thread_set>(free & ~((2u << current_) - 1));
        choice = {free, free, static_cast<unsigned>(std::countr_zero(behind != 0 ? behind : free))};
    }
    unsigned next = choice.usual;
    if ((all & (all - 1)) != 0 && !calm_) {
        explorers_own guard;
        next = strategy_->choose_thread(choice);
        decided(next);
    }
    if (next != current_) switch_to(next);
    me().yielded = false;
}

void world::release_threads() noexcept {
    for (unsigned t = 0; t < count_; ++t)
        if (threads_[t].is == state::held) become(t, state::ready);
}

void world::switch_to(unsigned next) {
    thread& from = me();
    ++switches_;
    run_as(next);
    sys::switch_stacks(from.machine, threads_[next].machine, sys::thread_exception_globals());
}

std::int64_t world::next_deadline() const noexcept {
    std::int64_t earliest = never;
    for (unsigned t = 0; t < count_; ++t)
        if (threads_[t].is == state::waiting) earliest = std::min(earliest, threads_[t].deadline);
    return earliest;
}

// Ends all waits with the earliest deadline; false if no wait has a deadline.
bool world::let_time_pass() {
    const std::int64_t earliest = next_deadline();
    if (earliest == never) return false;
    time_ = std::max(time_, earliest);
    for (unsigned t = 0; t < count_; ++t) {
        if (threads_[t].is != state::waiting || threads_[t].deadline != earliest) continue;
        become(t, state::ready);
        threads_[t].timed_out = true;
    }
    return true;
}

void world::stuck() {
    std::string text = "deadlock:";
    for (unsigned t = 0; t < count_; ++t) {
        const thread& one = threads_[t];
        if (one.is != state::waiting && one.is != state::joining) continue;
        text += " T" + std::to_string(t) + (one.is == state::waiting ? " sleeps" : " joins") +
                " at " + base_name(one.where) + ":" + std::to_string(one.where.line()) + ";";
    }
    if (stuck_) {
        auto look = std::exchange(stuck_, nullptr);
        limits_.steps += 10'000;
        // The callback runs as the current thread, which alone is ready, and sees the newest
        // values.
        become(current_, state::ready);
        calm_ = true;
        if (const std::string more = look(); !more.empty())
            text = "lost wake-up: " + more + "; " + text;
    }
    fail(text);
}

void world::yield(place where) {
    meeting_->of(where, 0).shared = true;
    step(where, 0);
    me().yielded = true;
    strategy_->yielded(current_);
    if (count_ > 1) give_way(true);
}

void world::join_thread(unsigned other, place where) {
    point_anyway(where);
    if (threads_[other].is != state::ended) {
        become(current_, state::joining);
        me().joins = other;
        give_way(false);
    }
    me().known.join(threads_[other].known);
}

// ---- atomic words

word& world::access(const void* address, std::uint64_t value, place at, bool writes,
                    bool may_wait) {
    if (calm_ && !touches_count()) {
        step(at, 0);
        explorers_own guard;
        return usable(memory_.at(address, value));
    }
    word* found = memory_.find(address);
    const bool is_old = found && found->number < old_words_ && !found->made_again;
    const std::uint32_t number = is_old ? found->number + 1 : 0;
    places::entry* known = &meeting_->of(at, number);
    known->shared |= may_wait;
    const std::uint64_t before = switches_;
    point(at, number, known->shared, known->in_list);
    explorers_own guard;
    if (!found || switches_ != before) { // other threads have run
        found = &memory_.at(address, value);
        known = &meeting_->of(at, number);
    }
    touch(places::first_word + found->life, writes, *known);
    return usable(*found);
}

word& world::usable(word& found) {
    if (found.dead) fail("an atomic word is used after its end");
    if (found.made_at != 0 && !me().known.knows(found.made_by, found.made_at))
        fail("race: an atomic word is used that T" + std::to_string(found.made_by) +
             " may still be making");
    return found;
}

std::uint64_t world::load(const void* address, std::uint64_t value, order with, place where) {
    if (special_) [[unlikely]]
        with = effective(operation::load, with, where);
    word& from = access(address, value, where, false);
    explorers_own guard;
    unsigned age = 0;
    if (const unsigned count = calm_ ? 1 : memory::readable(from, current_, me().known, with);
        count > 1) {
        age = strategy_->choose_age(count);
        decided(age);
    }
    const std::uint64_t result = memory::read(from, age, current_, me().known, with);
    if (trace_)
        trace_->add(
            {current_, std::string("load ") + sim::name(with), trace_->called(address, from.number),
             hex(result) + (age == 0 ? "" : " (stale, newest is " + hex(from.newest().value) + ")"),
             where});
    return result;
}

void world::store(const void* address, std::uint64_t before, std::uint64_t value, order with,
                  place where) {
    if (special_) [[unlikely]]
        with = effective(operation::store, with, where);
    word& to = access(address, before, where, true);
    explorers_own guard;
    if (trace_)
        trace_->add({current_, std::string("store ") + sim::name(with),
                     trace_->called(address, to.number),
                     hex(to.newest().value) + " -> " + hex(value), where});
    memory::write(to, value, current_, me().known, with, false);
}

std::uint64_t world::begin_update(const void* address, std::uint64_t value, operation what,
                                  order with, place where) {
    // other threads may run here, and update the word
    word& target = access(address, value, where, true);
    updating_ = &target;
    update_order_ = special_ ? effective(what, with, where) : with;
    update_what_ = what;
    update_where_ = where;
    return updating_->newest().value;
}

void world::end_update(std::uint64_t value) {
    explorers_own guard;
    word& target = *updating_;
    const std::uint64_t old = memory::read(target, 0, current_, me().known, update_order_);
    if (trace_)
        trace_->add({current_,
                     std::string(sim::name(update_what_)) + " " + sim::name(update_order_),
                     trace_->called(target.address, target.number), hex(old) + " -> " + hex(value),
                     update_where_});
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
    if (const word* here = touches_count() ? memory_.find(address) : nullptr)
        touch_here(places::first_word + here->life, true);
    memory_.construct(address, value, current_, tick());
}

void world::destroy(const void* address) {
    explorers_own guard;
    touch_here(places::first_word + memory_.destroy(address).life, true);
}

void world::barrier_all(place where) {
    point_anyway(where);
    touch_here(places::barriers, true);
    note(where, "membarrier");
    if (mutated("membarrier")) return;
    clock all{};
    for (unsigned t = 0; t < count_; ++t) all.join(threads_[t].known);
    for (unsigned t = 0; t < count_; ++t) {
        threads_[t].known = all;
        ++threads_[t].known.at[t]; // other threads do not know its operations from here on
    }
}

std::int64_t world::now() {
    if (running()) touch_here(places::time, true);
    return time_ += tick_;
}

// A thread that lets the exploration end must be preempted before that, too.
void world::calm(bool on) {
    if (on && !outcome_.decisions.empty()) {
        places::entry& known = meeting_->of(me().acted, me().acted_on);
        outcome_.met_anew |= !known.shared;
        known.shared = true;
    }
    calm_ = on;
}

void world::calm_for_good() {
    calm(true);
    over_ = true;
}

// ---- plain data

void world::plain_read(plain& data, place where) {
    touch_here(places::barriers, false);
    me().where = where;
    if (data.written_at != 0 && !me().known.knows(data.written_by, data.written_at))
        fail("data race: a read beside a write of T" + std::to_string(data.written_by));
    data.read_at.at[current_] = tick();
}

void world::plain_write(plain& data, place where) {
    touch_here(places::barriers, false);
    me().where = where;
    if (data.written_at != 0 && !me().known.knows(data.written_by, data.written_at))
        fail("data race: a write beside a write of T" + std::to_string(data.written_by));
    for (unsigned t = 0; t < max_threads; ++t)
        if (data.read_at.at[t] != not_yet && !me().known.knows(t, data.read_at.at[t]))
            fail("data race: a write beside a read of T" + std::to_string(t));
    data.written_by = static_cast<std::uint8_t>(current_);
    data.written_at = tick();
    data.read_at = clock_not_yet();
}

world::plain& world::plain_at(const void* address) {
    explorers_own guard;
    return plains_[address];
}

// ---- sleeping

bool world::wait(const void* address, std::uint64_t value, std::uint32_t expected,
                 std::int64_t deadline, place where) {
    // The kernel compares under its own lock: it sees the newest value and orders nothing for the
    // caller.
    word& on = access(address, value, where, false, true);
    if (static_cast<std::uint32_t>(on.newest().value) != expected) {
        note(where, "does not sleep");
        return true;
    }
    note(where, "sleeps");
    become(current_, state::waiting);
    me().waits_on = address;
    me().deadline = deadline;
    me().timed_out = false;
    give_way(false);
    note(where, me().timed_out ? "times out" : "wakes");
    return !me().timed_out;
}

void world::wake(const void* address, int count, place where) {
    point_anyway(where);
    note(where, "wakes others");
    for (unsigned t = 0; t < count_ && count > 0; ++t)
        if (threads_[t].is == state::waiting && threads_[t].waits_on == address) {
            become(t, state::ready);
            --count;
        }
}

// ---- notes and mutants

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

const char* in_tree(const char* file) noexcept {
    const std::string_view whole = file;
    if (const auto at = whole.rfind("/include/"); at != whole.npos)
        return file + at + std::strlen("/include/");
    if (const auto at = whole.rfind("/src/"); at != whole.npos) return file + at + 1;
    return file;
}

order world::effective(operation what, order with, place where) {
    if (sites_) {
        explorers_own guard;
        sites_->insert({where, what, with});
    }
    if (!mutant_ || mutant_->line != where.line() || mutant_->column != where.column() ||
        mutant_->file != in_tree(where.file_name()))
        return with;
    return mutant_->becomes;
}

bool world::mutated(const char* named) noexcept {
    if (names_) {
        explorers_own guard;
        names_->insert(named);
    }
    return mutant_ && mutant_->named == named;
}

} // namespace sennit::sim
