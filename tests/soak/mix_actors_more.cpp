// SPDX-License-Identifier: Apache-2.0
// State that actors keep for later: timers, stashes, temporary handlers, and messages to receivers
// that are not actors.
#include "mix_actors.hpp"

#include <algorithm>
#include <stdexcept>

namespace soak {

namespace mix_actors_more {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// ---- timers -------------------------------------------------------------------------------------

// One timer and its outcome.
struct alarm_fate {
    std::atomic<int> handled{0}, cancelled{0}, handled_behind{0};
    std::atomic<bool> over{false}; // the timer's own actor has cancelled it
    clock::time_point due{};
    bool repeats = false;
    sennit::actor_timer timer;
};

struct cancel_it {
    int which;
};
class alarmed : public sennit::actor<alarmed, parcel, cancel_it> {
public:
    alarmed(std::vector<alarm_fate>& all, std::uint64_t seed) : all_(all), with_(seed) {}
    void on(const parcel& m) {
        alarm_fate& one = all_[static_cast<std::size_t>(m.from())];
        if (one.over) ++one.handled_behind;
        if (clock::now() < one.due) m.book().failed();
        ++one.handled;
        ++m.book().handled;
        nap(with_);
    }
    void on(cancel_it m) {
        alarm_fate& one = all_[static_cast<std::size_t>(m.which)];
        if (one.timer.cancel()) ++one.cancelled;
        one.over = true;
    }

private:
    std::vector<alarm_fate>& all_;
    dice with_;
};

void set_alarm(const sennit::actor_ref<alarmed>& to, alarm_fate& one, ledger& book, int number,
               dice& with) {
    const auto pause = std::chrono::microseconds(with.from(one.repeats ? 1 : -5, 120));
    one.due = clock::now() + pause;
    one.timer = one.repeats ? sennit::tell_every(to, pause, parcel(book, number, 0))
                            : sennit::tell_after(to, pause, parcel(book, number, 0));
}

// Returns true if the timer was handled or cancelled, once only. A repeating timer may fire at most
// once more after it was cancelled.
bool is_right(const alarm_fate& one, bool lives) {
    if (one.handled_behind != 0 || one.cancelled > 1) return false;
    if (one.repeats) return !lives || one.cancelled == 1;
    return lives ? one.handled + one.cancelled == 1 : one.handled + one.cancelled <= 1;
}

bool alarms(dice& with) {
    ledger book;
    std::vector<alarm_fate> all(static_cast<std::size_t>(with.from(1, 20)));
    const bool dies = with.from(0, 3) == 0;
    {
        sennit::actor_group group;
        const auto to = group.spawn<alarmed>(
            {.mailbox = static_cast<std::uint32_t>(with.from(0, 2))}, all, with.seed());
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].repeats = with.from(0, 2) == 0;
            set_alarm(to, all[i], book, static_cast<int>(i), with);
        }
        {
            crew some(with);
            for (int i = with.from(1, 3); i > 0; --i)
                some.start([&](dice& own) {
                    for (std::size_t k = 0; k < all.size(); ++k) {
                        nap(own);
                        if (own.from(0, 3) == 0) to.tell_urgent(cancel_it{static_cast<int>(k)});
                        if (own.from(0, 1) == 0 && all[k].timer.cancel()) ++all[k].cancelled;
                    }
                });
            if (dies) some.start([&](dice& own) { nap(own), nap(own), to.kill(); });
        }
        if (!dies)
            for (auto& one : all) {
                if (one.repeats && one.timer.cancel()) ++one.cancelled;
                while (!one.repeats && one.handled + one.cancelled == 0)
                    sennit::this_fiber::yield();
            }
        to.stop();
    }
    for (auto& one : all) one.timer = {};
    const bool right =
        std::ranges::all_of(all, [&](const alarm_fate& one) { return is_right(one, !dies); });
    (void)book.balanced(book.made - book.handled);
    return right && book.wrong == 0 && book.made == book.gone && book.ended == 0 && book.full == 0;
}

// ---- put aside ----------------------------------------------------------------------------------

struct turn_to {
    bool open;
};
// Both actors stash the messages that come while they are closed, so each pair stays in order and
// complete.
class stasher : public sennit::stashing_actor<stasher, parcel, question, turn_to> {
public:
    stasher(std::uint64_t seed, std::size_t most)
        : stashing_actor(most), with_(seed), order_(most > 500) {}
    void on(parcel m) {
        if (!open_) return keep(std::move(m));
        take(m);
    }
    void on(question m, sennit::reply_to<int> to) {
        if (!open_) {
            try {
                stash(std::move(m), std::move(to));
            } catch (const sennit::stash_full&) {
            }
            return;
        }
        take(m);
        *m.answered = true;
        to.set(m.number());
    }
    void on(turn_to m) {
        if ((open_ = m.open)) unstash_all();
    }

private:
    void keep(parcel m) {
        try {
            stash(std::move(m));
        } catch (const sennit::stash_full&) {
        }
    }
    void take(const parcel& m) {
        if (!order_.next(m)) m.book().failed();
        ++m.book().handled;
        nap(with_);
        if (m.number() % 13 == 12) open_ = false; // also in the middle of the unstashed messages
        if (m.number() % 7 == 6) unstash_all();
    }
    dice with_;
    bool open_ = false;
    order_check order_;
};

struct shut {
    using postpones = sennit::accepts<parcel, question>;
};
struct wide {
    int left = 0;
};
class machine
    : public sennit::state_machine<machine, sennit::states<shut, wide>, parcel, question, turn_to> {
public:
    machine(std::uint64_t seed, std::size_t most)
        : state_machine(most), with_(seed), order_(true) {}
    void on(wide& now, const parcel& m) { take(now, m); }
    int on(wide& now, const question& m) {
        take(now, m);
        *m.answered = true;
        return m.number();
    }
    void on(turn_to m) {
        if (m.open)
            become(wide{with_.from(1, 9)});
        else
            become(shut{});
    }

private:
    void take(wide& now, const parcel& m) {
        if (!order_.next(m)) m.book().failed();
        ++m.book().handled;
        nap(with_);
        if (--now.left == 0) become(shut{});
    }
    dice with_;
    order_check order_;
};

template <class A>
bool put_aside(dice& with, std::size_t most) {
    ledger book;
    const bool dies = with.from(0, 2) == 0;
    {
        sennit::actor_group group;
        const auto to = group.spawn<A>(with.seed(), most);
        std::atomic<int> busy{0};
        crew all(with);
        for (int i = with.from(1, 4); i > 0; --i, ++busy)
            all.start([&, i](dice& own) {
                for (int k = 0, end = own.from(1, 40); k < end; ++k) {
                    nap(own);
                    if (own.from(0, 5) != 0) {
                        to.tell(parcel(book, i, k));
                        continue;
                    }
                    question m(book, i, k);
                    const auto answered = m.answered;
                    auto wanted = to.ask(std::move(m));
                    if (own.from(0, 1) == 0) continue;
                    while (wanted.wait_for(100us) != std::future_status::ready)
                        to.tell(turn_to{true});
                    const bool told = wanted.get_exception_ptr() == nullptr;
                    if (told != *answered) book.failed();
                }
                --busy;
            });
        for (int k = with.from(0, 20); k > 0; --k)
            nap(with), to.tell(turn_to{with.from(0, 1) == 0});
        if (dies) with.from(0, 1) == 0 ? to.kill() : to.stop();
        all.join();
        while (!dies && book.handled + book.full != book.made) { // all stashed messages come back
            to.tell(turn_to{true});
            sennit::this_fiber::yield();
        }
        to.stop();
    }
    return book.balanced() && (dies || book.ended == 0);
}
bool stashes(dice& with) {
    return put_aside<stasher>(
        with, with.from(0, 1) == 0 ? 1000 : static_cast<std::size_t>(with.from(1, 20)));
}
bool machines(dice& with) {
    return put_aside<machine>(with, 1000);
}

// ---- handlers that come and go ------------------------------------------------------------------

struct change {
    int which;
    bool add;
};
struct noise {
    int of;
};
constexpr int handler_kinds = 4;
using handler_counts = std::array<std::atomic<long>, handler_kinds>;

class changing : public sennit::open_actor<changing> {
public:
    explicit changing(handler_counts& ran) : ran_(ran) {
        add_handler([this](const change& m) { m.add ? put(m.which) : take(m.which); });
        noise_ = add_handler([](const noise&) {});
        add_handler(
            [this](const noise&) { // a second handler is added and removed with each message
                remove_handler(noise_);
                noise_ = add_handler([](const noise&) {});
            });
    }

private:
    void put(int which) {
        ids_[static_cast<std::size_t>(which)].push_back(add_handler([this, which](const parcel& m) {
            if (m.urgent()) m.book().failed();
            ++ran_[static_cast<std::size_t>(which)];
        }));
    }
    void take(int which) {
        auto& ids = ids_[static_cast<std::size_t>(which)];
        if (ids.empty()) return;
        if (!has_handler(ids.back()) || !remove_handler(ids.back()) || has_handler(ids.back()))
            throw std::logic_error("");
        ids.pop_back();
    }
    handler_counts& ran_;
    sennit::handler_id noise_{};
    std::array<std::vector<sennit::handler_id>, handler_kinds> ids_;
};

// One sender knows which handlers must run for each of its messages, independent of all other
// senders.
bool open_handlers(dice& with) {
    ledger book;
    handler_counts ran{};
    std::array<long, handler_kinds> wanted{}, there{};
    std::atomic<long> unhandled{0};
    long nobody = 0;
    {
        sennit::actor_group group;
        sennit::fallback_handler rest(group, [&](const sennit::dead_letter& m) {
            if (m.as<parcel>()) ++unhandled;
        });
        const auto to = group.spawn<changing>(ran);
        const sennit::any_ref any = to;
        {
            crew all(with);
            for (int i = with.from(0, 3); i > 0; --i)
                all.start([&](dice& own) {
                    for (int k = own.from(1, 30); k > 0; --k) to.tell(noise{k}), nap(own);
                });
            for (int k = with.from(1, 60); k > 0; --k) {
                nap(with);
                const auto which = static_cast<std::size_t>(with.from(0, handler_kinds - 1));
                const bool add = with.from(0, 1) == 0;
                if (with.from(0, 2) == 0) {
                    to.tell(change{static_cast<int>(which), add});
                    there[which] = add ? there[which] + 1 : std::max(there[which] - 1, 0L);
                } else {
                    with.from(0, 1) == 0 ? any.tell(parcel(book, 0, k))
                                         : to.tell(parcel(book, 0, k));
                    long sum = 0;
                    for (std::size_t i = 0; i < there.size(); ++i)
                        wanted[i] += there[i], sum += there[i];
                    nobody += sum == 0;
                }
            }
        }
        to.stop();
        group.join();
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (ran[i] != wanted[i]) return false;
    (void)book.balanced();
    return unhandled == nobody && book.wrong == 0 && book.made == book.gone && book.ended == 0;
}

// ---- receivers ----------------------------------------------------------------------------------

bool receivers(dice& with) {
    ledger book;
    std::atomic<long> taken{0}, sent{0}, caught{0};
    std::atomic<bool> over{false};
    {
        sennit::receiver here;
        order_check order(true);
        const auto kept = here.add_handler([&](const parcel& m) {
            if (!order.next(m)) m.book().failed();
            ++m.book().handled;
        });
        sennit::catcher<parcel> caught_too(here), apart;
        crew takers(with);
        for (int i = with.from(1, 3); i > 0; --i)
            takers.start([&](dice& own) {
                order_check mine(false);
                while (!over || taken != sent) {
                    const auto limit = std::chrono::microseconds(own.from(0, 200));
                    const auto most = static_cast<std::size_t>(own.from(0, 4));
                    try {
                        taken += static_cast<long>(
                            own.from(0, 1) == 0
                                ? here.wait_for(limit, most)
                                : sennit::with_timeout(limit, [&] { return here.wait(most); }));
                    } catch (const sennit::timed_out&) { // no message was taken then
                    }
                    if (const auto one =
                            own.from(0, 1) == 0 ? apart.pop_for(limit) : apart.try_pop()) {
                        if (!mine.next(one->message)) book.failed();
                        ++book.handled;
                        ++caught;
                    }
                }
            });
        {
            crew senders(with);
            for (int i = with.from(1, 3); i > 0; --i)
                senders.start([&, i](dice& own) {
                    for (int k = 0, end = own.from(1, 30); k < end; ++k, nap(own)) {
                        ++sent;
                        own.from(0, 1) == 0 ? here.ref().tell(parcel(book, i, k))
                                            : here.tell(here.ref(), parcel(book, i, k));
                        apart.ref().tell(parcel(book, i, k));
                    }
                });
            for (int k = with.from(0, 5); k > 0; --k) {
                const auto brief = here.add_handler([](const parcel&) {});
                nap(with);
                if (!here.has_handler(brief) || !here.remove_handler(brief)) book.failed();
            }
        }
        over = true;
        takers.join();
        while (caught != sent)
            if (apart.pop().message.book().handled++, ++caught > sent) book.failed();
        if (caught_too.size() != static_cast<std::size_t>(sent) || here.count() != 0) book.failed();
        if (!here.remove_handler(kept)) book.failed();
    }
    (void)book.balanced();
    return book.wrong == 0 && book.made == book.gone && book.handled == 2 * sent && book.ended == 0;
}

constexpr program all_programs[] = {
    {"alarms", &alarms},       {"stashes", &stashes},
    {"machines", &machines},   {"open handlers", &open_handlers},
    {"receivers", &receivers},
};

} // namespace
} // namespace mix_actors_more

std::span<const program> actor_later_programs() {
    return mix_actors_more::all_programs;
}

} // namespace soak
