// SPDX-License-Identifier: Apache-2.0
// Savina's bank of filters, its guided search, and its facilities.
#pragma once

#include "actors/savina_filters.hpp"
#include "actors/savina_quadrants.hpp"
#include "actors/savina_search.hpp"
#include "savina_networks.hpp"

namespace lab::savina {

// ---- savina-filterbank

// excerpt savina-filterbank
template <class Stage>
class bank_stage : public sennit::actor<bank_stage<Stage>, network_value> {
public:
    bank_stage(network_ref next, Stage own) : next_(next), own_(std::move(own)) {}
    void on(network_value m) {
        own_.take(m.value, [this](std::int64_t value) { next_.tell(network_value{value}); });
    }

private:
    network_ref next_;
    Stage own_;
};
struct channel_value {
    std::int64_t channel, value;
};
class bank_integrator : public sennit::actor<bank_integrator, channel_value> {
public:
    explicit bank_integrator(network_ref next) : next_(next) {}
    void on(channel_value m) {
        own_.take(m.channel, m.value,
                  [this](std::int64_t value) { next_.tell(network_value{value}); });
    }

private:
    network_ref next_;
    filterbank_size::integrator own_;
};
// excerpt end
class channel_end : public sennit::actor<channel_end, network_value> {
public:
    channel_end(sennit::actor_ref<bank_integrator> next, std::int64_t channel)
        : next_(next), channel_(channel) {}
    void on(network_value m) { next_.tell(channel_value{channel_, m.value}); }

private:
    sennit::actor_ref<bank_integrator> next_;
    std::int64_t channel_;
};
class bank_sink : public sennit::actor<bank_sink, network_value> {
public:
    bank_sink(finish& whole, std::int64_t count) : whole_(whole), count_(count) {}
    void on(network_value m) {
        sum_ += m.value * filterbank_size::weight(seen_);
        if (++seen_ == count_) whole_.one_more(sum_);
    }

private:
    finish& whole_;
    std::int64_t count_, seen_ = 0, sum_ = 0;
};
struct filterbank : filterbank_size {
    using filterbank_size::filterbank_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        const network_ref sink(group.spawn<bank_sink>(whole, outputs()));
        const auto sums = group.spawn<bank_integrator>(sink);
        std::vector<network_ref> banks;
        for (std::int64_t channel = 0; channel < channels; ++channel) {
            network_ref first(group.spawn<channel_end>(sums, channel));
            first = network_ref(group.spawn<bank_stage<filter>>(first, filter(channel, true)));
            first = network_ref(group.spawn<bank_stage<delay>>(first, delay()));
            first = network_ref(group.spawn<bank_stage<sampler>>(first, sampler()));
            first = network_ref(group.spawn<bank_stage<filter>>(first, filter(channel, false)));
            banks.push_back(network_ref(group.spawn<bank_stage<delay>>(first, delay())));
        }
        for (std::int64_t k = 0; k < n; ++k)
            for (const network_ref& bank : banks) bank.tell(network_value{input(k)});
        return whole.wait();
    }
};

// ---- savina-astar

// excerpt savina-astar
class searcher;
struct node_left {
    astar_size::id node;
};
struct has_visited {};
class search_master : public sennit::actor<search_master, node_left, has_visited> {
public:
    search_master(finish& whole, astar_size::state& grid) : whole_(whole), grid_(grid) {}
    void on(node_left m);
    void on(has_visited) {
        if (++done_ == given_) whole_.one_more(grid_.reached());
    }

private:
    finish& whole_;
    astar_size::state& grid_;
    std::vector<sennit::actor_ref<searcher>> workers_;
    std::int64_t given_ = 0, done_ = 0;
};
struct visit_from {
    astar_size::id node;
};
class searcher : public sennit::actor<searcher, visit_from> {
public:
    searcher(sennit::actor_ref<search_master> master, astar_size::state& grid)
        : master_(master), grid_(grid) {}
    void on(visit_from m) {
        for (const astar_size::id node : grid_.visit(m.node)) master_.tell(node_left{node});
        master_.tell(has_visited{});
    }

private:
    sennit::actor_ref<search_master> master_;
    astar_size::state& grid_;
};
inline void search_master::on(node_left m) {
    while (workers_.size() < static_cast<std::size_t>(astar_size::workers))
        workers_.push_back(group().spawn<searcher>(self(), grid_));
    workers_[static_cast<std::size_t>(given_++ % astar_size::workers)].tell(visit_from{m.node});
}
// excerpt end
struct astar : astar_size {
    using astar_size::astar_size;
    std::int64_t run() const {
        state grid(*this);
        finish whole;
        sennit::actor_group group;
        group.spawn<search_master>(whole, grid).tell(node_left{0});
        return whole.wait();
    }
};

// ---- savina-facloc

// excerpt savina-facloc
struct new_customer {
    facloc_size::point at;
};
struct opened {
    facloc_size::point at;
    std::size_t part; // that of the actor that tells the news, or none
    static constexpr std::size_t none = 4;
};
struct ask_count {};
struct count_of {
    std::int64_t customers;
};
class quadrant_actor
    : public sennit::actor<quadrant_actor, new_customer, opened, ask_count, count_of> {
public:
    // The root has no actor above it.
    quadrant_actor(finish& whole, facloc_size::quadrant own,
                   sennit::actor_ref<quadrant_actor> above, std::size_t part)
        : whole_(whole), own_(std::move(own)), above_(above), part_(part) {}
    void on(new_customer m) {
        if (!parts_.empty())
            parts_[own_.part_of(m.at)].tell(m);
        else if (own_.add(m.at))
            split();
    }
    void on(opened m) {
        own_.facilities.push_back(m.at);
        if (m.part == opened::none) {
            for (const auto& part : parts_) part.tell(m);
            return;
        }
        parts_[3 - m.part].tell(opened{m.at, opened::none});
        tell_above(m.at);
    }
    void on(ask_count m) {
        for (const auto& part : parts_) part.tell(m);
        if (parts_.empty()) end(static_cast<std::int64_t>(own_.customers.size()));
    }
    void on(count_of m) {
        customers_ += m.customers;
        if (++counted_ == parts_.size()) end(customers_);
    }

private:
    void split() {
        tell_above(own_.centre());
        auto parts = own_.split();
        for (std::size_t i = 0; i < parts.size(); ++i)
            parts_.push_back(group().spawn<quadrant_actor>(whole_, std::move(parts[i]), self(), i));
    }
    void tell_above(facloc_size::point at) {
        if (above_) above_.tell(opened{at, part_});
    }
    void end(std::int64_t customers) {
        if (above_)
            above_.tell(count_of{customers});
        else
            whole_.one_more(customers);
    }
    finish& whole_;
    facloc_size::quadrant own_;
    sennit::actor_ref<quadrant_actor> above_;
    std::size_t part_, counted_ = 0;
    std::int64_t customers_ = 0;
    std::vector<sennit::actor_ref<quadrant_actor>> parts_;
};
// excerpt end
struct facloc : facloc_size {
    using facloc_size::facloc_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        const auto root = group.spawn<quadrant_actor>(
            whole, facloc_size::quadrant(), sennit::actor_ref<quadrant_actor>(), opened::none);
        random numbers(seed);
        for (std::int64_t i = 0; i < n; ++i) root.tell(new_customer{customer(numbers)});
        root.tell(ask_count{});
        return whole.wait();
    }
};

} // namespace lab::savina
