// SPDX-License-Identifier: Apache-2.0
// Actors that work for each other with Theron: a bounded buffer, a pool, and rings with a worker
// beside each ring. A message of TailSend waits for the thread that sent it, even while other
// threads have no work. The workloads in which actors compute therefore do not use TailSend.
#pragma once

#include "with_theron.hpp"

#include <deque>
#include <utility>
#include <vector>

namespace lab {
namespace theron {

// ---- producer-consumer

class bounded_buffer : public Theron::Actor {
public:
    explicit bounded_buffer(Theron::Framework& framework) : Actor(framework) {
        RegisterHandler(this, &bounded_buffer::put);
        RegisterHandler(this, &bounded_buffer::get);
    }

private:
    void put(const offer& one, const Theron::Address producer) {
        refused_.emplace_back(producer, one.value);
        move_on();
    }
    void get(const item_wanted&, const Theron::Address consumer) {
        waiting_.push_back(consumer);
        move_on();
    }
    void move_on() {
        for (;;) {
            while (!refused_.empty() && items_.size() < static_cast<std::size_t>(buffer_size)) {
                items_.push_back(refused_.front().second);
                Send(room{}, refused_.front().first);
                refused_.pop_front();
            }
            if (waiting_.empty() || items_.empty()) return;
            Send(item{items_.front()}, waiting_.front());
            waiting_.pop_front();
            items_.pop_front();
        }
    }

    std::deque<std::int64_t> items_;
    std::deque<Theron::Address> waiting_;
    std::deque<std::pair<Theron::Address, std::int64_t>> refused_;
};

class producer : public Theron::Actor {
public:
    producer(Theron::Framework& framework, const Theron::Address& to, std::int64_t count)
        : Actor(framework), to_(to), left_(count) {
        RegisterHandler(this, &producer::produce);
    }

private:
    void produce(const room&, const Theron::Address) {
        if (left_-- > 0) TailSend(offer{left_}, to_);
    }

    const Theron::Address to_;
    std::int64_t left_;
};

class consumer : public Theron::Actor {
public:
    consumer(Theron::Framework& framework, const Theron::Address& from, theron_finish* whole)
        : Actor(framework), from_(from), whole_(whole) {
        RegisterHandler(this, &consumer::begin);
        RegisterHandler(this, &consumer::consume);
    }

private:
    void begin(const go_on&, const Theron::Address) {
        DeregisterHandler(this, &consumer::begin);
        TailSend(item_wanted{}, from_);
    }
    void consume(const item&, const Theron::Address) {
        TailSend(item_wanted{}, from_);
        whole_->one_more(1);
    }

    const Theron::Address from_;
    theron_finish* const whole_;
};

// ---- prime-factors

class lender : public Theron::Actor {
public:
    explicit lender(Theron::Framework& framework) : Actor(framework) {
        for (std::int64_t i = 0; i < prime_buffers; ++i) free_.push_back(i);
        RegisterHandler(this, &lender::lend);
        RegisterHandler(this, &lender::take_back);
    }

private:
    void lend(const buffer_wanted&, const Theron::Address who) {
        if (free_.empty()) return waiting_.push_back(who);
        Send(lent_buffer{free_.back()}, who);
        free_.pop_back();
    }
    void take_back(const lent_buffer& one, const Theron::Address) {
        if (waiting_.empty()) return free_.push_back(one.which);
        Send(one, waiting_.front());
        waiting_.pop_front();
    }

    std::vector<std::int64_t> free_;
    std::deque<Theron::Address> waiting_;
};

class solver : public Theron::Actor {
public:
    solver(Theron::Framework& framework, const Theron::Address& client,
           const Theron::Address& server)
        : Actor(framework), client_(client), server_(server) {
        RegisterHandler(this, &solver::ask);
        RegisterHandler(this, &solver::solve);
    }

private:
    void ask(const query&, const Theron::Address) { Send(buffer_wanted{}, server_); }
    void solve(const lent_buffer& buffer, const Theron::Address) {
        const std::int64_t factor = smallest_factor_of(composite);
        Send(buffer, server_);
        Send(solved{factor}, client_);
    }

    const Theron::Address client_, server_;
};

class dispatcher : public Theron::Actor {
public:
    dispatcher(Theron::Framework& framework, std::int64_t queries, theron_finish* whole)
        : Actor(framework), left_(queries), whole_(whole) {
        RegisterHandler(this, &dispatcher::begin);
        RegisterHandler(this, &dispatcher::count);
    }

private:
    void begin(const neighbour& idle, const Theron::Address) { ask(idle.next); }
    void count(const solved& one, const Theron::Address idle) {
        ask(idle);
        whole_->one_more(one.factor);
    }
    void ask(const Theron::Address& idle) {
        if (left_-- > 0) Send(query{}, idle);
    }

    std::int64_t left_;
    theron_finish* const whole_;
};

// ---- mixed-scenario

// `rings` ends with the last token and the last factor. `counts` receives the hops when they are
// asked for.
class mixed_node : public Theron::Actor {
public:
    mixed_node(Theron::Framework& framework, theron_finish* rings, theron_finish* counts)
        : Actor(framework), rings_(rings), counts_(counts) {
        RegisterHandler(this, &mixed_node::connect);
    }

private:
    void connect(const mixed_neighbours& told, const Theron::Address) {
        next_ = told.next;
        worker_ = told.worker;
        has_worker_ = worker_ != Theron::Address::Null();
        DeregisterHandler(this, &mixed_node::connect);
        RegisterHandler(this, &mixed_node::take);
        RegisterHandler(this, &mixed_node::tell);
    }
    void take(const token& one, const Theron::Address) {
        if (one.hops == 0) return rings_->one_more(0);
        if (has_worker_ && one.hops % mixed_actors == 0) {
            ++rings_->left;
            Send(query{}, worker_);
        }
        ++hops_;
        Send(one.passed_on(), next_);
    }
    void tell(const result_wanted&, const Theron::Address) { counts_->one_more(hops_); }

    Theron::Address next_, worker_;
    bool has_worker_ = false;
    std::int64_t hops_ = 0;
    theron_finish *const rings_, *const counts_;
};

class factoriser : public Theron::Actor {
public:
    factoriser(Theron::Framework& framework, theron_finish* rings)
        : Actor(framework), rings_(rings) {
        RegisterHandler(this, &factoriser::factorise);
    }

private:
    void factorise(const query&, const Theron::Address) {
        rings_->one_more(smallest_factor_of(composite) != smallest_factor); // counts wrong factors
    }

    theron_finish* const rings_;
};

} // namespace theron

struct theron_producer_consumer : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run_in(with_theron& runtime) const {
        theron_finish whole;
        whole.left = n;
        theron_actors all;
        auto buffer = std::make_unique<theron::bounded_buffer>(runtime.framework);
        const auto to = buffer->GetAddress();
        for (std::int64_t i = 0; i < producers; ++i)
            all.push_back(std::make_unique<theron::producer>(runtime.framework, to,
                                                             share_of(n, producers, i)));
        for (const auto& one : all) runtime.send(theron::room{}, *one);
        for (std::int64_t i = 0; i < consumers; ++i) {
            all.push_back(std::make_unique<theron::consumer>(runtime.framework, to, &whole));
            runtime.send(theron::go_on{}, *all.back());
        }
        all.push_back(std::move(buffer));
        whole.wait();
        end(all);
        return whole.answer;
    }
};

struct theron_prime_factors : prime_factors_size {
    using prime_factors_size::prime_factors_size;
    std::int64_t run_in(with_theron& runtime) const {
        theron_finish whole;
        whole.left = n;
        auto server = std::make_unique<theron::lender>(runtime.framework);
        auto client = std::make_unique<theron::dispatcher>(runtime.framework, n, &whole);
        theron_actors all;
        for (std::int64_t i = 0; i < prime_workers; ++i)
            all.push_back(std::make_unique<theron::solver>(runtime.framework, client->GetAddress(),
                                                           server->GetAddress()));
        for (std::int64_t i = 0; i < queries_under_way; ++i)
            runtime.send(
                theron::neighbour{all[static_cast<std::size_t>(i % prime_workers)]->GetAddress()},
                *client);
        all.push_back(std::move(client));
        all.push_back(std::move(server));
        whole.wait();
        end(all);
        return whole.answer;
    }
};

struct theron_mixed_scenario : mixed_size {
    using mixed_size::mixed_size;
    std::int64_t run_in(with_theron& runtime) const {
        theron_finish rings, counts;
        rings.left = mixed_rings;
        counts.left = mixed_rings * mixed_actors;
        theron_actors all, workers;
        for (std::int64_t r = 0; r < mixed_rings; ++r) {
            const auto first = all.size();
            const auto many = static_cast<std::size_t>(mixed_actors);
            for (std::size_t i = 0; i < many; ++i)
                all.push_back(
                    std::make_unique<theron::mixed_node>(runtime.framework, &rings, &counts));
            workers.push_back(std::make_unique<theron::factoriser>(runtime.framework, &rings));
            for (std::size_t i = 0; i < many; ++i)
                runtime.send(theron::mixed_neighbours{all[first + (i + 1) % many]->GetAddress(),
                                                      i == 0 ? workers.back()->GetAddress()
                                                             : Theron::Address::Null()},
                             *all[first + i]);
            runtime.send(theron::token{hops()}, *all[first]);
        }
        const std::int64_t wrong = rings.wait();
        for (const auto& node : all) runtime.send(theron::result_wanted{}, *node);
        counts.wait();
        end(all);
        end(workers);
        return wrong == 0 ? counts.answer.load() : -1;
    }
};

} // namespace lab
