// SPDX-License-Identifier: Apache-2.0
// Families with a limit, races, shared values and leases, with time limits and errors at random.
#include "mix_limits.hpp"

#include <algorithm>
#include <atomic>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace soak {

namespace mix_families {
namespace {

using namespace std::chrono_literals;

struct failure : std::runtime_error {
    failure() : std::runtime_error("of a child") {}
};

// Children start siblings at the limit, fail, wait and are cut short. Never more than `limit`
// children run, and all have ended at the end.
bool nurseries_with_a_limit(dice& with) {
    const int limit = with.from(1, 5), count = with.from(0, 40);
    const bool collect = one_in(with, 3), fails = one_in(with, 3);
    std::atomic<int> inside{0}, too_many{0}, failures{0};
    std::size_t reported = 0;
    const bool ended = in_time(one_in(with, 2) ? soon(with) : std::chrono::microseconds(1h), [&] {
        sennit::nursery family(
            {.limit = static_cast<std::size_t>(limit), .collect_errors = collect});
        const auto body = [&](std::uint64_t seed) {
            dice mine(seed);
            if (++inside > limit) ++too_many;
            struct leave {
                std::atomic<int>& number;
                ~leave() { --number; }
            } last{inside};
            pause(mine);
            if (one_in(mine, 8)) sennit::this_fiber::sleep_for(soon(mine));
            if (fails && one_in(mine, 4)) {
                ++failures;
                throw failure();
            }
        };
        for (int i = 0; i < count; ++i) {
            const std::uint64_t seed = with.seed();
            if (one_in(with, 3))
                family.start([&, seed] { family.start([&body, seed] { body(seed); }); });
            else if (one_in(with, 4))
                (void)family.try_start([&body, seed] { body(seed); });
            else
                family.start([&body, seed] { body(seed); });
            if (one_in(with, 60)) family.cancel();
        }
        try {
            family.join();
        } catch (const failure&) {
            reported = 1;
        } catch (const sennit::exception_list& all) {
            reported = all.size();
        }
    });
    if (inside != 0 || too_many != 0) return false;
    if (!ended) return true;
    return collect ? reported == static_cast<std::size_t>(failures) : reported <= 1;
}

// Sums over a range, by all three functions, from a container or a channel.
bool ranges_with_a_limit(dice& with) {
    const int count = with.from(0, 60);
    const auto limit = static_cast<std::size_t>(with.from(1, 8));
    const int leave_at = one_in(with, 3) ? with.from(0, 60) : count;
    std::vector<std::uint64_t> seeds;
    for (int i = 0; i < count; ++i) seeds.push_back(with.seed());
    const auto work = [&](int i) {
        dice mine(seeds[static_cast<std::size_t>(i)]);
        pause(mine);
        return i;
    };
    const auto all = std::views::iota(0, count);
    bool right = true;
    (void)in_time(one_in(with, 3) ? soon(with) : std::chrono::microseconds(1h), [&] {
        const auto mapped = sennit::map_concurrent(all, limit, work);
        right = std::ranges::equal(mapped, all);
        std::vector<char> seen(static_cast<std::size_t>(count));
        int number = 0;
        for (const int i : sennit::as_completed(all, limit, work)) {
            right = right && !std::exchange(seen[static_cast<std::size_t>(i)], 1);
            pause(with);
            if (number++ == leave_at) break;
        }
        sennit::channel<int> input(static_cast<std::size_t>(with.from(0, 4)));
        sennit::fiber sender([&](std::stop_token stop) {
            for (int i = 0; i < count && !stop.stop_requested(); ++i)
                while (input.push_for(i, 1ms) == sennit::channel_status::timeout)
                    if (stop.stop_requested()) return;
            input.close();
        });
        std::atomic<long> sum{0};
        sennit::for_each_concurrent(input, limit, [&](int i) { sum += work(i); });
        right = right && sum == static_cast<long>(count) * (count - 1) / 2;
    });
    return right;
}

bool races_and_retries(dice& with) {
    bool right = true;
    (void)in_time(one_in(with, 3) ? soon(with) : std::chrono::microseconds(1h), [&] {
        std::vector<std::function<int()>> racers;
        const int count = with.from(1, 6), fail = with.from(0, count);
        for (int i = 0; i < count; ++i)
            racers.emplace_back([seed = with.seed(), i, fail] {
                dice mine(seed);
                pause(mine);
                if (i < fail) throw failure();
                if (one_in(mine, 2)) sennit::this_fiber::sleep_for(soon(mine));
                return i;
            });
        try {
            right = sennit::race(racers) >= fail;
        } catch (const sennit::exception_list& all) {
            right = fail == count && all.size() == static_cast<std::size_t>(count);
        }
        int attempts = 0;
        const int needed = with.from(1, 5);
        const sennit::retry_policy policy{.attempts = 4,
                                          .backoff = {.first = soon(with), .jitter = 1}};
        try {
            sennit::retry(policy, [&] {
                if (++attempts < needed) throw failure();
            });
            right = right && attempts == needed;
        } catch (const failure&) {
            right = right && needed == 5 && attempts == 4;
        }
    });
    return right;
}

// Each subscriber sees or misses each value, and observers see the last one.
bool shared_values(dice& with) {
    const int count = with.from(0, 50), readers = with.from(1, 4);
    sennit::broadcast<int> numbers(static_cast<std::size_t>(with.from(1, 8)));
    sennit::watch<int> latest(-1);
    std::vector<sennit::broadcast<int>::subscriber> subscribers;
    std::vector<sennit::watch<int>::observer> observers;
    for (int k = 0; k < readers; ++k) {
        subscribers.push_back(numbers.subscribe());
        observers.push_back(latest.observe());
    }
    std::atomic<int> wrong{0};
    strands(with, readers + 1, [&](int i, dice& mine) {
        if (i == readers) {
            for (int n = 0; n < count; ++n) {
                pause(mine);
                numbers.publish(n);
                latest.set(n);
            }
            numbers.close();
            latest.close();
            return;
        }
        auto& from = subscribers[static_cast<std::size_t>(i)];
        std::uint64_t seen = 0;
        sennit::broadcast<int>::item one;
        for (;;) {
            const auto how = one_in(mine, 2) ? from.pop_for(one, soon(mine)) : from.try_pop(one);
            if (how == sennit::channel_status::closed) break;
            if (how != sennit::channel_status::success) {
                sennit::this_fiber::yield();
                continue;
            }
            seen += one.missed();
            if (static_cast<std::uint64_t>(*one) != seen++) ++wrong;
        }
        if (seen != static_cast<std::uint64_t>(count)) ++wrong;
        auto& follower = observers[static_cast<std::size_t>(i)];
        int last = -1;
        while (const auto next = follower.wait()) last = *next;
        if (last != count - 1) ++wrong;
    });
    return wrong == 0;
}

// Borrowers of a few objects, callers of a few keys.
bool leases_and_flights(dice& with) {
    const int count = with.from(1, 6), rounds = with.from(0, 30);
    sennit::lease_pool<std::string> pool;
    sennit::single_flight<int, int> calls({.lifetime = one_in(with, 2) ? 0us : soon(with)});
    sennit::counter uses;
    std::atomic<int> wrong{0};
    strands(with, count, [&](int i, dice& mine) {
        const std::string me = std::to_string(i);
        for (int k = 0; k < rounds; ++k) {
            auto lease = pool.borrow();
            *lease = me;
            pause(mine);
            if (*lease != me) ++wrong;
            uses.add();
            const int key = mine.from(0, 2);
            (void)in_time(one_in(mine, 3) ? soon(mine) : std::chrono::microseconds(1h), [&] {
                const int got = calls.get(key, [&] {
                    pause(mine);
                    if (one_in(mine, 4)) sennit::this_fiber::sleep_for(soon(mine));
                    return key;
                });
                if (got != key) ++wrong;
            });
        }
    });
    return wrong == 0 && uses.value() == static_cast<long>(count) * rounds;
}

constexpr program all_programs[] = {
    {"nurseries with a limit", &nurseries_with_a_limit},
    {"ranges with a limit", &ranges_with_a_limit},
    {"races and retries", &races_and_retries},
    {"shared values", &shared_values},
    {"leases and flights", &leases_and_flights},
};

} // namespace
} // namespace mix_families

std::span<const program> families_programs() {
    return mix_families::all_programs;
}

} // namespace soak
