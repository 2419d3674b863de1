// SPDX-License-Identifier: Apache-2.0
// Several actors at once: topics, routers, names, cycles of questions, handlers that block.
#include "mix_actors.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>

namespace soak {

namespace mix_actors_groups {
namespace {

using namespace std::chrono_literals;

// ---- topics -------------------------------------------------------------------------------------

using heard = std::vector<std::pair<int, int>>;
class subscriber : public sennit::actor<subscriber, parcel> {
public:
    subscriber(heard& all, sennit::topic<parcel>& of, std::uint64_t seed) : all_(all), with_(seed) {
        of.subscribe(self());
    }
    void on(const parcel& m) {
        if (!order_.next(m)) m.book().failed();
        ++m.book().handled;
        all_.emplace_back(m.from(), m.number());
        nap(with_);
    }

private:
    heard& all_;
    dice with_;
    order_check order_{false};
};

// Permanent subscribers all receive equal sequences. A temporary subscriber receives a part of that
// sequence without a gap.
bool topics(dice& with) {
    ledger book;
    const auto lasting = static_cast<std::size_t>(with.from(1, 4)),
               brief = static_cast<std::size_t>(with.from(0, 4));
    std::vector<heard> all(lasting + brief);
    std::atomic<long> published{0}, told{0};
    {
        sennit::topic<parcel> news;
        sennit::actor_group group;
        std::vector<sennit::actor_ref<subscriber>> refs;
        for (std::size_t i = 0; i < lasting; ++i)
            refs.push_back(group.spawn<subscriber>(all[i], news, with.seed()));
        crew some(with);
        for (int i = with.from(1, 4); i > 0; --i)
            some.start([&, i](dice& own) {
                for (int k = 0, end = own.from(1, 30); k < end; ++k, nap(own)) {
                    ++published;
                    told += static_cast<long>(news.publish(parcel(book, i, k)));
                }
            });
        for (std::size_t i = lasting; i < lasting + brief; ++i)
            some.start([&, i, seed = with.seed()](dice& own) {
                nap(own);
                const auto one = group.spawn<subscriber>(all[i], news, seed);
                nap(own);
                if (own.from(0, 1) == 0) news.unsubscribe(one);
                own.from(0, 1) == 0 ? one.stop() : one.kill();
            });
        some.join();
        while (book.handled + book.ended != told) sennit::this_fiber::yield();
        for (const auto& one : refs) one.stop();
    }
    // A subscriber that ends meanwhile leaves messages in its mailbox, which are dead letters. The
    // number of published messages then no longer counts.
    bool right = book.balanced(published) && static_cast<long>(all[0].size()) == published;
    for (std::size_t i = 1; i < lasting; ++i) right = right && all[i] == all[0];
    for (std::size_t i = lasting; i < lasting + brief; ++i)
        right = right && (all[i].empty() || !std::ranges::search(all[0], all[i]).empty());
    return right;
}

// ---- routers ------------------------------------------------------------------------------------

class member : public sennit::actor<member, parcel, question> {
public:
    explicit member(std::atomic<int>& owner_of_key) : owner_(owner_of_key) {}
    void on(const parcel& m) {
        ++m.book().handled;
        if (m.from() != 7) return; // this receiver is bound to the key
        int nobody = 0;
        const int me = static_cast<int>(address().slot);
        if (!owner_.compare_exchange_strong(nobody, me) && nobody != me) m.book().failed();
    }
    int on(const question& m) {
        ++m.book().handled;
        return m.number();
    }

private:
    std::atomic<int>& owner_;
};

bool routers(dice& with) {
    ledger book;
    std::atomic<int> owner{0};
    std::atomic<long> copies{0};
    const bool change = with.from(0, 1) == 0;
    long originals = 0;
    {
        sennit::router<member> pool(static_cast<sennit::routing>(with.from(0, 2)));
        sennit::actor_group group;
        std::vector<sennit::actor_ref<member>> all;
        for (int i = with.from(1, 5); i > 0; --i) {
            all.push_back(group.spawn<member>(
                {.mailbox = with.from(0, 1) == 0 ? sennit::counted_mailbox : 0}, owner));
            pool.add(all.back());
        }
        std::atomic<long> broadcasts{0};
        crew some(with);
        for (int i = with.from(1, 4); i > 0; --i)
            some.start([&](dice& own) {
                for (int k = own.from(1, 40); k > 0; --k, nap(own)) switch (own.from(0, 3)) {
                    case 0:
                        pool.tell(parcel(book, 0, k));
                        break;
                    case 1:
                        pool.tell_for(std::string("ann"), parcel(book, change ? 0 : 7, k));
                        break;
                    case 2:
                        ++broadcasts;
                        copies += static_cast<long>(pool.broadcast(parcel(book, 0, k)));
                        break;
                    default:
                        try {
                            if (pool.ask(question(book, 0, k)).get() != k) book.failed();
                        } catch (const sennit::ask_failed&) {
                            if (!change) book.failed();
                        }
                    }
            });
        if (change)
            some.start([&](dice& own) {
                for (const auto& one : all) {
                    nap(own);
                    const int what = own.from(0, 3);
                    if (what == 0) (void)pool.remove(one);
                    if (what == 1) one.kill();
                    if (what == 2) pool.add(group.spawn<member>(owner));
                }
            });
        some.join();
        originals = broadcasts;
        if (!change)
            while (book.handled + originals != book.made) sennit::this_fiber::yield();
        group.stop();
    }
    return book.balanced(originals) && (change || book.ended == 0);
}

// ---- names --------------------------------------------------------------------------------------

struct who_are_you {
    using reply = int;
};
class named : public sennit::actor<named, who_are_you> {
public:
    named(sennit::name_registry& names, int me) : me_(me) {
        if (me >= 0) names.put(std::to_string(me), self());
    }
    int on(who_are_you) const { return me_; }

private:
    int me_;
};
struct begin_naming {};

// Registers a new actor under the name whenever the last actor's end is reported: the name must be
// free then.
class heir : public sennit::actor<heir, begin_naming, sennit::down> {
public:
    heir(sennit::name_registry& names, int name, int times, ledger& book)
        : names_(names), name_(name), times_(times), book_(book) {}
    void on(begin_naming) { next(); }
    void on(const sennit::down&) { times_-- > 0 ? next() : stop(); }

private:
    void next() {
        try {
            group().spawn<named>({.watcher = address()}, names_, name_);
        } catch (const sennit::name_taken&) {
            book_.failed();
            stop();
        }
    }
    sennit::name_registry& names_;
    int name_, times_;
    ledger& book_;
};

bool names(dice& with) {
    ledger book;
    const int count = with.from(1, 5);
    {
        sennit::name_registry names;
        sennit::actor_group group;
        std::atomic<bool> over{false};
        std::vector<sennit::actor_ref<heir>> heirs;
        for (int i = 0; i < count; ++i) {
            heirs.push_back(group.spawn<heir>(names, i, with.from(0, 4), book));
            heirs.back().tell(begin_naming{});
        }
        crew some(with);
        for (int i = with.from(1, 3); i > 0; --i)
            some.start([&](dice& own) {
                while (!over) {
                    const int name = own.from(0, count - 1);
                    if (const auto one = names.find<named>(std::to_string(name))) {
                        auto got = one->ask(who_are_you{}, 1h);
                        if (got ? *got != name : got.error() != sennit::ask_error::actor_down)
                            book.failed();
                        own.from(0, 1) == 0 ? one->stop() : one->kill();
                    }
                    if (names.names().size() > static_cast<std::size_t>(count)) book.failed();
                    sennit::this_fiber::yield();
                    nap(own);
                }
            });
        for (const auto& one : heirs)
            while (one.alive()) sennit::this_fiber::yield();
        over = true;
        some.join();
        if (!names.names().empty()) book.failed();
    }
    return book.balanced();
}

// ---- circles of questions, and handlers that block ----------------------------------------------

struct ask_on {
    using reply = int; // the number of actors that have answered
    int hops;
};
struct shared_things {
    sennit::mutex lock;
    sennit::channel<int> line{1};
    int inside = 0;
    long sum = 0;
    std::atomic<int> wrong{0}, pushed{0};
};
class asker : public sennit::actor<asker, ask_on> {
public:
    asker(std::vector<sennit::actor_ref<asker>>& ring, std::size_t me, shared_things& of,
          std::uint64_t seed)
        : ring_(ring), me_(me), of_(of), with_(seed) {}
    int on(ask_on m) {
        block();
        if (m.hops == 0) return 1;
        auto got = ring_[(me_ + 1) % ring_.size()].ask(ask_on{m.hops - 1}, sennit::forever);
        if (got) return *got + 1;
        if (got.error() != sennit::ask_error::cycle) ++of_.wrong; // all of them live
        return 1;
    }

private:
    void block() {
        switch (with_.from(0, 4)) {
        case 0: {
            std::lock_guard guard(of_.lock);
            if (++of_.inside != 1) ++of_.wrong;
            nap(with_);
            ++of_.sum;
            --of_.inside;
            break;
        }
        case 1:
            ++of_.pushed;
            (void)of_.line.push(1);
            break;
        case 2: {
            const auto [a, b] =
                sennit::fork_join([] { return nap_and(1); }, [] { return nap_and(2); });
            if (a + b != 3) ++of_.wrong;
            break;
        }
        default:
            nap(with_);
        }
    }
    static int nap_and(int value) {
        sennit::this_fiber::yield();
        return value;
    }
    std::vector<sennit::actor_ref<asker>>& ring_;
    std::size_t me_;
    shared_things& of_;
    dice with_;
};

// The actors ask each other in a cycle, without a limit: each question is answered, or fails with
// `cycle`.
bool circles(dice& with) {
    shared_things of;
    std::atomic<long> popped{0};
    {
        sennit::fiber drain([&] {
            while (of.line.pop()) ++popped;
        });
        std::vector<sennit::actor_ref<asker>> ring;
        sennit::actor_group group;
        for (std::size_t i = 0, end = static_cast<std::size_t>(with.from(1, 5)); i < end; ++i)
            ring.emplace_back();
        for (std::size_t i = 0; i < ring.size(); ++i)
            ring[i] = group.spawn<asker>(ring, i, of, with.seed());
        crew some(with);
        for (int i = with.from(1, 5); i > 0; --i)
            some.start([&](dice& own) {
                for (int k = own.from(1, 6); k > 0; --k) {
                    const int hops = own.from(0, 7);
                    const auto to = ring[static_cast<std::size_t>(
                        own.from(0, static_cast<int>(ring.size()) - 1))];
                    auto got = to.ask(ask_on{hops}, sennit::forever);
                    if (!got || *got < 1 || *got > hops + 1) ++of.wrong;
                }
            });
        some.join();
        of.line.close();
        drain.join();
    }
    return of.wrong == 0 && of.inside == 0 && popped == of.pushed;
}

constexpr program all_programs[] = {
    {"topics", &topics},
    {"routers", &routers},
    {"names", &names},
    {"circles", &circles},
};

} // namespace
} // namespace mix_actors_groups

std::span<const program> actor_group_programs() {
    return mix_actors_groups::all_programs;
}

} // namespace soak
