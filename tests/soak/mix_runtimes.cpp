// SPDX-License-Identifier: Apache-2.0
// Runtimes that change while they work: they grow and shrink, fibers enter one from another and
// leave one for good, and they have their own scheduling order. Fibers, bound or not, yield in
// loops for each other.
#include "mix.hpp"
#include "mix_visitors.hpp"

#include "core/runtime/runtime_core.hpp"

#include <sennit/obs/dump.hpp>
#include <sennit/sennit.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace soak {

namespace mix_runtimes {
namespace {

using std::chrono::microseconds;

// Each such program makes threads, so it runs seldom.
bool seldom(dice& with) {
    return with.from(0, 3) == 0;
}

// Plain variables behind each kind of lock, and places to wait in, for fibers of several runtimes
// and threads.
struct common {
    void visit(dice& with) {
        switch (with.from(0, 4)) {
        case 0: {
            std::lock_guard in(guard);
            ++visits;
            if (with.from(0, 1) == 0) sennit::this_fiber::yield();
            break;
        }
        case 1: {
            const auto in = sennit::enter(door);
            ++entries;
            if (with.from(0, 1) == 0) sennit::this_fiber::yield();
            break;
        }
        case 2:
            line.push(1);
            drawn += line.pop().value_or(0);
            ++sent;
            break;
        case 3: {
            auto [a, b] = sennit::fork_join([] { return 3; }, [] { return 4; });
            if (a + b != 7) ++wrong;
            break;
        }
        default:
            sennit::this_fiber::sleep_for(brief(with));
        }
        ++calls;
    }
    bool right() const { return wrong == 0 && drawn == sent; }

    sennit::mutex guard;
    sennit::monitor door;
    // There are at most this many fibers at once, so each push finds room, or will find it.
    sennit::channel<int> line{32};
    long visits = 0, entries = 0;
    std::atomic<long> drawn{0}, sent{0}, calls{0};
    std::atomic<int> wrong{0};
};

// ---- a scheduling order of the program ---------------------------------------------------------

// An order that takes a task from either end, or the most urgent task. It returns each task that it
// was given once.
class odd_order final : public sennit::scheduling_order {
public:
    ~odd_order() override { lost += held_; }
    void push(sennit::ready_item& item) noexcept override {
        ++held_;
        if (++turn_ % 3 == 0)
            items_.push_front(item);
        else
            items_.push_back(item);
    }
    sennit::ready_item* pop() noexcept override {
        sennit::ready_item* best = items_.front();
        for (sennit::ready_item* at = best; at && ++turn_ % 5 != 0;
             at = sennit::ready_list::after(*at))
            if (sennit::priority_of(*at) > sennit::priority_of(*best)) best = at;
        if (best) remove(*best);
        return best;
    }
    void remove(sennit::ready_item& item) noexcept override {
        --held_;
        items_.remove(item);
    }
    static inline std::atomic<long> lost{0};

private:
    sennit::ready_list items_;
    long held_ = 0;
    unsigned turn_ = 0;
};

std::unique_ptr<sennit::runtime> make(dice& with, unsigned workers, unsigned most) {
    const int kind = with.from(0, 2);
    return std::make_unique<sennit::runtime>(sennit::runtime_options{
        .workers = workers,
        .stack_size = 256 << 10,
        .policy = kind == 0 ? sennit::scheduling::stealing : sennit::scheduling::sharing,
        .order = kind == 2 ? sennit::make_order<odd_order> : nullptr,
        .max_workers = most,
        .name = "brief"});
}

// ---- growing and shrinking ----------------------------------------------------------------------

// Reads the runtime's state while the fibers work.
void look_at(const sennit::runtime& group, dice& with, std::atomic<int>& wrong) {
    std::ostringstream text;
    if (with.from(0, 1) == 0)
        group.dump(text);
    else
        sennit::obs::dump(text);
    if (text.str().find("workers") == std::string::npos) ++wrong;
    if (group.metrics().workers == 0) ++wrong;
}

bool resized(dice& with) {
    if (!seldom(with)) return true;
    common all;
    const auto least = static_cast<unsigned>(with.from(1, 2)),
               most = least + static_cast<unsigned>(with.from(1, 3));
    const auto group = make(with, least, most);
    const int fibers = with.from(1, 24), times = with.from(1, 20);
    const auto size = [=](dice& by) {
        return static_cast<unsigned>(by.from(static_cast<int>(least), static_cast<int>(most)));
    };
    std::atomic<int> ended{0};
    {
        visitors hands;
        for (int i = 0; i < fibers; ++i) {
            sennit::fiber_attributes how{.runtime = group.get()};
            if (i % 3 == 0) how.worker = static_cast<unsigned>(with.from(0, int(least) - 1));
            if (i % 5 == 1) how.stack_size = 512 << 10;
            hands.fiber(how, [&, mine = dice(with.seed())]() mutable {
                for (int k = 0; k < times; ++k) {
                    all.visit(mine);
                    if (mine.from(0, 7) == 0) group->resize(size(mine));
                    if (mine.from(0, 7) == 0)
                        sennit::fiber({.pinned = true}, [&] {
                            sennit::this_fiber::yield();
                        }).join();
                }
                ++ended;
            });
        }
        for (int i = with.from(0, 2); i > 0; --i)
            hands.either(with, [&, mine = dice(with.seed())]() mutable {
                for (int k = 0; k < 4; ++k) {
                    group->resize(size(mine));
                    group->run([&] { all.visit(mine); });
                    if (mine.from(0, 3) == 0) look_at(*group, mine, all.wrong);
                }
            });
    }
    group->resize(most);
    return group->workers() == most && ended == fibers && all.right();
}

// ---- clusters -----------------------------------------------------------------------------------

struct clusters {
    explicit clusters(dice& with) {
        for (auto& one : groups) one = make(with, static_cast<unsigned>(with.from(1, 2)), 3);
    }
    std::array<std::unique_ptr<sennit::runtime>, 2> groups;
    common all;
    sennit::runtime& any(dice& with) { return *groups[static_cast<std::size_t>(with.from(0, 1))]; }

    // Migrates from one runtime to the other, also while it holds a lock.
    void wander(dice& with, int times) {
        const auto id = sennit::this_fiber::get_id();
        for (int k = 0; k < times; ++k) {
            sennit::runtime& to = any(with);
            if (with.from(0, 3) == 0) {
                std::lock_guard in(all.guard);
                ++all.visits;
                sennit::this_fiber::migrate_to(to);
            } else if (with.from(0, 3) == 0) {
                const auto in = sennit::enter(all.door);
                ++all.entries;
                sennit::this_fiber::migrate_to(to);
            } else {
                sennit::this_fiber::migrate_to(to);
            }
            if (sennit::sched::current_runtime() != &to.core() ||
                sennit::this_fiber::get_id() != id)
                ++all.wrong;
            all.visit(with);
            if (sennit::sched::current_runtime() != &to.core()) ++all.wrong;
        }
    }
    // Enters one runtime from the other, repeatedly.
    int nest(dice& with, int depth) {
        if (depth == 0) {
            all.visit(with);
            return 0;
        }
        return any(with).run([&] { return nest(with, depth - 1) + 1; });
    }
};

bool wanderers(dice& with) {
    if (!seldom(with)) return true;
    clusters here(with);
    auto doomed =
        make(with, 1, 2); // all fibers leave this runtime, and it ends while they continue
    const int fibers = with.from(1, 16), times = with.from(1, 12);
    std::atomic<int> ended{0};
    sennit::latch away(fibers);
    {
        visitors hands;
        for (int i = 0; i < fibers; ++i)
            hands.fiber({.name = "wanderer",
                         .runtime = i % 2 == 0 ? doomed.get() : &here.any(with),
                         .migratable = true},
                        [&, mine = dice(with.seed())]() mutable {
                            if (mine.from(0, 1) == 0) sennit::this_fiber::yield();
                            sennit::this_fiber::migrate_to(here.any(mine));
                            away.count_down();
                            here.wander(mine, times);
                            if (sennit::this_fiber::name() == "wanderer") ++ended;
                        });
        for (int i = with.from(0, 3); i > 0; --i)
            hands.either(with, [&, mine = dice(with.seed())]() mutable {
                for (int k = 0; k < times; ++k) {
                    const int depth = mine.from(0, 5);
                    if (here.nest(mine, depth) != depth) ++here.all.wrong;
                    if (mine.from(0, 9) == 0)
                        here.any(mine).resize(static_cast<unsigned>(mine.from(2, 3)));
                    if (mine.from(0, 19) == 0) look_at(here.any(mine), mine, here.all.wrong);
                }
            });
        for (int k = 0; k < times; ++k) { // in any runtime that the fiber has reached
            auto& one = hands.fibers()[static_cast<std::size_t>(with.from(0, fibers - 1))];
            one.set_priority(with.from(-20, 20));
            if (with.from(0, 1) == 0) sennit::this_fiber::yield();
        }
        away.wait();
        doomed.reset();
        for (int k = 0; k < times; ++k)
            hands.fibers()[static_cast<std::size_t>(with.from(0, fibers - 1))].set_priority(
                with.from(-20, 20));
    }
    return ended == fibers && here.all.right();
}

// ---- priorities ---------------------------------------------------------------------------------

bool orders(dice& with) {
    if (!seldom(with)) return true;
    common all;
    const int fibers = with.from(1, 24), times = with.from(1, 15);
    std::atomic<int> ended{0};
    {
        sennit::runtime group({.workers = static_cast<unsigned>(with.from(1, 3)),
                               .stack_size = 256 << 10,
                               .order = with.from(0, 2) == 0
                                            ? sennit::make_order<sennit::priority_order>
                                            : sennit::make_order<odd_order>});
        visitors hands;
        for (int i = 0; i < fibers; ++i)
            hands.fiber({.runtime = &group, .priority = with.from(-20, 20)},
                        [&, mine = dice(with.seed())]() mutable {
                            for (int k = 0; k < times; ++k) {
                                all.visit(mine);
                                if (mine.from(0, 3) == 0)
                                    sennit::this_fiber::set_priority(mine.from(-20, 20));
                                sennit::this_fiber::yield();
                            }
                            ++ended;
                        });
        for (int k = 0; k < 4 * times; ++k) {
            auto& one = hands.fibers()[static_cast<std::size_t>(with.from(0, fibers - 1))];
            one.set_priority(with.from(-20, 20));
            if (with.from(0, 3) == 0) sennit::this_fiber::yield();
        }
        hands.join();
    }
    return ended == fibers && odd_order::lost == 0 && all.right();
}

// ---- no fiber starves --------------------------------------------------------------------------

// The fibers take turns, and all waiting fibers yield meanwhile. The fibers are made in every way,
// and none of them ever blocks.
bool turns(dice& with) {
    const int fibers = with.from(2, 5),
              rounds = with.from(
                  1, 2); // where there are more workers than processors, a turn takes milliseconds
    std::atomic<int> turn{0};
    const auto take_turns = [&turn, fibers, rounds](int me, auto&& yield) {
        for (int k = 0; k < rounds; ++k) {
            while (turn != k * fibers + me) yield();
            ++turn;
        }
    };
    {
        visitors hands;
        for (int i = 0; i < fibers; ++i) {
            const int kind = with.from(0, 7);
            sennit::fiber_attributes how;
            how.pinned = kind == 1;
            if (kind == 2) how.worker = 0;
            how.migratable = kind == 3;
            if (kind == 4) how.stack_size = 512 << 10;
            if (kind == 5) how.policy = sennit::launch::now;
            const auto yield = [] { sennit::this_fiber::yield(); };
            if (kind == 6 && with.from(0, 3) == 0)
                hands.thread([=] { take_turns(i, yield); });
            else if (kind == 7)
                hands.fiber(how, [=] { take_turns(i, sennit::checkpoints(microseconds(5))); });
            else
                hands.fiber(how, [=] { take_turns(i, yield); });
        }
    }
    return turn == fibers * rounds;
}

// Loops that yield to the strand that ends them, and to their limit.
bool checkpointed_loops(dice& with) {
    std::atomic<int> tasks{0};
    const int helpers = with.from(1, 6), count = with.from(1, 500);
    bool late = false;
    {
        visitors hands;
        for (int i = 0; i < helpers; ++i) hands.fiber({.pinned = i % 2 == 0}, [&] { ++tasks; });
        SENNIT_WHILE(tasks != helpers) {}
    }
    int sum = 0;
    const std::vector<int> ones(static_cast<std::size_t>(count), 1);
    for (const int one : sennit::checkpointed(ones, microseconds(1))) sum += one;
    try {
        sennit::with_timeout(brief(with), [] {
            SENNIT_FOR(;;) {}
        });
    } catch (const sennit::timed_out&) {
        late = true;
    }
    return late && sum == count && tasks == helpers;
}

constexpr program some_programs[] = {{"resized", &resized},
                                     {"wanderers", &wanderers},
                                     {"orders", &orders},
                                     {"turns", &turns},
                                     {"checkpointed loops", &checkpointed_loops}};

} // namespace
} // namespace mix_runtimes

std::span<const program> runtimes_programs() {
    return mix_runtimes::some_programs;
}

} // namespace soak
