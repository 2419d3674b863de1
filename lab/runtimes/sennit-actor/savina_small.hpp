// SPDX-License-Identifier: Apache-2.0
// Savina's small benchmarks: the cost of sending messages and of creating actors.
#pragma once

#include "actors/savina.hpp"
#include "rings.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace lab::savina {

// ---- savina-throughput, savina-create

struct compute {
    double at;
};
class computer : public sennit::actor<computer, compute> {
public:
    computer(finish& whole, std::int64_t messages) : whole_(whole), left_(messages) {}
    void on(compute m) {
        right_ += computes(m.at);
        if (--left_ > 0) return;
        whole_.one_more(right_);
        stop();
    }

private:
    finish& whole_;
    std::int64_t left_, right_ = 0;
};
struct throughput : throughput_size {
    using throughput_size::throughput_size;
    std::int64_t run() const {
        finish whole;
        whole.left = actors;
        sennit::actor_group group;
        std::vector<sennit::actor_ref<computer>> all;
        for (std::int64_t i = 0; i < actors; ++i) all.push_back(group.spawn<computer>(whole, n));
        for (std::int64_t i = 0; i < n; ++i)
            for (const auto& one : all) one.tell(compute{angle});
        return whole.wait();
    }
};
struct create_many : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run() const {
        finish whole;
        whole.left = n;
        sennit::actor_group group;
        for (std::int64_t i = 0; i < n; ++i) group.spawn<computer>(whole, 1).tell(compute{angle});
        return whole.wait();
    }
};

// ---- savina-fib

class call;
struct argument {
    std::int64_t n;
};
struct value_of {
    std::int64_t value;
};
using caller = sennit::actor_ref<sennit::accepts<value_of>>;
class first_caller : public sennit::actor<first_caller, value_of> {
public:
    explicit first_caller(finish& whole) : whole_(whole) {}
    void on(value_of m) { whole_.one_more(m.value); }

private:
    finish& whole_;
};
// excerpt savina-fib
class call : public sennit::actor<call, argument, value_of> {
public:
    explicit call(caller above) : above_(above) {}
    void on(argument m) {
        if (m.n <= 2) return answer(1);
        group().spawn<call>(caller(self())).tell(argument{m.n - 1});
        group().spawn<call>(caller(self())).tell(argument{m.n - 2});
    }
    void on(value_of m) {
        sum_ += m.value;
        if (++seen_ == 2) answer(sum_);
    }

private:
    void answer(std::int64_t value) {
        above_.tell(value_of{value});
        stop();
    }
    caller above_;
    std::int64_t sum_ = 0;
    int seen_ = 0;
};
// excerpt end
struct fib : fib_size {
    using fib_size::fib_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        const caller first(group.spawn<first_caller>(whole));
        group.spawn<call>(first).tell(argument{n});
        return whole.wait();
    }
};

// ---- savina-chameneos

enum class colour { blue, red, yellow };
// Two equal colours give that colour, and two different ones give the third colour.
inline colour mixed(colour a, colour b) {
    return a == b ? a : static_cast<colour>(3 - static_cast<int>(a) - static_cast<int>(b));
}
class creature;
struct wants_to_meet {
    colour own;
    sennit::actor_ref<creature> who;
};
struct go_home {};
struct changed_to {
    colour now;
};
class mall : public sennit::actor<mall, wants_to_meet> {
public:
    explicit mall(std::int64_t meetings) : left_(meetings) {}
    void on(wants_to_meet m);

private:
    std::int64_t left_;
    std::optional<wants_to_meet> waiting_;
};
class creature : public sennit::actor<creature, wants_to_meet, changed_to, go_home> {
public:
    creature(finish& whole, sennit::actor_ref<mall> where, colour own)
        : whole_(whole), where_(where), colour_(own) {}
    void on(go_home) { // the first message begins; later ones come from the mall
        if (std::exchange(begun_, true)) return whole_.one_more(meetings_);
        where_.tell(wants_to_meet{colour_, self()});
    }
    void on(wants_to_meet other) {
        colour_ = mixed(colour_, other.own);
        other.who.tell(changed_to{colour_});
        met();
    }
    void on(changed_to m) {
        colour_ = m.now;
        met();
    }

private:
    void met() {
        ++meetings_;
        where_.tell(wants_to_meet{colour_, self()});
    }
    finish& whole_;
    sennit::actor_ref<mall> where_;
    colour colour_;
    bool begun_ = false;
    std::int64_t meetings_ = 0;
};
inline void mall::on(wants_to_meet m) {
    if (left_ == 0) return m.who.tell(go_home{});
    if (!waiting_) {
        waiting_ = m;
        return;
    }
    waiting_->who.tell(m);
    waiting_.reset();
    --left_;
}
struct chameneos : chameneos_size {
    using chameneos_size::chameneos_size;
    std::int64_t run() const {
        finish whole;
        whole.left = creatures;
        sennit::actor_group group;
        const auto where = group.spawn<mall>(n);
        for (std::int64_t i = 0; i < creatures; ++i)
            group.spawn<creature>(whole, where, static_cast<colour>(i % 3)).tell(go_home{});
        return whole.wait();
    }
};

// ---- savina-big

class pinger;
using pingers = std::shared_ptr<const std::vector<sennit::actor_ref<pinger>>>;
struct begin_with {
    pingers all;
};
struct ping_from {
    // The sender may know the other actors before the actor that it asks does.
    sennit::actor_ref<pinger> who;
};
struct pong_from {
    std::int64_t who;
};
class pinger : public sennit::actor<pinger, begin_with, ping_from, pong_from> {
public:
    pinger(finish& whole, std::int64_t number, std::int64_t pings)
        : whole_(whole), number_(number), left_(pings), numbers_(number) {}
    void on(const begin_with& m) {
        all_ = m.all;
        ping();
    }
    void on(ping_from m) { m.who.tell(pong_from{number_}); }
    void on(pong_from m) {
        right_ += m.who == asked_;
        if (--left_ > 0)
            ping();
        else
            whole_.one_more(right_);
    }

private:
    void ping() {
        asked_ = numbers_.below(static_cast<std::int64_t>(all_->size()));
        (*all_)[static_cast<std::size_t>(asked_)].tell(ping_from{self()});
    }
    finish& whole_;
    std::int64_t number_, left_, asked_ = 0, right_ = 0;
    random numbers_;
    pingers all_;
};
struct big : big_size {
    using big_size::big_size;
    std::int64_t run() const {
        finish whole;
        whole.left = actors;
        sennit::actor_group group;
        auto all = std::make_shared<std::vector<sennit::actor_ref<pinger>>>();
        for (std::int64_t i = 0; i < actors; ++i) all->push_back(group.spawn<pinger>(whole, i, n));
        for (const auto& one : *all) one.tell(begin_with{all});
        return whole.wait();
    }
};

} // namespace lab::savina
