// SPDX-License-Identifier: Apache-2.0
// Objects that are destroyed as soon as their headers allow, and waits that a limit must not reach.
#include "mix_limits.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <vector>

namespace soak {

namespace mix_limits_ends {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

template <class F>
void until_served(dice& with, F wait) {
    if (!in_time(soon(with), wait)) wait();
}

// The waiter continues while the last strand that served it is still inside its call.
bool last_counts(dice& with) {
    const int count = with.from(1, 5);
    auto latch = std::make_unique<sennit::latch>(count);
    auto tokens = std::make_unique<sennit::counting_semaphore<>>(0);
    auto given = std::make_unique<sennit::promise<int>>();
    auto wanted = given->get_future();
    std::atomic<int> seen{0};
    strands(with, count + 1, [&](int i, dice& mine) {
        auto& counted = *latch;
        auto& acquired = *tokens;
        auto& set = *given;
        if (i == count) {
            until_served(mine, [&] { counted.wait(); });
            latch.reset();
            for (int k = 0; k < count; ++k)
                while (!acquired.try_acquire_for(soon(mine))) {
                }
            tokens.reset();
            until_served(mine, [&] { wanted.wait(); });
            given.reset();
            seen = wanted.get();
            return;
        }
        pause(mine);
        counted.count_down();
        acquired.release();
        if (i == 0) set.set_value(7);
    });
    return seen == 7;
}

// The last holder of the lock destroys it while another strand's unlock is still inside its call.
template <class Mutex, class F>
bool locked_in_turn(dice& with, F take) {
    const int count = with.from(1, 6), times = with.from(1, 5);
    auto* const one = new Mutex;
    std::atomic<int> left{count * times}, inside{0}, wrong{0};
    strands(with, count, [&](int, dice& mine) {
        for (int k = 0; k < times; ++k) {
            while (!take(*one, mine)) {
            }
            if (++inside != 1) ++wrong;
            if (one_in(mine, 2)) sennit::this_fiber::yield();
            --inside;
            const bool last = --left == 0;
            one->unlock();
            if (last) delete one;
        }
    });
    return left == 0 && wrong == 0;
}

bool last_locks(dice& with) {
    const auto timed = [](auto& one, dice& mine) {
        if (one_in(mine, 2)) return one.try_lock_for(soon(mine));
        one.lock();
        return true;
    };
    return locked_in_turn<sennit::timed_mutex>(with, timed) &&
           locked_in_turn<sennit::recursive_timed_mutex>(with, timed) &&
           locked_in_turn<sennit::shared_timed_mutex>(with, timed);
}

// A strand that has notified all waiters may destroy the object that they wait in, even while the
// limits of some run out.
bool told_and_gone(dice& with) {
    const int count = with.from(1, 6), yields = with.from(0, 6);
    sennit::mutex lock; // guards the next
    auto quiet = std::make_unique<sennit::condition_variable_any>();
    std::stop_source stop;
    strands(with, count + 2, [&](int i, dice& mine) {
        for (int k = 0; i < 2 && k < yields; ++k) sennit::this_fiber::yield();
        if (i == 1) stop.request_stop();
        std::unique_lock held(lock);
        if (i == 0) {
            quiet->notify_all();
            const auto gone = std::move(quiet);
            if (one_in(mine, 2)) held.unlock();
        }
        while (quiet) {
            switch (mine.from(0, 3)) {
            case 0:
                (void)quiet->wait_for(held, soon(mine));
                break;
            case 1:
                (void)in_time(soon(mine), [&] { quiet->wait(held); });
                break;
            case 2:
                (void)quiet->wait(held, stop.get_token(), [&] { return !quiet; });
                break;
            default:
                quiet->wait(held);
            }
            held.unlock();
            pause(mine);
            held.lock();
        }
    });
    return true;
}

// A limit or a cancellation applies to the strand inside it and to the nurseries that the strand
// makes there. It does not apply to other strands that were started there.
bool strangers(dice& with) {
    const int count = with.from(1, 4);
    std::atomic<int> wrong{0};
    const auto guest = [&wrong](dice mine) {
        try {
            sennit::this_fiber::sleep_for(soon(mine));
            sennit::this_fiber::checkpoint();
            sennit::event never;
            if (never.wait_for(soon(mine))) ++wrong;
            if (in_time(soon(mine), [&] { never.wait(); })) ++wrong;
            sennit::channel<int> nobody;
            int none = 0;
            if (nobody.pop_for(none, soon(mine)) != sennit::channel_status::timeout) ++wrong;
        } catch (const sennit::cancelled&) {
            ++wrong;
        }
    };
    const auto host = [&](dice mine) {
        sennit::fiber first(guest, dice(mine.seed()));
        sennit::fiber now({.policy = sennit::launch::now}, guest, dice(mine.seed()));
        auto last = sennit::async([&guest, its = dice(mine.seed())] {
                        guest(its);
                        return 1;
                    }).then([&guest, its = dice(mine.seed())](sennit::future<int> it) {
            guest(its);
            return it.get();
        });
        first.join();
        now.join();
        sennit::fiber([&last] { last.wait(); }).join(); // no cancellation reaches this wait
    };
    strands(with, count, [&](int, dice& mine) {
        if (one_in(mine, 2)) {
            (void)in_time(soon(mine), [&] { host(dice(mine.seed())); });
            return;
        }
        sennit::nursery family;
        family.start([&host, its = dice(mine.seed())] { host(its); });
        pause(mine);
        family.cancel();
        family.join();
    });
    return wrong == 0;
}

// Fibers that are asked for the first answer end by themselves, even if their answer is no longer
// needed.
bool first_answers(dice& with) {
    const int count = with.from(1, 6);
    sennit::latch ended(count);
    std::vector<sennit::future<int>> answers;
    const int worst = with.from(0, 2);
    for (int i = 0; i < count; ++i)
        answers.push_back(sennit::async([&ended, mine = dice(with.seed()), i, worst]() mutable {
            struct counts_down {
                sennit::latch& of;
                ~counts_down() { of.count_down(); }
            } at_end{ended};
            sennit::this_fiber::sleep_for(soon(mine));
            if (i < worst) throw std::domain_error("no");
            return i;
        }));
    int first = worst;
    bool failed = false;
    try {
        (void)in_time(10 * soon(with),
                      [&] { first = sennit::wait_first_success(std::move(answers)); });
    } catch (const sennit::exception_list& errors) {
        failed = errors.size() == static_cast<std::size_t>(count);
    }
    ended.wait();
    return first >= worst && (!failed || count <= worst);
}

// Clauses that happened before the limit ran out stand: the receiver gets exactly the pushed items.
bool both_or_neither(dice& with) {
    const int count = with.from(1, 4), times = with.from(1, 15);
    sennit::channel<int> left(static_cast<std::size_t>(with.from(0, 2))),
        right(static_cast<std::size_t>(with.from(0, 2)));
    std::atomic<long> sent{0}, received{0};
    std::atomic<int> pushing{count};
    strands(with, count + 2, [&](int i, dice& mine) {
        if (i >= count) {
            sennit::channel<int>& from = i == count ? left : right;
            for (int value : from) received += value;
            return;
        }
        for (int k = 0; k < times; ++k) {
            const int value = mine.from(1, 1'000);
            const auto pushed = [&sent](int which) { return [&sent, which] { sent += which; }; };
            (void)in_time(soon(mine), [&] {
                sennit::waituntil(sennit::on_push(left, value, pushed(value)) and
                                  sennit::on_push(right, 2 * value, pushed(2 * value)));
            });
        }
        if (--pushing == 0) {
            left.close();
            right.close();
        }
    });
    return sent == received;
}

constexpr program all_programs[] = {
    {"last counts", &last_counts},     {"last locks", &last_locks},
    {"told and gone", &told_and_gone}, {"strangers", &strangers},
    {"first answers", &first_answers}, {"both or neither", &both_or_neither},
};

} // namespace
} // namespace mix_limits_ends

std::span<const program> limits_end_programs() {
    return mix_limits_ends::all_programs;
}

} // namespace soak
