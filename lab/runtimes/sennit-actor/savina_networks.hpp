// SPDX-License-Identifier: Apache-2.0
// Savina's networks: actors with fixed neighbours, through which values flow.
#pragma once

#include "actors/savina_bitonic.hpp"
#include "actors/savina_grids.hpp"
#include "rings.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace lab::savina {

// ---- savina-sor

class cell;
using cells = std::shared_ptr<const std::vector<sennit::actor_ref<cell>>>;
struct begin_cell {
    cells all;
};
struct neighbour_value {
    std::size_t side; // of the receiver, as in sor_size::around
    double value;
};
// excerpt savina-sor
class cell : public sennit::actor<cell, begin_cell, neighbour_value> {
public:
    cell(finish& whole, const sor_size& size, std::int64_t row, std::int64_t column, double value)
        : whole_(whole), size_(size), row_(row), column_(column), value_(value) {
        for (const auto& [side, i, j] : neighbours()) expected_ += size_.inside(i, j);
    }
    void on(const begin_cell& m) {
        all_ = m.all;
        if (sor_size::red(row_, column_)) return tell_neighbours();
        if (seen_ == expected_) update(); // a value may arrive before the list of all actors
    }
    void on(neighbour_value m) {
        around_[m.side] = m.value;
        if (++seen_ == expected_ && all_) update();
    }

private:
    struct place {
        std::size_t side; // of that neighbour, on which this actor lies
        std::int64_t row, column;
    };
    std::array<place, 4> neighbours() const {
        return {{{1, row_, column_ - 1},
                 {0, row_, column_ + 1},
                 {3, row_ - 1, column_},
                 {2, row_ + 1, column_}}};
    }
    void tell_neighbours() {
        for (const auto& [side, i, j] : neighbours())
            if (size_.inside(i, j))
                (*all_)[static_cast<std::size_t>(i * size_.n + j)].tell(
                    neighbour_value{side, value_});
    }
    void update() {
        seen_ = 0;
        value_ = sor_size::next(value_, around_);
        sum_ += sor_size::rounded(value_);
        const bool last = ++round_ == sor_size::rounds;
        if (!last || !sor_size::red(row_, column_)) tell_neighbours();
        if (last) whole_.one_more(sum_);
    }
    finish& whole_;
    const sor_size& size_;
    std::int64_t row_, column_, round_ = 0, sum_ = 0;
    int seen_ = 0, expected_ = 0;
    double value_;
    sor_size::around around_{};
    cells all_;
};
// excerpt end
struct sor : sor_size {
    using sor_size::sor_size;
    std::int64_t run() const {
        finish whole;
        whole.left = n * n;
        const auto values = numbers();
        sennit::actor_group group;
        auto all = std::make_shared<std::vector<sennit::actor_ref<cell>>>();
        for (std::int64_t i = 0; i < n * n; ++i)
            all->push_back(
                group.spawn<cell>(whole, *this, i / n, i % n, values[static_cast<std::size_t>(i)]));
        for (const auto& one : *all) one.tell(begin_cell{all});
        return whole.wait();
    }
};

// ---- savina-bitonicsort

struct network_value {
    std::int64_t value;
};
using network_ref = sennit::actor_ref<sennit::accepts<network_value>>;
// excerpt savina-bitonicsort
class bitonic_stage : public sennit::actor<bitonic_stage, network_value> {
public:
    bitonic_stage(network_ref next, bitonicsort_size::stage own)
        : next_(next), own_(std::move(own)) {}
    void on(network_value m) {
        own_.take(m.value, [this](std::int64_t value) { next_.tell(network_value{value}); });
    }

private:
    network_ref next_;
    bitonicsort_size::stage own_;
};
// excerpt end
class bitonic_end : public sennit::actor<bitonic_end, network_value> {
public:
    bitonic_end(finish& whole, std::int64_t count) : whole_(whole), left_(count) {}
    void on(network_value m) {
        in_order_ = in_order_ && last_ <= m.value;
        last_ = m.value;
        sum_ += m.value;
        if (--left_ == 0) whole_.one_more(in_order_ ? sum_ : -1);
    }

private:
    finish& whole_;
    std::int64_t left_, last_ = 0, sum_ = 0;
    bool in_order_ = true;
};
struct bitonicsort : bitonicsort_size {
    using bitonicsort_size::bitonicsort_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        network_ref first(group.spawn<bitonic_end>(whole, n));
        auto all = stages();
        for (; !all.empty(); all.pop_back())
            first = network_ref(group.spawn<bitonic_stage>(first, std::move(all.back())));
        random numbers(seed);
        for (std::int64_t i = 0; i < n; ++i) first.tell(network_value{numbers.next()});
        return whole.wait();
    }
};

} // namespace lab::savina
