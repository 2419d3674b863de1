// SPDX-License-Identifier: Apache-2.0
// Ends of actors that reach further actors: links, supervision, and groups.
#include "mix_actors.hpp"

#include <stdexcept>

namespace soak {

namespace mix_actors_ends {
namespace {

using namespace std::chrono_literals;

// ---- links --------------------------------------------------------------------------------------

struct tie {
    sennit::address_of_actor to;
};
struct ends {
    std::atomic<int> error{0}, linked{0}, other{0};
};
class link_of_chain : public sennit::actor<link_of_chain, tie, go> {
public:
    explicit link_of_chain(ends& seen) : seen_(seen) {}
    void on(tie m) { link(m.to); }
    void on(go) { throw on_purpose(); }
    void stopped(sennit::exit_reason why) {
        ++(why == sennit::exit_reason::error    ? seen_.error
           : why == sennit::exit_reason::linked ? seen_.linked
                                                : seen_.other);
    }

private:
    ends& seen_;
};

// Both neighbours in a chain link themselves to each other while one actor fails: all actors end,
// and none is left.
bool links(dice& with) {
    ends seen;
    const int count = with.from(2, 10);
    sennit::actor_group group;
    std::vector<sennit::actor_ref<link_of_chain>> chain;
    for (int i = 0; i < count; ++i) chain.push_back(group.spawn<link_of_chain>(seen));
    {
        crew all(with);
        for (std::size_t i = 0; i + 1 < chain.size(); ++i)
            all.start([&, i](dice& own) {
                nap(own);
                chain[i].tell(tie{chain[i + 1].address()});
                nap(own);
                chain[i + 1].tell(tie{chain[i].address()});
            });
        all.start([&](dice& own) {
            nap(own);
            chain[index_below(chain.size(), own)].tell(go{0});
        });
        all.join();
    }
    try {
        group.join();
    } catch (const on_purpose&) {
    }
    return seen.error == 1 && seen.linked == count - 1 && seen.other == 0 && group.size() == 0;
}

// ---- supervision --------------------------------------------------------------------------------

struct child_counts {
    std::atomic<int> alive{0}, made{0}, most{0}, thrown{0};
};
class fragile : public sennit::actor<fragile, go> {
public:
    explicit fragile(child_counts* of) : of_(*of) {
        if (++of_.made % 7 == 0) {
            ++of_.thrown;
            throw on_purpose();
        }
        if (++of_.alive > 1) of_.most = 2;
    }
    ~fragile() { --of_.alive; }
    void on(go m) {
        if (m.how == 0) stop();
        if (m.how == 1) throw on_purpose();
        if (m.how == 2) sennit::this_fiber::sleep_for(20us);
    }

private:
    child_counts& of_;
};

// Children fail at random. No two incarnations of a child live at a time, and in the end no child
// lives.
bool supervision(dice& with) {
    std::vector<std::unique_ptr<child_counts>> counts;
    std::vector<sennit::child<fragile>> children;
    bool gave_up = false, clean = false;
    {
        sennit::actor_group group;
        for (int i = with.from(1, 5); i > 0; --i) {
            counts.push_back(std::make_unique<child_counts>());
            const auto kind = static_cast<enum sennit::restart>(with.from(0, 2));
            children.emplace_back(sennit::child_options{.restart = kind}, counts.back().get());
        }
        sennit::supervision how{.strategy = static_cast<enum sennit::strategy>(with.from(0, 2)),
                                .restarts = static_cast<unsigned>(with.from(0, 30)),
                                .within = 1h,
                                .stays = true};
        if (with.from(0, 2) == 0) how.backoff = {.first = 10us, .most = 50us, .jitter = 0.5};
        const auto top = sennit::supervise(group, how);
        crew all(with);
        for (const auto& one : children)
            all.start([&, one](dice& own) {
                try {
                    top.ask(sennit::add_child{one}).get();
                } catch (const sennit::ask_failed&) { // the supervisor has given up
                } catch (const on_purpose&) {         // thrown by the constructor
                }
                for (int k = own.from(0, 25); k > 0; --k) {
                    one.tell(go{own.from(0, 12)});
                    nap(own);
                }
            });
        all.join();
        const int end = with.from(0, 3);
        try {
            if (end == 0)
                top.ask(sennit::end_supervision{}).get();
            else if (end == 1)
                group.stop();
            else if (end == 2)
                top.kill();
            else
                children.front().tell(go{1}), top.tell(sennit::end_supervision{});
        } catch (const sennit::ask_failed&) {
        }
        try {
            group.join();
            clean = true;
        } catch (const sennit::restarts_exceeded&) {
            gave_up = true;
        } catch (const on_purpose&) { // thrown by a child whose supervisor had been killed
            clean = end == 1 || end == 2;
        }
    }
    for (const auto& one : counts)
        if (one->alive != 0 || one->most > 1) return false;
    return gave_up || clean;
}

// ---- the end of a group -------------------------------------------------------------------------

struct grow {
    int depth;
};
class tree : public sennit::actor<tree, grow, parcel> {
public:
    tree(ledger& book, std::atomic<int>& alive, std::uint64_t seed)
        : book_(book), alive_(alive), with_(seed) {
        ++alive_;
    }
    ~tree() { --alive_; }
    void on(grow m) {
        if (m.depth > 0)
            for (int i = with_.from(0, 3); i > 0; --i) {
                const auto one = group().spawn<tree>(book_, alive_, with_.seed());
                one.tell(grow{m.depth - 1});
                one.tell(parcel(book_, 0, i));
                nap(with_);
            }
        if (with_.from(0, 4) == 0) { // the handler's own child, which ends before this handler does
            sennit::actor_group own;
            own.spawn<tree>(book_, alive_, with_.seed()).tell(grow{m.depth > 1 ? 1 : 0});
        }
        const int end = with_.from(0, 19);
        if (end == 0) throw std::runtime_error("an error");
        if (end < 15) stop();
    }
    void on(const parcel& m) {
        ++m.book().handled;
        nap(with_);
    }

private:
    ledger& book_;
    std::atomic<int>& alive_;
    dice with_;
};

bool groups_that_end(dice& with) {
    ledger book;
    std::atomic<int> alive{0};
    bool gone = true;
    {
        sennit::actor_group group;
        const bool joins = with.from(0, 1) == 0;
        {
            crew all(with);
            for (int i = with.from(1, 4); i > 0; --i)
                all.start([&](dice& own) {
                    for (int k = own.from(1, 3); k > 0; --k, nap(own))
                        group.spawn<tree>(book, alive, own.seed()).tell(grow{own.from(0, 3)});
                });
            all.start([&](dice& own) {
                nap(own), nap(own);
                group.stop();
                if (group.handled() > 1'000'000) book.failed();
            });
            if (joins)
                all.start([&](dice&) {
                    try {
                        group.join();
                    } catch (const std::runtime_error&) {
                    }
                });
        }
        try {
            group.join();
        } catch (const std::runtime_error&) {
        }
        gone = alive == 0 && group.size() == 0 && sennit::metrics_of(group).empty();
    }
    return gone && book.balanced();
}

constexpr program all_programs[] = {
    {"links", &links},
    {"supervision", &supervision},
    {"groups that end", &groups_that_end},
};

} // namespace
} // namespace mix_actors_ends

std::span<const program> actor_end_programs() {
    return mix_actors_ends::all_programs;
}

} // namespace soak
