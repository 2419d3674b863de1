// SPDX-License-Identifier: Apache-2.0
// Pushes, pops, selects and waituntils whose limit, close or cancellation races with the wake-up.
#include "mix_limits.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

namespace soak {

namespace mix_limits_channels {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
// A duplicated item is freed twice, and a lost item is missing in the ledger.
using item = std::unique_ptr<int>;
using line = sennit::channel<item>;

constexpr std::size_t capacities[] = {0, 0, 1, 2, 7, line::unbounded};
std::size_t any_capacity(dice& with) {
    return capacities[with.from(0, 5)];
}

// The number of times that each item has come.
class ledger {
public:
    explicit ledger(int items) : seen_(static_cast<std::size_t>(items)) {}
    void came(const item& one) {
        ++seen_[static_cast<std::size_t>(*one)];
        ++count;
    }
    bool each_once() const {
        return std::all_of(seen_.begin(), seen_.end(),
                           [](const std::atomic<int>& times) { return times == 1; });
    }
    // Checks that the items that came out are the items that went in.
    bool as(const ledger& sent) const {
        return std::equal(
            seen_.begin(), seen_.end(), sent.seen_.begin(),
            [](const auto& a, const auto& b) { return a.load() == b.load() && a.load() <= 1; });
    }
    int times(int which) const { return seen_[static_cast<std::size_t>(which)]; }
    bool complete() const { return count == static_cast<int>(seen_.size()); }
    std::atomic<int> count{0};

private:
    std::vector<std::atomic<int>> seen_;
};

sennit::channel_status pushed(bool yes) {
    return yes ? sennit::channel_status::success : sennit::channel_status::timeout;
}

// Pushes in one of several ways. An unsent item still exists, or counts as accounted for.
sennit::channel_status limited_push(line& to, int which, dice& with) {
    item one = std::make_unique<int>(which);
    sennit::channel_status how{};
    switch (with.from(0, 6)) {
    case 0:
        how = to.push_for(std::move(one), soon(with));
        break;
    case 1:
        how = to.push_until(std::move(one), std::chrono::system_clock::now() + soon(with));
        break;
    case 2:
        how = to.try_push(std::move(one));
        break;
    case 3:
        if (!in_time(soon(with), [&] { how = to.push(std::move(one)); }))
            how = sennit::channel_status::timeout;
        return how;
    case 4:
        if (!in_time(soon(with), [&] { how = to.push_for(std::move(one), soon(with)); }))
            how = sennit::channel_status::timeout;
        break;
    case 5: {
        const std::size_t happened = sennit::select(
            sennit::on_push(
                to, std::move(one), [] {}, [&] { how = sennit::channel_status::closed; }),
            sennit::after(soon(with), [] {}));
        return how == sennit::channel_status::closed ? how : pushed(happened == 0);
    }
    default:
        return to.push(std::move(one));
    }
    if ((how == sennit::channel_status::success) != !one)
        throw std::logic_error("moved from, or not, by mistake");
    return how;
}

sennit::channel_status limited_pop(line& from, item& to, dice& with) {
    sennit::channel_status how{};
    switch (with.from(0, 5)) {
    case 0:
        return from.pop_for(to, soon(with));
    case 1:
        return from.pop_until(to, std::chrono::system_clock::now() + soon(with));
    case 2:
        return from.try_pop(to);
    case 3:
        return in_time(soon(with), [&] { how = from.pop(to); }) ? how
                                                                : sennit::channel_status::timeout;
    case 4: {
        const std::size_t happened = sennit::select(
            sennit::after(soon(with), [] {}), sennit::on_pop(
                                                  from, [&](item one) { to = std::move(one); },
                                                  [&] { how = sennit::channel_status::closed; }));
        return how == sennit::channel_status::closed ? how : pushed(happened == 1);
    }
    default:
        return from.pop(to);
    }
}

void pop_all(line& from, ledger& into, dice& with) {
    for (;;) {
        item one;
        const sennit::channel_status how = limited_pop(from, one, with);
        if (how == sennit::channel_status::closed) return;
        if ((how == sennit::channel_status::success) != (one != nullptr))
            throw std::logic_error("a value or none");
        if (one) into.came(one);
    }
}

bool limited_channels(dice& with) {
    const int producers = with.from(1, 4), consumers = with.from(1, 4), each = with.from(1, 40);
    line belt(any_capacity(with));
    ledger seen(producers * each);
    std::atomic<int> producing{producers};
    strands(with, producers + consumers, [&](int i, dice& mine) {
        if (i >= producers) return pop_all(belt, seen, mine);
        for (int k = 0; k < each; ++k)
            while (limited_push(belt, i * each + k, mine) != sennit::channel_status::success) {
            }
        if (--producing == 0) belt.close();
    });
    return seen.each_once();
}

// Closes the channel in the middle: items that were sent by then come out, and later items do not.
bool closed_in_the_middle(dice& with) {
    const int producers = with.from(1, 4), consumers = with.from(1, 4), each = with.from(1, 40);
    const int yields = with.from(0, 10);
    const bool with_error = one_in(with, 2);
    line belt(any_capacity(with));
    ledger sent(producers * each), seen(producers * each);
    std::atomic<int> errors{0};
    strands(with, producers + consumers + 1, [&](int i, dice& mine) {
        if (i == 0) {
            for (int k = 0; k < yields; ++k) sennit::this_fiber::yield();
            if (with_error)
                belt.close(std::make_exception_ptr(std::runtime_error("enough")));
            else
                belt.close();
            belt.close();
        } else if (i <= producers) {
            for (int k = (i - 1) * each; k < i * each; ++k) {
                const sennit::channel_status how = limited_push(belt, k, mine);
                if (how == sennit::channel_status::closed) return;
                if (how == sennit::channel_status::success) sent.came(std::make_unique<int>(k));
            }
        } else {
            try {
                pop_all(belt, seen, mine);
            } catch (const std::runtime_error&) {
                ++errors;
            }
        }
    });
    try {
        if (belt.pop()) return false;
    } catch (const std::runtime_error&) {
        ++errors;
    }
    return seen.as(sent) && (errors > 0) == with_error &&
           belt.try_push(item()) == sennit::channel_status::closed;
}

// Each selector gives away its own items and takes the items of the other selectors, by the same
// selects, until all items have come.
class exchange {
public:
    exchange(int selectors, int items, dice& with)
        : seen(selectors * items), first_(capacities[with.from(0, 4)]), second_(any_capacity(with)),
          done_(finished_.get_future()) {}

    // The items from `next` to before `end`.
    void work(int next, int end, dice& with) {
        while (!stop_.stop_requested()) {
            bool gone = false;
            switch (with.from(0, 3)) {
            case 0: // the scope may end after the clause has happened, and the clause then stands
                (void)in_time(soon(with), [&] { once(next, next < end, gone, with); });
                break;
            case 1: {
                sennit::nursery family;
                family.start(
                    [&, its = dice(with.seed())]() mutable { once(next, next < end, gone, its); });
                pause(with);
                family.cancel();
                family.join();
                break;
            }
            default:
                once(next, next < end, gone, with);
            }
            if (gone) ++next;
            if (seen.complete()) finish();
        }
    }
    ledger seen;

private:
    void once(int next, bool any, bool& gone, dice& with) {
        const auto sent = [&gone] { gone = true; };
        const auto take = [this](const item& one) { seen.came(one); };
        const bool limited = one_in(with, 3);
        sennit::select(
            sennit::when(any, sennit::on_push(first_, std::make_unique<int>(next), sent)),
            sennit::on_pop(first_, take), sennit::on_pop(second_, take),
            sennit::when(any, sennit::on_push(second_, std::make_unique<int>(next), sent)),
            sennit::when(limited, sennit::after(soon(with), [] {})),
            sennit::on_stop(stop_.get_token(), [] {}), sennit::on_ready(done_, [] {}));
    }
    void finish() {
        if (finishing_.exchange(true)) return;
        finished_.set_value(); // ends the selectors
        stop_.request_stop();
    }

    line first_, second_;
    sennit::promise<void> finished_;
    sennit::shared_future<void> done_;
    std::stop_source stop_;
    std::atomic<bool> finishing_{false};
};

bool exchanges(dice& with) {
    const int selectors = with.from(2, 6), each = with.from(1, 15);
    exchange market(selectors, each, with);
    strands(with, selectors,
            [&](int i, dice& mine) { market.work(i * each, (i + 1) * each, mine); });
    return market.seen.each_once();
}

// Stages in a nursery that is cancelled at any time: each item that went in is out, or in between.
bool cancelled_pipeline(dice& with) {
    const int items = with.from(1, 100), producers = with.from(1, 3), movers = with.from(1, 3);
    line from(any_capacity(with)), to(any_capacity(with));
    ledger sent(items), seen(items), held(items);
    std::atomic<int> next{0};
    const auto produce = [&](dice mine) {
        for (int k; (k = next++) < items;) {
            int tries = mine.from(1, 3);
            while (tries-- > 0 && limited_push(from, k, mine) != sennit::channel_status::success) {
            }
            if (tries >= 0) sent.came(std::make_unique<int>(k));
        }
    };
    const auto move = [&](dice mine) {
        for (;;) {
            item one;
            if (limited_pop(from, one, mine) != sennit::channel_status::success) continue;
            const int which = *one;
            try {
                if (to.push_for(std::move(one), mine.from(0, 1) * 1h) !=
                    sennit::channel_status::success)
                    held.came(std::make_unique<int>(which));
            } catch (const sennit::cancelled&) { // the item is still the caller's
                held.came(one);
                throw;
            }
        }
    };
    sennit::nursery stages;
    for (int i = 0; i < producers; ++i)
        stages.start([&, mine = dice(with.seed())] { produce(mine); });
    for (int i = 0; i < movers; ++i) stages.start([&, mine = dice(with.seed())] { move(mine); });
    const auto until = clock::now() + 10 * soon(with);
    item one;
    while (to.pop_until(one, until) == sennit::channel_status::success) seen.came(one);
    stages.cancel();
    stages.join();
    while (to.try_pop(one) == sennit::channel_status::success ||
           from.try_pop(one) == sennit::channel_status::success)
        seen.came(one);
    for (int k = 0; k < items; ++k)
        if (sent.times(k) > 1 || sent.times(k) != seen.times(k) + held.times(k)) return false;
    return true;
}

// A clause that happens takes an item, and every other clause takes none. The result tells which
// clauses have happened.
bool combinations(dice& with) {
    const int pieces = with.from(1, 30);
    line a(any_capacity(with)), b(any_capacity(with));
    ledger seen(2 * pieces);
    sennit::counting_semaphore<> clerks(1);
    std::atomic<int> feeding{2}, wrong{0};
    strands(with, 4, [&](int i, dice& mine) {
        if (i < 2) {
            for (int k = i * pieces; k < (i + 1) * pieces; ++k)
                while (limited_push(i == 0 ? a : b, k, mine) != sennit::channel_status::success) {
                }
            --feeding;
            return;
        }
        while (feeding != 0 || !seen.complete()) {
            std::array<bool, 4> did{};
            bool acquired = false;
            const auto take = [&](int which) {
                return [&, which](const item& one) {
                    did[static_cast<std::size_t>(which)] = true;
                    seen.came(one);
                };
            };
            const sennit::waited how = sennit::waituntil(
                (sennit::on_pop(a, take(0)) and
                 (sennit::on_pop(b, take(1)) or
                  sennit::on_acquire(clerks, [&] { did[2] = acquired = true; }))) or
                sennit::after(soon(mine), [&] { did[3] = true; }));
            if (acquired) clerks.release();
            for (std::size_t k = 0; k < did.size(); ++k)
                if (did[k] != how.happened(k)) ++wrong;
            if (!how || (did[1] && did[2]) || (!did[3] && !(did[0] && (did[1] || did[2])))) ++wrong;
        }
    });
    return wrong == 0 && seen.each_once() && clerks.try_acquire();
}

constexpr program all_programs[] = {
    {"limited channels", &limited_channels},
    {"closed in the middle", &closed_in_the_middle},
    {"exchanges", &exchanges},
    {"cancelled pipeline", &cancelled_pipeline},
    {"combinations", &combinations},
};

} // namespace
} // namespace mix_limits_channels

std::span<const program> limits_channel_programs() {
    return mix_limits_channels::all_programs;
}

} // namespace soak
