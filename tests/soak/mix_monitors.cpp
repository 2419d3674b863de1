// SPDX-License-Identifier: Apache-2.0
// Monitors, conditions, waitfor, active objects. The monitors guard plain variables, so
// ThreadSanitizer sees every strand that is inside without the right to be.
#include "mix.hpp"
#include "mix_visitors.hpp"

#include <sennit/sennit.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace soak {

namespace mix_monitors {
namespace {

using std::chrono::microseconds;

// ---- scopes -------------------------------------------------------------------------------------

struct cell : sennit::monitor {
    long value = 0;
    int owner = 0; // the strand that is inside
};

// A visit to a cell that its monitor admits. The visit counts itself, and restores the state before
// it.
struct stay {
    stay(cell& in, int who, std::atomic<int>& wrong)
        : of(in), me(who), before(in.owner), errors(wrong) {
        if (before != 0 && before != me) ++errors;
        of.owner = me;
        ++of.value;
    }
    stay(const stay&) = delete;
    ~stay() {
        if (of.owner != me) ++errors;
        of.owner = before;
    }
    cell& of;
    const int me, before;
    std::atomic<int>& errors;
};

struct visitor {
    std::array<cell, 6>& cells;
    std::array<std::atomic<long>, 6>& visits;
    std::atomic<int>& wrong;
    int me;
    dice with;

    // Enters these monitors, which the strand may be in already, and some of them again inside.
    template <std::size_t N>
    void enter(const std::array<std::size_t, N>& which, int depth) {
        inside(which, depth, std::make_index_sequence<N>());
    }
    template <std::size_t N, std::size_t... I>
    void inside(const std::array<std::size_t, N>& which, int depth, std::index_sequence<I...>) {
        const auto in = sennit::enter(cells[which[I]]...);
        const std::array<stay, N> stays{stay(cells[which[I]], me, wrong)...};
        (++visits[which[I]], ...);
        if (with.from(0, 3) == 0) sennit::this_fiber::yield();
        const auto any = [&] { return which[static_cast<std::size_t>(with.from(0, int(N) - 1))]; };
        if (depth > 0) {
            if (with.from(0, 1) == 0)
                enter(std::array{any()}, depth - 1);
            else
                enter(std::array{any(), any()}, depth - 1);
        }
        if (with.from(0, 5) == 0) throw std::range_error("half way");
    }
    void go(int times) {
        const auto any = [&] { return static_cast<std::size_t>(with.from(0, 5)); };
        for (int k = 0; k < times; ++k) {
            try {
                switch (with.from(0, 3)) {
                case 0:
                    enter(std::array{any()}, 2);
                    break;
                case 1:
                    enter(std::array{any(), any()}, 2);
                    break;
                case 2:
                    enter(std::array{any(), any(), any()}, 1);
                    break;
                default:
                    enter(std::array{any(), any(), any(), any(), any(), any(), any(), any()}, 1);
                }
            } catch (const std::range_error&) {
            }
        }
    }
};

bool monitor_sets(dice& with) {
    std::array<cell, 6> cells;
    std::array<std::atomic<long>, 6> visits{};
    std::atomic<int> wrong{0};
    sennit::monitored<std::vector<int>> list;
    const int strands = with.from(2, 10), times = with.from(1, 30);
    {
        visitors all;
        for (int i = 1; i <= strands; ++i)
            all.either(with, [&, i, seed = with.seed()] {
                visitor{cells, visits, wrong, i, dice(seed)}.go(times);
                list->push_back(i);
            });
    }
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i].value != visits[i] || cells[i].owner != 0) return false;
    return wrong == 0 && list->size() == static_cast<std::size_t>(strands);
}

// ---- conditions ---------------------------------------------------------------------------------

// N monitors that are entered together, in either order.
template <std::size_t N>
struct doors {
    std::array<sennit::monitor, N> all;
    sennit::inside<N> enter(bool turned) { return enter(turned, std::make_index_sequence<N>()); }
    template <std::size_t... I>
    sennit::inside<N> enter(bool turned, std::index_sequence<I...>) {
        return sennit::enter(all[turned ? N - 1 - I : I]...);
    }
    template <std::size_t... I>
    sennit::condition condition(std::index_sequence<I...>) {
        return sennit::condition(all[I]...);
    }
    sennit::condition condition() { return condition(std::make_index_sequence<N>()); }
};

// A condition whose signals are counted: each signal that has reached a waiter makes one wait
// return with success. Every call is made inside the monitor.
template <std::size_t N>
struct counted_condition {
    explicit counted_condition(doors<N>& of) : is(of.condition()) {}
    // Returns false if the wait was late. However the wait ends, the caller is inside again:
    // `empty` ends the program if not.
    bool wait(const std::optional<microseconds>& limit) {
        const bool sure =
            !limit && !sennit::sched::this_strand().scope; // only a signal ends the wait
        unlimited += sure ? 1 : 0;
        try {
            if (!limit)
                is.wait();
            else if (!is.wait_for(*limit))
                return (void)is.empty(), false;
        } catch (const sennit::cancelled&) {
            (void)is.empty();
            throw;
        }
        unlimited -= sure ? 1 : 0;
        ++heard;
        return true;
    }
    void signal(int how) {
        const bool waits =
            unlimited >
            told - heard; // more waiters than have been signalled and have not continued yet
        if (how == 0 ? is.signal_block() : is.signal())
            ++told;
        else if (waits)
            ++missed;
    }
    bool right() const { return told == heard && unlimited == 0 && missed == 0; }
    sennit::condition is;
    long told = 0, heard = 0, unlimited = 0, missed = 0;
};

std::optional<microseconds> maybe_limit(dice& with) {
    return with.from(0, 2) != 0 ? std::nullopt : std::optional(brief(with));
}

// A bounded buffer.
template <std::size_t N>
struct stock {
    explicit stock(int places) : room(static_cast<std::size_t>(places)) {}
    bool put(int value, dice& with) {
        const auto in = guard.enter(with.from(0, 1) == 0);
        if (items.size() == room) {
            if (not_full.wait(maybe_limit(with))) {
                if (items.size() >= room)
                    ++wrong; // another strand came between the signal and this one
            } else if (items.size() == room) {
                return false;
            }
        }
        items.push_back(value);
        sum += value;
        not_empty.signal(with.from(0, 3));
        return true;
    }
    void take(dice& with) {
        const auto in = guard.enter(with.from(0, 1) == 0);
        if (items.empty()) {
            if (not_empty.wait(maybe_limit(with))) {
                if (items.empty()) ++wrong;
            } else if (items.empty()) {
                return;
            }
        }
        sum -= items.front();
        items.pop_front();
        not_full.signal(with.from(0, 3));
    }
    doors<N> guard;
    const std::size_t room;
    counted_condition<N> not_full{guard}, not_empty{guard};
    std::deque<int> items;
    long sum = 0; // the values that were put and not yet taken
    int wrong = 0;

    bool right() const {
        long left = 0;
        for (int one : items) left += one;
        return wrong == 0 && sum == left && not_full.right() && not_empty.right();
    }
};

// Runs the call, perhaps with a limit around it.
template <class F>
bool limited(dice& with, F&& function) {
    if (with.from(0, 2) != 0) return function(), true;
    try {
        sennit::with_timeout(brief(with), function);
        return true;
    } catch (const sennit::timed_out&) {
        return false;
    }
}

template <std::size_t N>
bool buffers_of(dice& with) {
    stock<N> goods(with.from(1, 4));
    const int producers = with.from(1, 5), consumers = with.from(1, 5), pieces = with.from(1, 40);
    std::atomic<bool> over{false};
    visitors takers;
    sennit::nursery family;
    for (int i = 0; i < consumers; ++i)
        family.start([&, mine = dice(with.seed())]() mutable {
            for (;;) {
                limited(mine, [&] { goods.take(mine); });
                sennit::this_fiber::checkpoint();
                sennit::this_fiber::yield();
            }
        });
    if (with.from(0, 5) == 0)
        takers.thread([&, mine = dice(with.seed())]() mutable {
            while (!over) {
                try {
                    sennit::with_timeout(std::chrono::milliseconds(1), [&] { goods.take(mine); });
                } catch (const sennit::timed_out&) {
                }
            }
        });
    {
        visitors makers;
        for (int i = 0; i < producers; ++i)
            makers.either(with, [&, mine = dice(with.seed())]() mutable {
                for (int k = 1; k <= pieces; ++k) limited(mine, [&] { goods.put(k, mine); });
            });
    }
    family.cancel();
    family.join();
    over = true;
    takers.join();
    return goods.right();
}

bool buffers(dice& with) {
    return with.from(0, 1) == 0   ? buffers_of<1>(with)
           : with.from(0, 1) == 0 ? buffers_of<2>(with)
                                  : buffers_of<5>(with);
}

// A turn that strands pass in a circle. No strand enters between the strand that passes the turn on
// and the strand that has waited for it.
template <std::size_t N>
struct ring {
    explicit ring(int strands) : count(strands) {
        for (int i = 0; i < strands; ++i) comes.emplace_back(guard);
    }
    // One round for strand `me`.
    void round(int me, dice& with) {
        const auto in = guard.enter(with.from(0, 1) == 0);
        auto& mine = comes[static_cast<std::size_t>(me)];
        while (turn != me) {
            if (mine.wait(maybe_limit(with)) && turn != me) {
                ++wrong;
                return;
            }
        }
        const long now = ++passes;
        turn = (me + 1) % count;
        auto& next = comes[static_cast<std::size_t>(turn)];
        if (with.from(0, 2) != 0) return next.signal(1);
        const long told = next.told;
        next.signal(0);
        if (next.told != told && passes == now && count > 1)
            ++wrong; // the next strand has gone before this one
    }
    void intrude(dice& with) {
        const auto in = guard.enter(with.from(0, 1) == 0);
        const long before = passes;
        if (with.from(0, 1) == 0) sennit::this_fiber::yield();
        if (passes != before) ++wrong;
    }
    doors<N> guard;
    std::deque<counted_condition<N>> comes;
    const int count;
    int turn = 0, wrong = 0;
    long passes = 0;
};

template <std::size_t N>
bool rings_of(dice& with) {
    const int strands = with.from(1, 8), rounds = with.from(1, 30);
    ring<N> circle(strands);
    {
        visitors all;
        for (int i = 0; i < strands; ++i)
            all.either(with, [&, i, mine = dice(with.seed())]() mutable {
                for (int k = 0; k < rounds;)
                    k += limited(mine, [&] { circle.round(i, mine); }) ? 1 : 0;
            });
        for (int i = with.from(0, 3); i > 0; --i)
            all.either(with, [&, mine = dice(with.seed())]() mutable {
                for (int k = 0; k < 2 * rounds; ++k) circle.intrude(mine);
            });
    }
    for (const auto& one : circle.comes)
        if (!one.right()) return false;
    return circle.wrong == 0 && circle.passes == long{strands} * rounds;
}

bool rings(dice& with) {
    return with.from(0, 1) == 0   ? rings_of<1>(with)
           : with.from(0, 1) == 0 ? rings_of<2>(with)
                                  : rings_of<3>(with);
}

// ---- signals that race with limits and cancellation ---------------------------------------------

struct counts_out {
    long& count;
    ~counts_out() { ++count; }
};

// Waiters that only a signal, their limit or a cancellation ends, and strands that signal until all
// waiters have ended.
template <std::size_t N>
bool races_of(dice& with) {
    doors<N> guard;
    counted_condition<N> here(guard);
    const int waiters = with.from(1, 12), times = with.from(1, 15), patience = with.from(0, 60);
    long begun = 0, ended = 0; // the waits that have begun, and those that have ended
    std::atomic<int> gone{0};
    const bool ends_all = with.from(0, 1) == 0; // otherwise only signals and limits end the waits
    const auto waits = [&](dice mine) {
        for (int k = 0; k < times; ++k)
            limited(mine, [&] {
                const auto in = guard.enter(mine.from(0, 1) == 0);
                const counts_out over{ended};
                ++begun;
                here.wait(maybe_limit(mine));
            });
        ++gone;
    };
    {
        visitors others;
        sennit::nursery family;
        for (int i = 0; i < waiters; ++i) {
            if (ends_all || with.from(0, 1) == 0)
                family.start([&, seed = with.seed()] { waits(dice(seed)); });
            else
                others.either(with, [&, seed = with.seed()] { waits(dice(seed)); });
        }
        for (int i = with.from(1, 2); i > 0; --i)
            others.either(with, [&, mine = dice(with.seed())]() mutable {
                for (int k = 0; gone != waiters && !family.cancelled(); ++k) {
                    {
                        const auto in = guard.enter(mine.from(0, 1) == 0);
                        for (int n = mine.from(0, 3); n > 0; --n) here.signal(mine.from(0, 2));
                    }
                    sennit::this_fiber::yield();
                    if (ends_all && k == patience) return family.cancel();
                }
            });
        others.join(); // joined first, because these strands use the nursery
        family.join();
    }
    return here.right() && begun == ended;
}

bool races(dice& with) {
    return with.from(0, 1) == 0   ? races_of<1>(with)
           : with.from(0, 1) == 0 ? races_of<2>(with)
                                  : races_of<4>(with);
}

constexpr program some_programs[] = {{"monitor sets", &monitor_sets},
                                     {"buffers", &buffers},
                                     {"rings", &rings},
                                     {"signal races", &races}};

} // namespace
} // namespace mix_monitors

std::span<const program> monitors_programs() {
    return mix_monitors::some_programs;
}

} // namespace soak
