// SPDX-License-Identifier: Apache-2.0
// Stackful coroutines that move between fibers and threads, are abandoned and destroyed half way,
// and block and are cancelled inside. Each frame of their bodies is counted, and none may be left.
#include "mix.hpp"
#include "mix_frame.hpp"
#include "mix_visitors.hpp"

#include <sennit/sennit.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace soak {

namespace mix_coroutines {
namespace {

using std::chrono::microseconds;

// ---- a coroutine that several strands share ----------------------------------------------------

using walker = sennit::coroutine<int, long>;

struct shared {
    std::atomic<int> live{0}, wrong{0};
    sennit::mutex guard;
    sennit::channel<int> notes{2};
};

// A coroutine that adds up its input values, at a call depth that changes. Its answer is always the
// sum. The value 0 makes the coroutine return one level.
struct traveller {
    traveller(shared& everybodys, dice own) : all(everybodys), with(std::move(own)) {}

    // this part behaves like any function of the resumer
    void work() {
        switch (with.from(0, 6)) {
        case 0:
            sennit::this_fiber::yield();
            break;
        case 1: {
            std::lock_guard in(all.guard);
            if (with.from(0, 1) == 0) sennit::this_fiber::yield();
            break;
        }
        case 2: {
            auto [a, b] = sennit::fork_join([] { return 1; }, [] { return 2; });
            if (a + b != 3) ++all.wrong;
            break;
        }
        case 3: {
            sennit::coroutine<void, int> inner([this](auto& self) {
                frame here(all.live);
                self.suspend(5);
                sennit::this_fiber::yield();
                return 6;
            });
            if (inner.resume() != 5 || (with.from(0, 1) == 0 && inner.resume() != 6)) ++all.wrong;
            break;
        }
        case 4:
            sennit::fiber([] { sennit::this_fiber::yield(); }).join();
            break;
        default:;
        }
    }
    void descend(sennit::suspender<int, long>& self, int depth) {
        frame here(all.live);
        for (;;) {
            try {
                const int in = self.suspend(total);
                if (in == 0) return;
                total += in;
                work();
                if (depth < 6 && with.from(0, 2) == 0) descend(self, depth + 1);
            } catch (const std::range_error& error) {
                if (std::uncaught_exceptions() != 0 || error.what() != std::string_view("raised"))
                    ++all.wrong;
                if (with.from(0, 2) == 0) continue;
                // The resumption is inside the handler, which may continue on another thread.
                if (with.from(0, 1) == 0) {
                    total += self.suspend(total);
                    work();
                }
                throw;
            }
        }
    }
    void begin() {
        body.emplace([this](auto& self, int first) {
            frame here(all.live);
            total += first;
            descend(self, 0);
            return total;
        });
    }
    // Resumes the coroutine several times. Returns false if there are no more resumptions.
    bool go(int turns) {
        try {
            for (; turns > 0 && !body->done(); --turns) {
                const int value = left-- > 0 ? with.from(1, 100) : 0;
                const long before = total;
                const bool raises = std::exchange(begun, true) && with.from(0, 9) == 0;
                raised |= raises;
                const long answer =
                    raises ? body->raise(std::make_exception_ptr(std::range_error("raised")))
                           : body->resume(value);
                if (answer != total || total < before) ++all.wrong;
                if (with.from(0, 9) == 0)
                    body.emplace(
                        walker(std::move(*body))); // replaces the coroutine in its present state
            }
        } catch (const std::range_error&) {
            if (!raised || !body->done()) ++all.wrong;
        }
        return !body->done();
    }

    shared& all;
    dice with;
    long total = 0;
    int left = 0; // the resumptions with values that are left
    bool begun = false, raised = false;
    std::optional<walker> body;
};

bool travellers(dice& with) {
    shared all;
    using line = sennit::channel<std::unique_ptr<traveller>>;
    line road(line::unbounded);
    const int count = with.from(1, 12);
    std::atomic<int> left{count};
    for (int i = 0; i < count; ++i) {
        auto one = std::make_unique<traveller>(all, dice(with.seed()));
        one->left = with.from(0, 20);
        one->begin();
        road.push(std::move(one));
    }
    {
        visitors hands;
        for (int i = with.from(1, 6); i > 0; --i)
            hands.either(with, [&, mine = dice(with.seed())]() mutable {
                for (auto& one : road) {
                    // Now and then the coroutine is destroyed in its present state.
                    if (mine.from(0, 15) != 0 && one->go(mine.from(1, 4))) {
                        road.push(std::move(one));
                    } else {
                        one.reset();
                        if (--left == 0) road.close();
                    }
                }
            });
    }
    return left == 0 && all.live == 0 && all.wrong == 0;
}

// ---- circles ------------------------------------------------------------------------------------

// Coroutines that pass a ball to any other coroutine. The coroutine that holds the ball at the end
// answers with the number of the thrower, and leaves the game.
struct circle {
    circle(int count, dice own) : with(std::move(own)), begun(static_cast<std::size_t>(count)) {
        players.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i)
            players.emplace_back([this, i](auto& self, int ball) {
                frame here(live);
                begun[static_cast<std::size_t>(i)] = true;
                while (ball > 0) {
                    ++hops;
                    if (with.from(0, 9) == 0) sennit::this_fiber::yield();
                    player* next = with.from(0, 4) != 0
                                       ? other_than(i)
                                       : nullptr; // null: the player keeps the ball for the rest
                    try {
                        ball = next ? self.transfer(*next, ball - 1) : self.suspend(-ball);
                    } catch (const std::logic_error&) {
                        ball = raised;
                    }
                }
                if (with.from(0, 9) == 0) throw std::range_error("dropped");
                return i;
            });
    }
    using player = sennit::coroutine<int, int>;
    player* other_than(int me) {
        const int count = static_cast<int>(players.size()), from = with.from(0, count - 1);
        for (int k = 0; k < count; ++k) {
            const int at = (from + k) % count;
            if (at != me && !players[static_cast<std::size_t>(at)].done())
                return &players[static_cast<std::size_t>(at)];
        }
        return nullptr;
    }
    // Returns false if no player is left.
    bool play(int ball) {
        player* first = other_than(-1);
        if (!first) return false;
        const long before = hops;
        bool ended = true;
        try {
            const auto at = static_cast<std::size_t>(first - &players.front());
            const bool raises = with.from(0, 4) == 0;
            if (raises) ball = begun[at] ? raised : 0;
            const int answer =
                raises ? first->raise(std::make_exception_ptr(std::logic_error("raised")))
                       : first->resume(ball);
            if (answer < 0) {
                ended = false;
                ball += answer + 1;
            } else if (!players[static_cast<std::size_t>(answer)].done()) {
                ++wrong;
            }
        } catch (const std::range_error&) {
        } catch (const std::logic_error&) { // the coroutine had not begun
        }
        if (hops - before != ball) ++wrong;
        outs += ended ? 1 : 0;
        return true;
    }
    static constexpr int raised = 3; // the steps that the ball has left when an exception is thrown
    dice with;
    std::vector<bool> begun;
    std::atomic<int> live{0};
    long hops = 0;
    int wrong = 0, outs = 0;
    std::vector<player> players;
};

bool circles(dice& with) {
    const int count = with.from(1, 10);
    auto all = std::make_unique<circle>(count, dice(with.seed()));
    sennit::mutex turn;
    {
        visitors throwers;
        for (int i = with.from(1, 4); i > 0; --i)
            throwers.either(with, [&, mine = dice(with.seed())]() mutable {
                for (int k = mine.from(1, 10); k > 0; --k) {
                    std::lock_guard in(turn);
                    if (!all->play(mine.from(0, 40))) return;
                }
            });
    }
    int done = 0;
    for (const auto& one : all->players) done += one.done() ? 1 : 0;
    const bool right = all->wrong == 0 && done == all->outs;
    all->players.clear(); // suspended players, too
    return right && all->live == 0;
}

// ---- bodies that block --------------------------------------------------------------------------

// Bodies that wait in a channel while their resumers are cancelled or run out of time. Either the
// body ends, or the wait has no effect. No value is lost.
bool blocked_bodies(dice& with) {
    sennit::channel<int> line(static_cast<std::size_t>(with.from(0, 3)));
    std::atomic<int> live{0}, wrong{0};
    std::atomic<long> sent{0}, got{0};
    sennit::mutex guard;
    const int pieces = with.from(1, 40);
    sennit::nursery family;
    for (int i = with.from(1, 6); i > 0; --i)
        family.start([&, mine = dice(with.seed())]() mutable {
            const auto body = [&](auto& self) -> int {
                frame here(live);
                for (;;) {
                    {
                        std::unique_lock in(guard);
                        if (mine.from(0, 3) == 0) sennit::this_fiber::yield();
                    }
                    try {
                        got += line.pop().value_or(0);
                    } catch (const sennit::cancelled&) {
                        if (mine.from(0, 1) == 0)
                            self.suspend(2); // inside the resumer's limit; resumed later
                        throw;
                    }
                    self.suspend(1);
                }
            };
            for (;;) {
                sennit::coroutine<void, int> one(body);
                for (int turns = mine.from(1, 9); turns > 0 && !one.done(); --turns) {
                    try {
                        const int answer =
                            mine.from(0, 1) == 0
                                ? one.resume()
                                : sennit::with_timeout(brief(mine), [&] { return one.resume(); });
                        if (one.done() || answer < 1 || answer > 2) ++wrong;
                        if (answer == 2) {
                            try {
                                one.resume();
                                ++wrong;
                            } catch (const sennit::cancelled&) {
                                if (!one.done()) ++wrong;
                            }
                        }
                    } catch (const sennit::timed_out&) {
                        if (!one.done()) ++wrong;
                    }
                }
                sennit::this_fiber::checkpoint();
            }
        });
    {
        visitors senders;
        for (int i = with.from(1, 3); i > 0; --i)
            senders.either(with, [&] {
                for (int k = 1; k <= pieces; ++k) {
                    line.push(k);
                    sent += k;
                }
            });
    }
    family.cancel();
    family.join();
    line.close();
    while (const auto rest = line.pop()) got += *rest;
    return sent == got && live == 0 && wrong == 0;
}

constexpr program some_programs[] = {
    {"travellers", &travellers}, {"circles", &circles}, {"blocked bodies", &blocked_bodies}};

} // namespace
} // namespace mix_coroutines

std::span<const program> coroutines_programs() {
    return mix_coroutines::some_programs;
}

} // namespace soak
