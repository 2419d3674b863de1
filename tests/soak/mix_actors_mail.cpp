// SPDX-License-Identifier: Apache-2.0
// Messages: bounded mailboxes, questions, order, and messages between runtimes.
#include "mix_actors.hpp"

#include <mutex>
#include <string>

namespace soak {

namespace mix_actors_mail {
namespace {

using namespace std::chrono_literals;

// Wakes and waits by reference: the objects that a program shares with its actors outlive the
// actors.
struct gate {
    sennit::event entered, open;
};
class hold {
public:
    explicit hold(gate& at) noexcept : at_(&at) {}
    void operator()() const {
        at_->entered.set();
        at_->open.wait();
    }

private:
    gate* at_;
};

class bounded : public sennit::actor<bounded, parcel, question, hold> {
public:
    explicit bounded(std::uint64_t seed) : with_(seed) {}
    void on(const parcel& m) { take(m); }
    int on(const question& m) {
        take(m);
        return m.number();
    }
    void on(const hold& m) { m(); }

private:
    void take(const parcel& m) {
        if (!order_.next(m)) m.book().failed();
        ++m.book().handled;
        nap(with_);
    }
    dice with_;
    order_check order_{false};
};

struct statuses {
    std::atomic<long> sent{0}, full{0}, dead{0}, cancelled{0}, unknown{0};
    void count(sennit::send_status what) {
        ++(what == sennit::send_status::sent   ? sent
           : what == sennit::send_status::full ? full
                                               : dead);
    }
};

void ask_one(const sennit::actor_ref<bounded>& to, question m, statuses& seen) {
    const int wanted = m.number();
    ledger& book = m.book();
    try {
        if (to.ask(std::move(m)).get() != wanted) book.failed();
        ++seen.sent;
    } catch (const sennit::ask_failed& failed) {
        if (failed.why() == sennit::ask_error::full)
            ++seen.full;
        else
            ++seen.unknown; // a dead letter, or dropped as the oldest message
        if (failed.why() != sennit::ask_error::full &&
            failed.why() != sennit::ask_error::actor_down)
            book.failed();
    }
}

void send_all(const sennit::actor_ref<bounded>& to, ledger& book, statuses& seen, int me,
              dice& with) {
    const int pieces = with.from(1, 40);
    int urgent = 0;
    for (int k = 0; k < pieces; ++k) {
        nap(with);
        switch (with.from(0, 9)) {
        case 0:
            ask_one(to, question(book, me, k), seen);
            break;
        case 1:
            to.tell_urgent(parcel(book, me, urgent++, true));
            ++seen.unknown;
            break;
        case 2:
        case 3:
        case 4: // a limit that runs out while the sender waits for room
            try {
                seen.count(sennit::with_timeout(std::chrono::microseconds(with.from(0, 80)),
                                                [&] { return to.send(parcel(book, me, k)); }));
            } catch (const sennit::timed_out&) {
                ++seen.cancelled;
            }
            break;
        case 5:
        case 6:
            seen.count(to.send(parcel(book, me, k)));
            break;
        default:
            seen.count(to.try_tell(parcel(book, me, k)));
        }
    }
}

// All senders have stopped: the mailbox must have as much room as at first.
bool room_is_whole(const sennit::actor_ref<bounded>& to, std::uint32_t room,
                   sennit::overflow policy, ledger& book, gate& at) {
    while (to.send(hold(at)) != sennit::send_status::sent) sennit::this_fiber::yield();
    at.entered.wait();
    const bool drops = policy == sennit::overflow::drop_oldest;
    const int most = static_cast<int>(room) * (drops ? 4 : 1);
    int sent = 0;
    while (sent <= most && to.try_tell(parcel(book, 1000, sent)) == sennit::send_status::sent)
        ++sent;
    const auto seen = sennit::metrics_of(to);
    at.open.set();
    return sent == most && seen && seen->waiting == static_cast<std::uint32_t>(most);
}

bool bounded_mailboxes(dice& with) {
    const auto room = static_cast<std::uint32_t>(with.from(1, 8));
    const auto policy = static_cast<sennit::overflow>(with.from(0, 3));
    const int senders = with.from(1, 6), end = with.from(0, 5);
    ledger book;
    statuses seen;
    gate at;
    bool right = true;
    {
        sennit::actor_group group;
        const auto to = group.spawn<bounded>({.mailbox = room, .overflow = policy}, with.seed());
        crew all(with);
        for (int i = 0; i < senders; ++i)
            all.start([&, i](dice& own) { send_all(to, book, seen, i, own); });
        if (end < 3)
            all.start([&, end](dice& own) {
                for (int k = own.from(0, 30); k > 0; --k) nap(own);
                end == 0 ? to.stop() : end == 1 ? to.kill() : group.stop();
            });
        all.join();
        if (end >= 3) {
            // All messages that were sent before are handled: none is refused as dead, and the room
            // is back.
            right = seen.dead == 0 && room_is_whole(to, room, policy, book, at) && book.ended == 0;
            to.stop();
        }
        if (end != 2) group.join();
    }
    const bool exact = seen.dead <= book.ended && seen.full <= book.full;
    return right && exact && book.balanced(seen.cancelled);
}

// ---- questions ----------------------------------------------------------------------------------

struct answer_kept {};

// Tasks that a plain thread runs.
class desk {
public:
    void put(question m, sennit::reply_to<int> to) {
        std::lock_guard guard(lock_);
        all_.emplace_back(std::move(m), std::move(to));
    }
    void answer_all() {
        std::vector<std::pair<question, sennit::reply_to<int>>> now;
        {
            std::lock_guard guard(lock_);
            now.swap(all_);
        }
        for (auto& [m, to] : now) {
            *m.answered = true;
            to.set(m.number());
        }
    }

private:
    std::mutex lock_; // guards all below
    std::vector<std::pair<question, sennit::reply_to<int>>> all_;
};

class keeper : public sennit::actor<keeper, question, answer_kept> {
public:
    keeper(sennit::actor_ref<keeper> next, desk& outside) : next_(next), outside_(outside) {}
    void on(question m, sennit::reply_to<int> to) {
        const int way = m.way & 7;
        if (way == 4) { // forwards to the next actor, which may have ended
            m.way >>= 3;
            return forward(next_, std::move(m), std::move(to));
        }
        ++m.book().handled;
        if (way == 0) return answer(m, to);
        if (way == 1) return kept_.emplace_back(std::move(m), std::move(to)), void();
        if (way == 2) return outside_.put(std::move(m), std::move(to));
        if (way == 5) throw std::runtime_error("instead of an answer");
        if (way == 6) stop();
    } // 3, 7: drops the question
    void on(answer_kept) {
        for (auto& [m, to] : kept_) answer(m, to);
        kept_.clear();
    }

private:
    static void answer(const question& m, sennit::reply_to<int>& to) {
        *m.answered = true;
        to.set(m.number());
    }
    sennit::actor_ref<keeper> next_;
    desk& outside_;
    std::vector<std::pair<question, sennit::reply_to<int>>> kept_;
};

void judge(ledger& book, int got, int wanted, bool answered) {
    if (got != wanted || !answered) book.failed();
}

void ask_in_some_way(const std::vector<sennit::actor_ref<keeper>>& chain, ledger& book, int number,
                     dice& with) {
    question m(book, 0, number);
    for (int k = 0; k < 8; ++k) m.way = m.way << 3 | with.from(0, k < 7 ? 4 : 6);
    if (with.from(0, 2) != 0) m.way &= ~7; // most are simple
    const auto answered = m.answered;
    const auto& to = chain[static_cast<std::size_t>(with.from(0, int(chain.size()) - 1))];
    const auto limit = std::chrono::microseconds(with.from(0, 100));
    const int how = with.from(0, 3);
    // The answer comes, or the asker receives an error.
    if (how == 0) {
        auto wanted = to.ask(std::move(m));
        for (const auto& one : chain) one.tell(answer_kept{});
        for (const auto& one : chain) one.tell(answer_kept{});
        for (auto again = wanted.wait_for(limit); again != std::future_status::ready;
             again = wanted.wait_for(1ms))
            for (const auto& one : chain)
                one.tell(answer_kept{}); // a forwarded question may come behind the first
        try {
            const int got = wanted.get();
            judge(book, got, number, *answered);
        } catch (const sennit::ask_failed& failed) {
            if (*answered || failed.why() != sennit::ask_error::actor_down) book.failed();
        }
    } else if (how == 1) {
        auto got = to.ask(std::move(m), limit);
        if (got)
            judge(book, *got, number, *answered);
        else if (got.error() == sennit::ask_error::full ||
                 got.error() == sennit::ask_error::cycle ||
                 got.error() == sennit::ask_error::cancelled)
            book.failed();
        else if (got.error() == sennit::ask_error::actor_down && *answered)
            book.failed();
    } else if (how == 2) {
        try {
            const int got = sennit::with_timeout(limit, [&] { return to.ask(std::move(m)).get(); });
            judge(book, got, number, *answered);
        } catch (const sennit::timed_out&) {
        } catch (const sennit::ask_failed& failed) {
            if (*answered || failed.why() != sennit::ask_error::actor_down) book.failed();
        }
    } else {
        (void)to.ask(std::move(m)); // the answer is ignored
    }
}

bool questions(dice& with) {
    ledger book;
    desk outside;
    std::atomic<bool> over{false};
    std::thread clerk([&] {
        while (!over) {
            outside.answer_all();
            std::this_thread::sleep_for(20us);
        }
    });
    {
        sennit::actor_group group;
        std::vector<sennit::actor_ref<keeper>> chain;
        sennit::actor_ref<keeper> next;
        for (int i = with.from(1, 5); i > 0; --i)
            chain.push_back(next = group.spawn<keeper>(next, outside));
        crew all(with);
        for (int i = with.from(1, 5); i > 0; --i)
            all.start([&](dice& own) {
                for (int k = own.from(1, 15); k > 0; --k) ask_in_some_way(chain, book, k, own);
            });
        if (with.from(0, 1) == 0)
            all.start([&](dice& own) {
                nap(own);
                chain[static_cast<std::size_t>(own.from(0, int(chain.size()) - 1))].kill();
            });
        all.join();
        group.stop();
        try {
            group.join();
        } catch (const std::runtime_error&) {
        }
    }
    over = true;
    sennit::blocking([&] { clerk.join(); });
    outside.answer_all();
    return book.balanced();
}

// ---- order --------------------------------------------------------------------------------------

class relay : public sennit::actor<relay, parcel> {
public:
    relay(sennit::actor_ref<relay> next, std::uint64_t seed, bool blocks)
        : next_(next), with_(seed), blocks_(blocks) {}
    void on(parcel m) {
        if (!order_.next(m)) m.book().failed();
        if (blocks_) nap(with_);
        if (!next_)
            ++m.book().handled;
        else if (m.urgent())
            next_.tell_urgent(std::move(m));
        else
            next_.tell(std::move(m));
    }

private:
    sennit::actor_ref<relay> next_;
    dice with_;
    bool blocks_;
    order_check order_{true};
};

// Each pair's lanes arrive in order and complete over several hops. The relays migrate, block and
// flood each other.
bool order_over_hops(dice& with) {
    ledger book;
    {
        sennit::actor_group group;
        std::vector<sennit::actor_ref<relay>> hops;
        sennit::actor_ref<relay> next;
        for (int i = with.from(1, 5); i > 0; --i) {
            const sennit::spawn_options how{.mailbox =
                                                with.from(0, 4) == 0 ? sennit::counted_mailbox : 0};
            hops.push_back(next = group.spawn<relay>(how, next, with.seed(), with.from(0, 1) == 0));
        }
        crew all(with);
        for (int i = with.from(1, 5); i > 0; --i)
            all.start([&, i](dice& own) {
                const bool flood = own.from(0, 1) == 0;
                int numbers[2] = {0, 0};
                for (int k = own.from(1, flood ? 600 : 60); k > 0; --k) {
                    const bool urgent = own.from(0, 7) == 0;
                    parcel m(book, i, numbers[urgent]++, urgent);
                    urgent ? next.tell_urgent(std::move(m)) : next.tell(std::move(m));
                    if (!flood) nap(own);
                }
            });
        all.join();
        while (book.handled != book.made) sennit::this_fiber::yield();
    }
    return book.balanced() && book.handled == book.made;
}

// Two runtimes, the program's and a short-lived one: each sends to the actors of the other.
bool several_runtimes(dice& with) {
    if (with.from(0, 3) != 0) return true; // threads are expensive
    ledger book;
    {
        sennit::runtime other(
            {.workers = static_cast<unsigned>(with.from(1, 2)), .stack_size = 256 << 10});
        sennit::actor_group here, there(other);
        std::vector<sennit::actor_ref<relay>> hops;
        sennit::actor_ref<relay> next;
        for (int i = with.from(1, 4); i > 0; --i)
            hops.push_back(next =
                               (i % 2 == 0 ? here : there).spawn<relay>(next, with.seed(), i != 2));
        crew all(with);
        for (int i = with.from(1, 3); i > 0; --i)
            all.start([&, i](dice& own) {
                for (int k = 0, end = own.from(1, 100); k < end; ++k)
                    next.tell(parcel(book, i, k)), nap(own);
            });
        all.join();
        while (book.handled != book.made) sennit::this_fiber::yield();
    }
    return book.balanced() && book.handled == book.made;
}

constexpr program all_programs[] = {
    {"bounded mailboxes", &bounded_mailboxes},
    {"questions", &questions},
    {"order over hops", &order_over_hops},
    {"several runtimes", &several_runtimes},
};

} // namespace
} // namespace mix_actors_mail

std::span<const program> actor_mail_programs() {
    return mix_actors_mail::all_programs;
}

} // namespace soak
