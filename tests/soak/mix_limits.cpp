// SPDX-License-Identifier: Apache-2.0
// Waits with limits or cancellations that race with the wake-up: locks, signals, futures,
// nurseries.
#include "mix_limits.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>

namespace soak {

namespace mix_limits {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// A value that the exclusive holder of the lock writes, in two steps.
struct guarded {
    long first = 0, second = 0;
    void change(dice& with) {
        ++first;
        pause(with);
        ++second;
    }
};

// Locks in one of several ways, some of which may fail.
template <class Mutex>
std::unique_lock<Mutex> limited_lock(Mutex& wanted, dice& with) {
    switch (with.from(0, 4)) {
    case 0:
        return std::unique_lock(wanted, soon(with));
    case 1:
        return std::unique_lock(wanted, clock::now() + soon(with));
    case 2:
        return std::unique_lock(wanted, std::chrono::system_clock::now() + soon(with));
    case 3: { // a cancellation does not interrupt `lock`
        std::unique_lock<Mutex> held(wanted, std::defer_lock);
        (void)in_time(soon(with), [&] { held.lock(); });
        return held;
    }
    default:
        return std::unique_lock(wanted, std::try_to_lock);
    }
}

bool timed_locks(dice& with) {
    const int count = with.from(2, 8), times = with.from(1, 20);
    sennit::timed_mutex plain;
    sennit::recursive_timed_mutex recursive;
    guarded one, two;
    std::atomic<long> ones{0}, twos{0};
    strands(with, count, [&](int, dice& mine) {
        for (int k = 0; k < times; ++k) {
            if (one_in(mine, 3)) {
                sennit::select(sennit::on_lock(plain,
                                               [&] {
                                                   one.change(mine);
                                                   ++ones;
                                               }),
                               sennit::after(soon(mine), [] {}));
            } else if (const auto held = limited_lock(plain, mine)) {
                one.change(mine);
                ++ones;
            }
            if (const auto held = limited_lock(recursive, mine)) {
                const auto again =
                    limited_lock(recursive, mine); // the limit of a recursive lock does not matter
                two.change(mine);
                twos += again ? 1 : 1'000'000;
            }
        }
    });
    const bool free = plain.try_lock() && recursive.try_lock();
    plain.unlock();
    recursive.unlock();
    return free && one.first == ones && one.second == ones && two.first == twos &&
           two.second == twos;
}

bool shared_timed_locks(dice& with) {
    const int count = with.from(2, 8), times = with.from(1, 20);
    sennit::shared_timed_mutex door;
    guarded room;
    std::atomic<long> changes{0}, torn{0};
    strands(with, count, [&](int i, dice& mine) {
        for (int k = 0; k < times; ++k) {
            if ((i + k) % 3 == 0) {
                if (const auto held = limited_lock(door, mine)) {
                    room.change(mine);
                    ++changes;
                }
                continue;
            }
            std::shared_lock<sennit::shared_timed_mutex> held(door, std::defer_lock);
            if (one_in(mine, 3) ? (held.lock(), true) : held.try_lock_for(soon(mine))) {
                pause(mine);
                if (room.first != room.second) ++torn;
            }
        }
    });
    const bool free = door.try_lock();
    if (free) door.unlock();
    return free && torn == 0 && room.first == changes && room.second == changes;
}

// Writers that give up admit the readers that came behind them.
bool given_up(dice& with) {
    const int count = with.from(1, 10);
    sennit::shared_timed_mutex door;
    std::atomic<int> readers{0}, wrong{0};
    door.lock_shared(); // waits until all readers have been inside
    strands(with, count, [&](int i, dice& mine) {
        if (i % 2 == 0) {
            if (door.try_lock_for(soon(mine))) ++wrong;
            return;
        }
        door.lock_shared();
        ++readers;
        door.unlock_shared();
    });
    door.unlock_shared();
    return wrong == 0 && readers == count / 2 && door.try_lock() && (door.unlock(), true);
}

// Tickets. Each ticket wakes one waiter, which waits with a limit, with a token, inside a cancelled
// scope, or without any of them.
class ticket_office {
public:
    explicit ticket_office(int all) : left_(all) {}

    void issue() {
        std::unique_lock held(lock_);
        ++there_;
        if (left_ % 2 == 0) held.unlock(); // both are allowed
        changed_.notify_one();
    }
    // Returns false if no more tickets will come.
    bool take(dice& with) {
        std::unique_lock held(lock_);
        if (!wait(held, with)) return left_ != 0; // the limit ran out
        if (there_ == 0) return false;
        --there_;
        ++taken;
        if (--left_ == 0) changed_.notify_all();
        return true;
    }
    std::atomic<int> taken{0};
    int there() const { return there_; }

private:
    bool wait(std::unique_lock<sennit::mutex>& held, dice& with) {
        const auto some = [this] { return there_ > 0 || left_ == 0; };
        switch (with.from(0, 5)) {
        case 0:
            return changed_.wait_for(held, soon(with), some);
        case 1:
            (void)changed_.wait_until(
                held,
                clock::now() +
                    soon(with)); // a notified waiter checks the state, and so does a late waiter
            return some();
        case 2:
            return in_time(soon(with), [&] { changed_.wait(held, some); });
        case 3: {
            std::stop_source stop;
            sennit::fiber stopper([&stop, yields = with.from(0, 3)] {
                for (int k = 0; k < yields; ++k) sennit::this_fiber::yield();
                stop.request_stop();
            });
            const bool there = changed_.wait(held, stop.get_token(), some);
            held.unlock(); // other strands need the lock while the fiber is joined
            stopper.join();
            held.lock();
            return there && some();
        }
        default:
            changed_.wait(held, some);
            return true;
        }
    }
    sennit::mutex lock_; // guards all below
    sennit::condition_variable_any changed_;
    int there_ = 0, left_;
};

bool tickets(dice& with) {
    const int count = with.from(1, 6), each = with.from(1, 20);
    const int sellers = with.from(1, 3);
    ticket_office office(each * sellers);
    strands(with, count + sellers, [&](int i, dice& mine) {
        if (i < sellers) {
            for (int k = 0; k < each; ++k) {
                office.issue();
                pause(mine);
            }
        } else {
            while (office.take(mine)) {
            }
        }
    });
    return office.taken == each * sellers && office.there() == 0;
}

// Returns true if the caller has a permit.
bool limited_acquire(sennit::counting_semaphore<>& permits, dice& with) {
    switch (with.from(0, 4)) {
    case 0:
        return permits.try_acquire_for(soon(with));
    case 1:
        return permits.try_acquire_until(clock::now() + soon(with));
    case 2:
        return in_time(soon(with), [&] { permits.acquire(); });
    case 3:
        return sennit::select(sennit::on_acquire(permits, [] {}),
                              sennit::after(soon(with), [] {})) == 0;
    default:
        permits.acquire();
        return true;
    }
}

bool permits(dice& with) {
    const int count = with.from(2, 8), times = with.from(1, 20), most = with.from(1, 3);
    sennit::counting_semaphore<> all(most);
    std::atomic<int> inside{0}, wrong{0};
    strands(with, count, [&](int, dice& mine) {
        for (int k = 0; k < times; ++k) {
            if (!limited_acquire(all, mine)) continue;
            if (++inside > most) ++wrong;
            pause(mine);
            --inside;
            all.release();
        }
    });
    int there = 0;
    while (all.try_acquire()) ++there;
    return wrong == 0 && there == most;
}

// Each set of an auto_reset event admits one waiter, and the next set waits for that waiter.
bool single_sets(dice& with) {
    const int count = with.from(1, 6), sets = with.from(1, 30);
    sennit::event once(sennit::event::mode::auto_reset), over;
    sennit::counting_semaphore<> seen(0);
    std::atomic<int> through{0};
    strands(with, count + 1, [&](int i, dice& mine) {
        for (int k = 0; i == 0 && k < sets; ++k) {
            once.set();
            seen.acquire();
        }
        if (i == 0) over.set();
        while (!over.try_wait()) {
            bool mine_it_is = false;
            if (one_in(mine, 3))
                mine_it_is = once.wait_for(soon(mine));
            else if (one_in(mine, 2))
                mine_it_is = in_time(soon(mine), [&] { once.wait(); });
            else
                mine_it_is =
                    sennit::select(sennit::on_set(once, [] {}), sennit::on_set(over, [] {})) == 0;
            if (!mine_it_is) continue;
            ++through;
            seen.release();
        }
    });
    return through == sets && !once.try_wait();
}

// A strand that returns from a wait has arrived. The barrier does not wait for a strand that drops
// out.
bool phases(dice& with) {
    const int count = with.from(1, 8);
    std::vector<int> stays(static_cast<std::size_t>(count));
    for (int& one : stays) one = with.from(1, 8);
    std::atomic<int> completions{0}, wrong{0};
    auto complete = [&]() noexcept { ++completions; };
    sennit::barrier<decltype(complete)> together(count, complete);
    sennit::latch begun(count), ended(count);
    strands(with, count, [&](int i, dice& mine) {
        begun.count_down();
        if (in_time(soon(mine), [&] { begun.wait(); }) && !begun.try_wait()) ++wrong;
        const int phases = stays[static_cast<std::size_t>(i)];
        for (int phase = 0; phase + 1 < phases; ++phase) {
            auto token = together.arrive();
            auto same = token;
            if (!in_time(soon(mine), [&] { together.wait(std::move(token)); }))
                together.wait(std::move(same));
            if (completions <= phase) ++wrong;
        }
        together.arrive_and_drop();
        if (!in_time(soon(mine), [&] { ended.arrive_and_wait(); })) ended.wait();
        if (completions != *std::max_element(stays.begin(), stays.end())) ++wrong;
    });
    return wrong == 0;
}

// The first `fails` calls throw, and a waiting caller tries next. Limits around the call do not
// reach it.
bool once_in_the_end(dice& with) {
    const int count = with.from(1, 8), fails = with.from(0, 6);
    sennit::once_flag flag;
    std::atomic<int> thrown{0}, done{0}, wrong{0};
    int calls = 0; // one at a time
    strands(with, count, [&](int, dice& mine) {
        try {
            const bool timely = in_time(soon(mine), [&] {
                sennit::call_once(flag, [&] {
                    pause(mine);
                    if (calls++ < fails) throw std::runtime_error("not yet");
                    if (one_in(mine, 2)) sennit::blocking([] { std::this_thread::yield(); });
                    ++done;
                });
            });
            if (!timely || done != 1) ++wrong;
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    });
    return wrong == 0 && thrown == std::min(fails, count) && done == (count > fails ? 1 : 0) &&
           calls == thrown + done;
}

// Nested time limits around a wait that may be served. Only the level whose limit has run out
// reports it.
bool level(sennit::event& served, dice& with, int depth) {
    if (depth == 0) return served.wait(), true;
    const auto limit = one_in(with, 3) ? std::chrono::microseconds(1h) : soon(with);
    const auto until = clock::now() + limit;
    try {
        return sennit::with_timeout(limit, [&] { return level(served, with, depth - 1); });
    } catch (const sennit::timed_out&) {
        if (clock::now() < until)
            throw std::logic_error("too early, or not caught where it was thrown");
        return false;
    }
}

bool nested_limits(dice& with) {
    sennit::event served;
    const int count = with.from(1, 6), yields = with.from(0, 20);
    std::atomic<int> wrong{0};
    strands(with, count + 1, [&](int i, dice& mine) {
        for (int k = 0; i == 0 && k < yields; ++k) sennit::this_fiber::yield();
        if (i == 0) served.set();
        bool was_served = false;
        while (!was_served) was_served = level(served, mine, mine.from(1, 5));
        if (!served.try_wait()) ++wrong;
    });
    return wrong == 0;
}

constexpr program all_programs[] = {
    {"timed locks", &timed_locks},
    {"shared timed locks", &shared_timed_locks},
    {"tickets", &tickets},
    {"given up", &given_up},
    {"permits", &permits},
    {"single sets", &single_sets},
    {"phases", &phases},
    {"once", &once_in_the_end},
    {"nested limits", &nested_limits},
};

} // namespace
} // namespace mix_limits

std::span<const program> limits_programs() {
    return mix_limits::all_programs;
}

} // namespace soak
