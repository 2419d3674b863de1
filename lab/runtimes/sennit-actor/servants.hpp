// SPDX-License-Identifier: Apache-2.0
// Actors that work for each other: streams, buffers, pools, trees.
#pragma once

#include "rings.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace lab {

// ---- counting-actor

struct number {
    std::int64_t value;
};
struct result {};
// excerpt counting-actor
class adder : public sennit::actor<adder, number, result> {
public:
    explicit adder(finish& whole) : whole_(whole) {}
    void on(number m) { sum_ += m.value; }
    void on(result) { whole_.one_more(sum_); }

private:
    finish& whole_;
    std::int64_t sum_ = 0;
};
struct more {};
class number_source : public sennit::actor<number_source, more> {
public:
    number_source(sennit::actor_ref<adder> to, std::int64_t first, std::int64_t end, bool last)
        : to_(to), next_(first), end_(end), last_(last) {}
    void on(more) {
        for (int i = 0; i < 64 && next_ < end_; ++i) to_.tell(number{next_++});
        if (next_ < end_)
            self().tell(more{});
        else if (last_)
            to_.tell(result{});
    }

private:
    sennit::actor_ref<adder> to_;
    std::int64_t next_, end_;
    bool last_;
};
// excerpt end
struct counting_actor : counting_size {
    using counting_size::counting_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group actors;
        auto sum = actors.spawn<adder>(whole);
        actors.spawn<number_source>(sum, 0, n, true).tell(more{});
        return whole.wait();
    }
};

// ---- fan-in

class gatherer : public sennit::actor<gatherer, number> {
public:
    gatherer(finish& whole, std::int64_t expected) : whole_(whole), expected_(expected) {}
    void on(number) {
        if (++seen_ == expected_) whole_.one_more(seen_);
    }

private:
    finish& whole_;
    std::int64_t expected_, seen_ = 0;
};
class fan_sender : public sennit::actor<fan_sender, more> {
public:
    fan_sender(sennit::actor_ref<gatherer> to, std::int64_t count) : to_(to), left_(count) {}
    void on(more) {
        for (int i = 0; i < 64 && left_ > 0; ++i) to_.tell(number{left_--});
        if (left_ > 0) self().tell(more{});
    }

private:
    sennit::actor_ref<gatherer> to_;
    std::int64_t left_;
};
struct fan_in : fan_in_size {
    using fan_in_size::fan_in_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group actors;
        auto all = actors.spawn<gatherer>(whole, expected());
        for (std::int64_t i = 0; i < fan_senders; ++i)
            actors.spawn<fan_sender>(all, each()).tell(more{});
        return whole.wait();
    }
};

// ---- producer-consumer

class bounded_buffer;
class producer;
class consumer;
struct item {
    std::int64_t value;
};
struct room {};
struct wants {
    sennit::actor_ref<consumer> who;
};
struct offers {
    sennit::actor_ref<producer> who;
    std::int64_t value;
};
class bounded_buffer : public sennit::actor<bounded_buffer, offers, wants> {
public:
    void on(offers m);
    void on(wants m);

private:
    void move_on();
    std::deque<std::int64_t> items_;
    std::deque<sennit::actor_ref<consumer>> waiting_;
    std::deque<offers> refused_;
};
class producer : public sennit::actor<producer, room> {
public:
    producer(sennit::actor_ref<bounded_buffer> to, std::int64_t count) : to_(to), left_(count) {}
    void on(room) {
        if (left_-- > 0) to_.tell(offers{self(), left_});
    }

private:
    sennit::actor_ref<bounded_buffer> to_;
    std::int64_t left_;
};
class consumer : public sennit::actor<consumer, item, room> {
public:
    consumer(sennit::actor_ref<bounded_buffer> from, finish& whole) : from_(from), whole_(whole) {}
    void on(room) { from_.tell(wants{self()}); }
    void on(item) {
        whole_.one_more(1);
        from_.tell(wants{self()});
    }

private:
    sennit::actor_ref<bounded_buffer> from_;
    finish& whole_;
};
inline void bounded_buffer::on(offers m) {
    refused_.push_back(m);
    move_on();
}
inline void bounded_buffer::on(wants m) {
    waiting_.push_back(m.who);
    move_on();
}
inline void bounded_buffer::move_on() {
    for (;;) {
        while (!refused_.empty() && items_.size() < static_cast<std::size_t>(buffer_size)) {
            items_.push_back(refused_.front().value);
            refused_.front().who.tell(room{});
            refused_.pop_front();
        }
        if (waiting_.empty() || items_.empty()) return;
        waiting_.front().tell(item{items_.front()});
        waiting_.pop_front();
        items_.pop_front();
    }
}
struct producer_consumer : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run() const {
        finish whole;
        whole.left = n;
        sennit::actor_group actors;
        auto buffer = actors.spawn<bounded_buffer>();
        for (std::int64_t i = 0; i < producers; ++i)
            actors.spawn<producer>(buffer, share_of(n, producers, i)).tell(room{});
        for (std::int64_t i = 0; i < consumers; ++i)
            actors.spawn<consumer>(buffer, whole).tell(room{});
        return whole.wait();
    }
};

// ---- prime-factors

class prime_worker;
struct lend {
    std::unique_ptr<std::array<char, 64>> buffer;
};
struct need {
    sennit::actor_ref<prime_worker> who;
};
struct query {};
class lender : public sennit::actor<lender, need, lend> {
public:
    lender() {
        for (std::int64_t i = 0; i < prime_buffers; ++i)
            free_.push_back({std::make_unique<std::array<char, 64>>()});
    }
    void on(need m);
    void on(lend m);

private:
    std::vector<lend> free_;
    std::deque<sennit::actor_ref<prime_worker>> waiting_;
};
class dispatcher;
struct solved {
    sennit::actor_ref<prime_worker> who;
    std::int64_t factor;
};
class dispatcher : public sennit::actor<dispatcher, sennit::actor_ref<prime_worker>, solved> {
public:
    dispatcher(finish& whole, std::int64_t queries) : whole_(whole), left_(queries) {}
    void on(sennit::actor_ref<prime_worker> idle);
    void on(solved m) {
        whole_.one_more(m.factor);
        on(m.who);
    }

private:
    finish& whole_;
    std::int64_t left_;
};
class prime_worker : public sennit::actor<prime_worker, query, lend> {
public:
    prime_worker(sennit::actor_ref<dispatcher> client, sennit::actor_ref<lender> server)
        : client_(client), server_(server) {}
    void on(query) {
        ++queries_;
        server_.tell(need{self()});
    }
    void on(lend m) {
        const std::int64_t factor = smallest_factor_of(composite);
        server_.tell(std::move(m));
        client_.tell(solved{self(), factor});
    }

private:
    sennit::actor_ref<dispatcher> client_;
    sennit::actor_ref<lender> server_;
    std::int64_t queries_ = 0;
};
inline void dispatcher::on(sennit::actor_ref<prime_worker> idle) {
    if (left_-- > 0) idle.tell(query{});
}
inline void lender::on(need m) {
    if (free_.empty()) return waiting_.push_back(m.who);
    m.who.tell(std::move(free_.back()));
    free_.pop_back();
}
inline void lender::on(lend m) {
    if (waiting_.empty()) return free_.push_back(std::move(m));
    waiting_.front().tell(std::move(m));
    waiting_.pop_front();
}
struct prime_factors : prime_factors_size {
    using prime_factors_size::prime_factors_size;
    std::int64_t run() const {
        finish whole;
        whole.left = n;
        sennit::actor_group actors;
        auto server = actors.spawn<lender>();
        auto client = actors.spawn<dispatcher>(whole, n);
        std::vector<sennit::actor_ref<prime_worker>> workers;
        for (std::int64_t i = 0; i < prime_workers; ++i)
            workers.push_back(actors.spawn<prime_worker>(client, server));
        for (std::int64_t i = 0; i < queries_under_way; ++i)
            client.tell(workers[static_cast<std::size_t>(i % prime_workers)]);
        return whole.wait();
    }
};

// ---- mixed-scenario

struct factorise {};
class factoriser : public sennit::actor<factoriser, factorise> {
public:
    explicit factoriser(finish& whole) : whole_(whole) {}
    void on(factorise) {
        if (smallest_factor_of(composite) == smallest_factor) whole_.one_more(0);
    }

private:
    finish& whole_;
};
class mixed_node;
struct mixed_next {
    sennit::actor_ref<mixed_node> next;
    sennit::actor_ref<factoriser> worker; // only the first node has a worker
};
class mixed_node : public sennit::actor<mixed_node, mixed_next, token> {
public:
    mixed_node(std::int64_t, finish& whole) : whole_(whole) {}
    void on(mixed_next m) { next_ = m; }
    void on(token m) {
        if (m.hops == 0) return whole_.one_more(0);
        if (next_.worker && m.hops % mixed_actors == 0) {
            ++whole_.left;
            next_.worker.tell(factorise{});
        }
        whole_hops_ += 1;
        next_.next.tell(token{m.hops - 1});
    }
    void stopped(sennit::exit_reason) { whole_.answer += whole_hops_; }

private:
    mixed_next next_;
    finish& whole_;
    std::int64_t whole_hops_ = 0;
};
struct mixed_scenario : mixed_size {
    using mixed_size::mixed_size;
    std::int64_t run() const {
        finish whole;
        whole.left = mixed_rings;
        {
            sennit::actor_group actors;
            for (std::int64_t r = 0; r < mixed_rings; ++r) {
                std::vector<sennit::actor_ref<mixed_node>> nodes;
                for (std::int64_t i = 0; i < mixed_actors; ++i)
                    nodes.push_back(actors.spawn<mixed_node>(i, whole));
                auto worker = actors.spawn<factoriser>(whole);
                for (std::size_t i = 0; i < nodes.size(); ++i)
                    nodes[i].tell(mixed_next{nodes[(i + 1) % nodes.size()],
                                             i == 0 ? worker : sennit::actor_ref<factoriser>()});
                nodes.front().tell(token{hops()});
            }
            whole.done.wait();
        }
        return whole.answer;
    }
};

// ---- skynet-actor

class sky_node;
struct sum_of {
    std::int64_t value;
};
class sky_root : public sennit::actor<sky_root, sum_of> {
public:
    explicit sky_root(finish& whole) : whole_(whole) {}
    void on(sum_of m) { whole_.one_more(m.value); }

private:
    finish& whole_;
};
struct grow {
    std::int64_t first, leaves;
};
class sky_node : public sennit::actor<sky_node, grow, sum_of> {
public:
    explicit sky_node(sennit::actor_ref<sennit::accepts<sum_of>> above) : above_(above) {}
    void on(grow m) {
        if (m.leaves == 1) {
            above_.tell(sum_of{m.first});
            return stop();
        }
        const std::int64_t part = m.leaves / 10;
        for (std::int64_t i = 0; i < 10; ++i)
            group()
                .spawn<sky_node>(sennit::actor_ref<sennit::accepts<sum_of>>(self()))
                .tell(grow{m.first + i * part, part});
    }
    void on(sum_of m) {
        sum_ += m.value;
        if (++seen_ < 10) return;
        above_.tell(sum_of{sum_});
        stop();
    }

private:
    sennit::actor_ref<sennit::accepts<sum_of>> above_;
    std::int64_t sum_ = 0, seen_ = 0;
};
struct skynet_actor : skynet_actor_size {
    using skynet_actor_size::skynet_actor_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group actors;
        auto root = actors.spawn<sky_root>(whole);
        actors.spawn<sky_node>(sennit::actor_ref<sennit::accepts<sum_of>>(root)).tell(grow{0, n});
        return whole.wait();
    }
};

// ---- spawn-storm

class mayfly;
struct live {
    std::int64_t number;
};
// excerpt spawn-storm
class mayfly : public sennit::actor<mayfly, live> {
public:
    mayfly(finish& whole, std::int64_t last) : whole_(whole), last_(last) {}
    void on(live m) {
        if (m.number == last_)
            whole_.one_more(m.number);
        else
            group().spawn<mayfly>(whole_, last_).tell(live{m.number + 1});
        stop();
    }

private:
    finish& whole_;
    std::int64_t last_;
};
// excerpt end
struct spawn_storm : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group actors;
        actors.spawn<mayfly>(whole, n).tell(live{1});
        whole.wait();
        actors.join();
        return whole.answer;
    }
};

// ---- ring-work

class work_node;
struct work_next {
    sennit::actor_ref<work_node> next;
};
struct work_token {
    std::int64_t hops;
    std::uint64_t seed;
};
class work_node : public sennit::actor<work_node, work_next, work_token> {
public:
    work_node(std::int64_t, finish& whole) : whole_(whole) {}
    void on(work_next m) { next_ = m.next; }
    void on(work_token m) {
        if (m.hops == 0) return whole_.one_more(m.seed != 0);
        next_.tell(work_token{m.hops - 1, some_work(m.seed) | 1});
    }

private:
    sennit::actor_ref<work_node> next_;
    finish& whole_;
};
struct ring_work : ring_work_size {
    unsigned threads;
    ring_work(const std::string& size, unsigned workers) : ring_work_size(size), threads(workers) {}
    std::int64_t run() const {
        finish whole;
        whole.left = work_tokens;
        sennit::actor_group actors;
        const auto nodes = make_ring<work_node, work_next>(actors, threads, ring_actors, whole);
        for (std::size_t i = 0; i < static_cast<std::size_t>(work_tokens); ++i)
            nodes[i * nodes.size() / static_cast<std::size_t>(work_tokens)].tell(
                work_token{hops(), i + 1});
        return whole.wait() == work_tokens ? expected() : -1;
    }
};

} // namespace lab
