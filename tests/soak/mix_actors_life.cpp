// SPDX-License-Identifier: Apache-2.0
// Incarnations of actors: starts and ends while messages arrive, old handles, watchers.
#include "mix_actors.hpp"

#include <mutex>
#include <stdexcept>
#include <string>

namespace soak {

namespace mix_actors_life {
namespace {

using namespace std::chrono_literals;

// ---- births and ends ----------------------------------------------------------------------------

// An actor checks that `from` of each message is its own number: an old handle reaches no actor,
// and never a new one.
class guest : public sennit::actor<guest, parcel> {
public:
    guest(int number, std::atomic<int>& alive) : number_(number), alive_(alive) { ++alive_; }
    ~guest() { --alive_; }
    void on(const parcel& m) {
        if (m.from() != number_) m.book().failed();
        ++m.book().handled;
        if (m.number() % 17 == 0) return stop();
        if (m.number() % 29 == 0) throw on_purpose();
    }

private:
    const int number_;
    std::atomic<int>& alive_;
};

class hotel {
public:
    hotel(dice& with, ledger& book)
        : book_(book), limit_(static_cast<std::size_t>(with.from(1, 60))) {}
    void live(dice& with) {
        for (int k = with.from(5, 60); k > 0; --k) {
            const int what = with.from(0, 9);
            if (what < 3) spawn(with);
            int number = 0;
            const auto one = any(with, number);
            if (what < 8)
                one.tell(parcel(book_, number, with.from(1, 1000)));
            else
                what == 8 ? one.stop() : one.kill();
            if (const auto seen = sennit::metrics_of(one);
                seen && seen->name != std::to_string(number))
                book_.failed();
            nap(with);
        }
    }
    bool all_gone() const { return alive_ == 0; }
    sennit::actor_group& group() { return group_; }

private:
    void spawn(dice& with) {
        std::unique_lock guard(lock_);
        const int number = static_cast<int>(all_.size());
        const std::string name = std::to_string(number);
        const auto room = static_cast<std::uint32_t>(with.from(0, 1) * with.from(1, 4));
        const auto made = group_.spawn<guest>({.name = name, .mailbox = room}, number, alive_);
        all_.push_back(made);
    }
    // Returns a handle to a random actor; most of these actors ended long ago. Returns a null
    // handle if there are none.
    sennit::actor_ref<guest> any(dice& with, int& number) {
        std::lock_guard guard(lock_);
        if (all_.empty()) return {};
        const std::size_t last = all_.size(), from = last > limit_ ? last - limit_ : 0;
        number = static_cast<int>(from + index_below(last - from, with));
        return all_[static_cast<std::size_t>(number)];
    }
    ledger& book_;
    const std::size_t limit_;
    std::atomic<int> alive_{0};
    sennit::mutex lock_; // guards `all_`
    std::vector<sennit::actor_ref<guest>> all_;
    sennit::actor_group group_;
};

bool old_handles(dice& with) {
    ledger book;
    bool gone = false;
    {
        hotel one(with, book);
        crew all(with);
        for (int i = with.from(1, 5); i > 0; --i) all.start([&](dice& own) { one.live(own); });
        if (with.from(0, 2) == 0)
            all.start([&](dice& own) {
                nap(own);
                one.group().stop();
            });
        all.join();
        one.group().stop();
        try {
            one.group().join();
        } catch (const on_purpose&) {
        }
        gone = one.all_gone() && one.group().size() == 0;
    }
    return gone && book.balanced();
}

// ---- watchers -----------------------------------------------------------------------------------

struct look_at {
    sennit::address_of_actor whom;
};
struct look_away {
    sennit::address_of_actor whom;
};

// The counts of one pair of a watcher and a watched actor.
struct pair_counts {
    std::atomic<int> asked{0}, told{0}, left{0};
};
using pair_table = std::map<sennit::address_of_actor,
                            std::unique_ptr<pair_counts>>; // fixed before any actor watches

class watcher : public sennit::actor<watcher, look_at, look_away, sennit::down> {
public:
    explicit watcher(pair_table& counts) : counts_(counts) {}
    void on(look_at m) {
        ++counts_.at(m.whom)->asked;
        watch_end(m.whom);
    }
    void on(look_away m) {
        unwatch(m.whom);
        ++counts_.at(m.whom)->left;
    }
    void on(const sennit::down& m) { ++counts_.at(m.who)->told; }

private:
    pair_table& counts_;
};

class watched : public sennit::actor<watched, go> {
public:
    void on(go m) {
        if (m.how == 0) stop();
        if (m.how == 1) throw on_purpose();
    }
};

bool told_exactly_once(const std::vector<std::unique_ptr<pair_table>>& tables, int wanted) {
    int asked = 0;
    for (const auto& table : tables)
        for (const auto& [who, one] : *table) {
            if (one->told > one->asked || one->told < one->asked - one->left) return false;
            asked += one->asked;
        }
    return asked == wanted;
}

// Each call of `watch` is answered once, even if it comes while the watched actor ends.
bool watchers(dice& with) {
    std::vector<std::unique_ptr<pair_table>> tables;
    sennit::actor_group seen, seeing;
    std::vector<sennit::actor_ref<watched>> targets;
    std::vector<sennit::actor_ref<watcher>> eyes;
    for (int i = with.from(1, 8); i > 0; --i) targets.push_back(seen.spawn<watched>());
    for (int i = with.from(1, 6); i > 0; --i) {
        tables.push_back(std::make_unique<pair_table>());
        for (const auto& one : targets)
            tables.back()->emplace(one.address(), std::make_unique<pair_counts>());
        eyes.push_back(seeing.spawn<watcher>(*tables.back()));
    }
    const bool looks_away = with.from(0, 2) == 0;
    std::atomic<int> wanted{0};
    {
        crew all(with);
        for (int i = with.from(1, 4); i > 0; --i)
            all.start([&](dice& own) {
                for (int k = own.from(1, 30); k > 0; --k) {
                    const auto& eye = eyes[index_below(eyes.size(), own)];
                    const auto whom = targets[index_below(targets.size(), own)].address();
                    eye.tell(look_at{whom});
                    ++wanted;
                    if (looks_away && own.from(0, 3) == 0) eye.tell(look_away{whom});
                    nap(own);
                }
            });
        all.start([&](dice& own) {
            for (const auto& one : targets) {
                nap(own);
                const int how = own.from(0, 3);
                how < 2 ? one.tell(go{how}) : how == 2 ? one.stop() : one.kill();
            }
        });
        all.join();
    }
    try {
        seen.join();
    } catch (const on_purpose&) {
    }
    // The notice is on its way: a late notice is right, and a missing notice is wrong.
    for (long looks = 0; !told_exactly_once(tables, wanted) && looks < 3'000; ++looks)
        sennit::this_fiber::sleep_for(10ms);
    const bool right = told_exactly_once(tables, wanted);
    for (const auto& one : eyes) one.stop();
    seeing.join();
    return right && told_exactly_once(tables, wanted);
}

// ---- the last message of an actor comes before the notice of its end ----------------------------

class last_words : public sennit::actor<last_words, go> {
public:
    last_words(sennit::actor_ref<sennit::accepts<parcel>> to, ledger& book, std::uint64_t seed)
        : to_(to), book_(book), with_(seed) {}
    void on(go m) {
        for (int k = 0; k < m.how; ++k) {
            to_.tell(parcel(book_, static_cast<int>(address().slot), number_++));
            nap(with_);
        }
        if (m.how % 3 == 0) throw on_purpose();
        if (m.how % 3 == 1) stop();
    }

private:
    sennit::actor_ref<sennit::accepts<parcel>> to_;
    ledger& book_;
    dice with_;
    int number_ = 0;
};

struct begin_watching {
    int targets;
    std::uint64_t seed;
};
class listener : public sennit::actor<listener, begin_watching, parcel, sennit::down> {
public:
    explicit listener(ledger& book) : book_(book) {}
    void on(begin_watching m) {
        dice with(m.seed);
        left_ = m.targets;
        for (int i = 0; i < m.targets; ++i) {
            const auto one =
                group().spawn<last_words>({.watcher = address()}, self(), book_, with.seed());
            for (int k = with.from(0, 3); k > 0; --k) one.tell(go{with.from(0, 5) * 3 + 2});
            one.tell(go{with.from(0, 10) * 3 + with.from(0, 1)});
        }
    }
    void on(const parcel& m) {
        if (gone_.contains(static_cast<std::uint32_t>(m.from())) || !order_.next(m)) book_.failed();
        ++m.book().handled;
    }
    void on(const sennit::down& m) {
        // Another actor of this group may reuse a slot, and its messages come later.
        if (m.why != sennit::exit_reason::error && m.why != sennit::exit_reason::normal)
            book_.failed();
        if (!gone_.emplace(m.who.slot, true).second) book_.failed();
        if (--left_ == 0) stop();
    }

private:
    ledger& book_;
    int left_ = 0;
    std::map<std::uint32_t, bool> gone_;
    order_check order_{true};
};

bool last_before_down(dice& with) {
    ledger book;
    {
        sennit::actor_group group;
        group.spawn<listener>(book).tell(begin_watching{with.from(1, 8), with.seed()});
        group.join(); // the watcher received each error
    }
    return book.balanced() && book.ended == 0;
}

constexpr program all_programs[] = {
    {"old handles", &old_handles},
    {"watchers", &watchers},
    {"last before down", &last_before_down},
};

} // namespace
} // namespace mix_actors_life

std::span<const program> actor_life_programs() {
    return mix_actors_life::all_programs;
}

} // namespace soak
