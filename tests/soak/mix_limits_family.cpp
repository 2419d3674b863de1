// SPDX-License-Identifier: Apache-2.0
// Futures, nurseries and fibers whose limit, stop, broken promise or cancellation races with their
// completion.
#include "mix_limits.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace soak {

namespace mix_limits_family {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

enum class outcome { value, error, broken };

void settle(std::optional<sennit::promise<int>>& given, outcome how) {
    if (how == outcome::value) given->set_value(7);
    if (how == outcome::error)
        given->set_exception(std::make_exception_ptr(std::domain_error("no")));
    given.reset();
}

template <class Future>
outcome outcome_of(Future& of) {
    try {
        if (of.get() != 7) throw std::logic_error("another value");
        return outcome::value;
    } catch (const std::domain_error&) {
        return outcome::error;
    } catch (const sennit::future_error& error) {
        if (error.code() != sennit::future_errc::broken_promise) throw;
        return outcome::broken;
    }
}

// Waits with limits that run out until the future is ready.
template <class Future>
outcome awaited(Future& of, dice& with) {
    for (;;) {
        switch (with.from(0, 4)) {
        case 0:
            if (of.wait_for(soon(with)) == sennit::future_status::ready) return outcome_of(of);
            break;
        case 1:
            if (of.wait_until(std::chrono::system_clock::now() + soon(with)) ==
                sennit::future_status::ready)
                return outcome_of(of);
            break;
        case 2: {
            outcome how{};
            if (in_time(soon(with), [&] { how = outcome_of(of); })) return how;
            break;
        }
        case 3:
            if (sennit::select(sennit::on_ready(of, [] {}), sennit::after(soon(with), [] {})) == 0)
                return outcome_of(of);
            break;
        default:
            of.wait();
        }
    }
}

// Many strands use one future. The waiters, the continuations and the gathering calls all see an
// equal result.
bool shared_outcome(dice& with) {
    const int count = with.from(1, 6), yields = with.from(0, 10);
    const auto how = static_cast<outcome>(with.from(0, 2));
    std::optional<sennit::promise<int>> given(std::in_place);
    const sennit::shared_future<int> one(given->get_future());
    std::atomic<int> wrong{0}, continued{0}, chained{0};
    strands(with, count + 1, [&](int i, dice& mine) {
        if (i == 0) {
            for (int k = 0; k < yields; ++k) sennit::this_fiber::yield();
            return settle(given, how);
        }
        auto next = one.then([&](sennit::shared_future<int> it) {
            ++continued;
            return it.get();
        });
        auto third = next.then([&](sennit::future<int> it) {
            ++chained;
            return it; // a future of a future is a future
        });
        if (awaited(one, mine) != how) ++wrong;
        if (awaited(third, mine) != how) ++wrong;
    });
    return wrong == 0 && continued == count && chained == count;
}

// Several strands try to set the promise. Exactly one succeeds, and its value is the value that
// readers see.
bool contested(dice& with) {
    const int setters = with.from(1, 5);
    sennit::promise<int> given;
    auto wanted = given.get_future();
    std::atomic<int> refused{0};
    std::array<std::atomic<int>, 3> set{}, seen{};
    strands(with, setters + 1, [&](int i, dice& mine) {
        if (i == setters) {
            ++seen[static_cast<std::size_t>(awaited(wanted, mine))];
            return;
        }
        const auto how = one_in(mine, 2) ? outcome::value : outcome::error;
        try {
            if (how == outcome::value)
                given.set_value(7);
            else
                given.set_exception(std::make_exception_ptr(std::domain_error("no")));
            ++set[static_cast<std::size_t>(how)];
        } catch (const sennit::future_error&) {
            ++refused;
        }
    });
    return refused == setters - 1 && set[0] + set[1] == 1 && set[0] == seen[0] && set[1] == seen[1];
}

bool first_success(std::vector<sennit::future<int>> of, std::size_t values) {
    const std::size_t all = of.size();
    try {
        return sennit::wait_first_success(std::move(of)) == 7 && values > 0;
    } catch (const sennit::exception_list& errors) {
        return values == 0 && errors.size() == all;
    }
}

bool all_values(std::vector<sennit::future<int>> of, std::size_t values) {
    const std::size_t all = of.size();
    try {
        return sennit::wait_all_values(std::move(of)) == std::vector<int>(all, 7) && values == all;
    } catch (const std::domain_error&) {
        return values < all;
    } catch (const sennit::future_error&) {
        return values < all;
    }
}

bool each_as(std::vector<sennit::future<int>>& of, const std::vector<outcome>& how, dice& with) {
    bool right = of.size() == how.size();
    for (std::size_t k = 0; right && k < of.size(); ++k) right = awaited(of[k], with) == how[k];
    return right;
}

bool gather(std::vector<sennit::future<int>> of, const std::vector<outcome>& how, dice& with) {
    const auto values =
        static_cast<std::size_t>(std::count(how.begin(), how.end(), outcome::value));
    const auto limit = one_in(with, 2) ? soon(with) : std::chrono::microseconds(1h);
    // The answer must be right even if the time is over and the futures are dropped.
    bool right = true;
    switch (with.from(0, 3)) {
    case 0:
        (void)in_time(limit, [&] { right = first_success(std::move(of), values); });
        return right;
    case 1:
        (void)in_time(limit, [&] { right = all_values(std::move(of), values); });
        return right;
    case 2: {
        auto any = sennit::when_any(std::move(of));
        if (any.wait_for(limit) != sennit::future_status::ready) return true;
        auto [index, rest] = any.get();
        return index < rest.size() && rest[index].wait_for(0s) == sennit::future_status::ready &&
               each_as(rest, how, with);
    }
    default:
        auto all = sennit::when_all(std::move(of));
        if (all.wait_for(limit) != sennit::future_status::ready) return true;
        auto each = all.get();
        return each_as(each, how, with);
    }
}

bool gathered(dice& with) {
    const auto count = static_cast<std::size_t>(with.from(1, 6));
    const int worst = with.from(0, 2);
    std::vector<std::optional<sennit::promise<int>>> given(count);
    std::vector<outcome> how(count);
    std::vector<sennit::future<int>> futures;
    for (std::size_t k = 0; k < count; ++k) {
        how[k] = static_cast<outcome>(with.from(0, worst));
        futures.push_back(given[k].emplace().get_future());
    }
    std::atomic<bool> right{false};
    strands(with, 3, [&](int i, dice& mine) {
        if (i == 1) {
            right = gather(std::move(futures), how, mine);
            return;
        }
        for (auto k = static_cast<std::size_t>(i / 2); k < count; k += 2) {
            pause(mine);
            settle(given[k], how[k]);
        }
    });
    return right;
}

// The events of a family of nurseries. Each child that begins has ended when the family has ended,
// and the family reports its first error.
class household {
public:
    void family(dice& with, int depth) {
        std::atomic<int> errors{0}, inside{0};
        bool told = false;
        const auto check = [&] {
            if (told != (errors > 0) || inside != 0) ++wrong;
        };
        try {
            if (one_in(with, 2))
                (void)in_time(soon(with), [&] { generation(with, depth, errors, inside, false); });
            else
                generation(with, depth, errors, inside, true);
        } catch (const family_error&) {
            told = true;
        } catch (const sennit::cancelled&) {
            check();
            throw;
        }
        check();
        if (told && one_in(with, 2)) throw family_error();
    }
    // The outermost family handles its errors itself, because it has no parent.
    void outermost(dice& with, int depth) {
        try {
            family(with, depth);
        } catch (const family_error&) {
        }
    }
    std::atomic<int> wrong{0}, locals{0};

private:
    struct family_error {};
    struct presence {
        explicit presence(std::atomic<int>& of) : count(of) { ++count; }
        presence(const presence&) = delete;
        ~presence() { --count; }
        std::atomic<int>& count;
    };

    void generation(dice& with, int depth, std::atomic<int>& errors, std::atomic<int>& inside,
                    bool must_end) {
        sennit::nursery children;
        for (int k = with.from(1, 4); k > 0; --k) child(children, with, depth, errors, inside);
        pause(with);
        // The nursery is not joined but cancelled, and errors come out all the same.
        if (one_in(with, 4)) return;
        if (must_end) children.cancel();
        children.join();
    }
    void child(sennit::nursery& of, dice& with, int depth, std::atomic<int>& errors,
               std::atomic<int>& inside) {
        of.start({.policy = one_in(with, 4) ? sennit::launch::now : sennit::launch::enqueue},
                 [this, &of, &errors, &inside, mine = dice(with.seed()), depth]() mutable {
                     const presence here(inside);
                     try {
                         if (depth > 0 && one_in(mine, 3))
                             child(of, mine, depth - 1, errors, inside);
                         live(mine, depth);
                     } catch (const family_error&) {
                         ++errors;
                         throw;
                     }
                 });
    }
    void live(dice& with, int depth) {
        if (one_in(with, 2)) own_.get();
        switch (with.from(depth > 0 ? 0 : 1, 6)) {
        case 0:
            return family(with, depth - 1);
        case 1:
            return until_cancelled();
        case 2:
            return sennit::this_fiber::sleep_for(soon(with));
        case 3:
            throw family_error();
        case 4:
            return forked(with);
        case 5:
            if (sennit::blocking([this] { return own_.get().use(); }) != 3) ++wrong;
            return;
        default:
            (void)in_time(soon(with), [this] { never_.wait(); });
        }
    }
    void until_cancelled() {
        try {
            never_.wait();
        } catch (const sennit::cancelled&) {
            if (!sennit::this_fiber::get_stop_token().stop_requested()) ++wrong;
            throw;
        }
    }
    // A cancellation does not reach forked children that other workers have stolen, but the join
    // waits for them.
    void forked(dice& with) {
        std::atomic<int> inside{0};
        const auto half = [this, &inside, limit = soon(with)] {
            const presence here(inside);
            own_.get();
            (void)in_time(limit, [this] { never_.wait(); });
        };
        const auto check = [&] {
            if (inside != 0) ++wrong;
        };
        try {
            sennit::fork_join(half, half);
        } catch (...) {
            check();
            throw;
        }
        check();
    }

    struct local {
        explicit local(household& of) : counted(of.locals) {}
        int use() const { return 3; }
        presence counted;
    };
    sennit::event never_;
    sennit::fiber_local<local> own_{[this] { return local(*this); }};
};

bool households(dice& with) {
    household all;
    strands(with, with.from(1, 2), [&](int, dice& mine) { all.outermost(mine, 2); });
    return all.wrong == 0 && all.locals == 0;
}

// Fibers that end when they are asked to. Several strands ask each fiber, and one of them is the
// first.
class errand {
public:
    explicit errand(dice& with)
        : runs_([this, mine = dice(with.seed())](std::stop_token stop) mutable {
              return work(stop, mine);
          }) {}

    bool end(dice& with) {
        std::atomic<int> firsts{0};
        sennit::fiber other([&firsts, source = runs_.get_stop_source()]() mutable {
            firsts += source.request_stop();
        });
        pause(with);
        firsts += runs_.request_stop();
        const int value = joined(with);
        other.join();
        // A callback may have left the list before its turn.
        return firsts == 1 && value == 5 && told_ <= 1;
    }

private:
    int work(const std::stop_token& stop, dice& with) {
        std::stop_callback counts(stop, [this]() noexcept { ++told_; });
        switch (with.from(0, 2)) {
        case 0: {
            std::unique_lock held(lock_);
            (void)quiet_.wait(held, stop, [] { return false; });
            break;
        }
        case 1:
            sennit::select(sennit::on_stop(stop, [] {}), sennit::on_pop(nobody_, [](int) {}));
            break;
        default:
            while (!stop.stop_requested())
                (void)in_time(soon(with), [&] { sennit::this_fiber::sleep_for(1h); });
        }
        return stop.stop_requested() ? 5 : 0;
    }
    int joined(dice& with) {
        if (one_in(with, 2)) return runs_.join<int>();
        while (!runs_.join_for(soon(with))) {
        }
        return 5;
    }
    std::atomic<int> told_{0};
    sennit::mutex lock_;
    sennit::condition_variable_any quiet_;
    sennit::channel<int> nobody_;
    sennit::fiber runs_;
};

bool errands(dice& with) {
    std::atomic<int> wrong{0};
    strands(with, with.from(1, 5), [&](int, dice& mine) {
        errand one(mine);
        pause(mine);
        if (!one.end(mine)) ++wrong;
    });
    return wrong == 0;
}

constexpr program all_programs[] = {
    {"shared outcome", &shared_outcome}, {"contested", &contested}, {"gathered", &gathered},
    {"households", &households},         {"errands", &errands},
};

} // namespace
} // namespace mix_limits_family

std::span<const program> limits_family_programs() {
    return mix_limits_family::all_programs;
}

} // namespace soak
