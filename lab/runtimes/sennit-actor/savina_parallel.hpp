// SPDX-License-Identifier: Apache-2.0
// Savina's parallel benchmarks: pipelines, and pools of actors that share a computation.
#pragma once

#include "actors/savina.hpp"
#include "rings.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace lab::savina {

struct begin_all {};

inline std::vector<std::int64_t> random_numbers(std::int64_t seed, std::int64_t count) {
    random from(seed);
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    for (auto& number : numbers) number = from.next();
    return numbers;
}
inline std::int64_t sum_if_sorted(const std::vector<std::int64_t>& numbers) {
    return std::is_sorted(numbers.begin(), numbers.end())
               ? std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0})
               : -1;
}

// ---- savina-radix

struct sorted_value {
    std::int64_t value;
};
using stage_ref = sennit::actor_ref<sennit::accepts<sorted_value>>;
class radix_stage : public sennit::actor<radix_stage, sorted_value> {
public:
    radix_stage(stage_ref next, std::int64_t bit, std::int64_t count)
        : next_(next), bit_(bit), left_(count) {}
    void on(sorted_value m) {
        if ((m.value & bit_) == 0)
            next_.tell(m);
        else
            kept_.push_back(m.value);
        if (--left_ > 0) return;
        for (const std::int64_t value : kept_) next_.tell(sorted_value{value});
        stop();
    }

private:
    stage_ref next_;
    std::int64_t bit_, left_;
    std::vector<std::int64_t> kept_;
};
class radix_end : public sennit::actor<radix_end, sorted_value> {
public:
    radix_end(finish& whole, std::int64_t count)
        : whole_(whole), count_(static_cast<std::size_t>(count)) {}
    void on(sorted_value m) {
        values_.push_back(m.value);
        if (values_.size() == count_) whole_.one_more(sum_if_sorted(values_));
    }

private:
    finish& whole_;
    std::size_t count_;
    std::vector<std::int64_t> values_;
};
struct radix : radix_size {
    using radix_size::radix_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        stage_ref first(group.spawn<radix_end>(whole, n));
        for (std::int64_t bit = bits; bit-- > 0;) // the first stage sorts by the lowest bit
            first = stage_ref(group.spawn<radix_stage>(first, std::int64_t{1} << bit, n));
        for (const std::int64_t value : random_numbers(seed, n)) first.tell(sorted_value{value});
        return whole.wait();
    }
};

// ---- savina-quicksort

struct sort_these {
    std::vector<std::int64_t> numbers;
};
struct sorted_part {
    std::vector<std::int64_t> numbers;
    bool lower;
};
using sort_caller = sennit::actor_ref<sennit::accepts<sorted_part>>;
class sorter : public sennit::actor<sorter, sort_these, sorted_part> {
public:
    sorter(sort_caller above, bool lower) : above_(above), lower_(lower) {}
    void on(sort_these&& m) {
        auto& numbers = m.numbers;
        if (static_cast<std::int64_t>(numbers.size()) <= quicksort_size::leaf) {
            std::sort(numbers.begin(), numbers.end());
            return answer(std::move(numbers));
        }
        const std::int64_t pivot = numbers[numbers.size() / 2];
        sort_these below, above;
        for (const std::int64_t number : numbers) {
            if (number < pivot)
                below.numbers.push_back(number);
            else if (number == pivot)
                sorted_.push_back(number);
            else
                above.numbers.push_back(number);
        }
        group().spawn<sorter>(sort_caller(self()), true).tell(std::move(below));
        group().spawn<sorter>(sort_caller(self()), false).tell(std::move(above));
    }
    void on(sorted_part&& m) {
        sorted_.insert(m.lower ? sorted_.begin() : sorted_.end(), m.numbers.begin(),
                       m.numbers.end());
        if (++parts_ == 2) answer(std::move(sorted_));
    }

private:
    void answer(std::vector<std::int64_t>&& numbers) {
        above_.tell(sorted_part{std::move(numbers), lower_});
        stop();
    }
    sort_caller above_;
    bool lower_;
    std::vector<std::int64_t> sorted_;
    int parts_ = 0;
};
class sort_end : public sennit::actor<sort_end, sorted_part> {
public:
    explicit sort_end(finish& whole) : whole_(whole) {}
    void on(sorted_part&& m) { whole_.one_more(sum_if_sorted(m.numbers)); }

private:
    finish& whole_;
};
struct quicksort : quicksort_size {
    using quicksort_size::quicksort_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        const sort_caller end(group.spawn<sort_end>(whole));
        group.spawn<sorter>(end, true).tell(sort_these{random_numbers(seed, n)});
        return whole.wait();
    }
};

// ---- savina-sieve

struct candidate {
    std::int64_t number;
};
struct no_more {
    std::int64_t primes; // the number of primes found so far
};
class sieve_part : public sennit::actor<sieve_part, candidate, no_more> {
public:
    sieve_part(finish& whole, std::int64_t first) : whole_(whole) { primes_.push_back(first); }
    void on(candidate m) {
        for (const std::int64_t prime : primes_) {
            if (prime * prime > m.number) break;
            if (m.number % prime == 0) return;
        }
        if (next_)
            next_.tell(m);
        else if (static_cast<std::int64_t>(primes_.size()) < sieve_size::kept)
            primes_.push_back(m.number);
        else
            next_ = group().spawn<sieve_part>(whole_, m.number);
    }
    void on(no_more m) {
        m.primes += static_cast<std::int64_t>(primes_.size());
        if (next_)
            next_.tell(m);
        else
            whole_.one_more(m.primes);
    }

private:
    finish& whole_;
    std::vector<std::int64_t> primes_;
    sennit::actor_ref<sieve_part> next_;
};
struct sieve : sieve_size {
    using sieve_size::sieve_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        const auto first = group.spawn<sieve_part>(whole, 2);
        for (std::int64_t number = 3; number < n; number += 2) first.tell(candidate{number});
        first.tell(no_more{0});
        return whole.wait();
    }
};

// ---- savina-trapezoid

struct part_of {
    std::int64_t first, end;
};
struct integral {
    double value;
};
class summer : public sennit::actor<summer, integral> {
public:
    explicit summer(finish& whole) : whole_(whole) {}
    void on(integral m) {
        sum_ += m.value;
        if (++seen_ == trapezoid_size::workers) whole_.one_more(trapezoid_size::answer(sum_));
    }

private:
    finish& whole_;
    double sum_ = 0;
    std::int64_t seen_ = 0;
};
class integrator : public sennit::actor<integrator, part_of> {
public:
    integrator(sennit::actor_ref<summer> to, std::int64_t pieces)
        : to_(to),
          width_((trapezoid_size::high - trapezoid_size::low) / static_cast<double>(pieces)) {}
    void on(part_of m) {
        double sum = (at(m.first) + at(m.end)) / 2;
        for (std::int64_t i = m.first + 1; i < m.end; ++i) sum += at(i);
        to_.tell(integral{sum * width_});
    }

private:
    double at(std::int64_t i) const {
        return trapezoid_size::value(trapezoid_size::low + static_cast<double>(i) * width_);
    }
    sennit::actor_ref<summer> to_;
    double width_;
};
struct trapezoid : trapezoid_size {
    using trapezoid_size::trapezoid_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        const auto sum = group.spawn<summer>(whole);
        for (std::int64_t i = 0; i < workers; ++i)
            group.spawn<integrator>(sum, n).tell(part_of{n * i / workers, n * (i + 1) / workers});
        return whole.wait();
    }
};

// ---- savina-queens

struct board {
    std::array<std::int8_t, 16> columns; // the column of the queen of each filled row
    std::int64_t rows;
};
inline bool free_for_next(const board& on, std::int64_t column) {
    for (std::int64_t row = 0; row < on.rows; ++row) {
        const std::int64_t there = on.columns[static_cast<std::size_t>(row)];
        if (there == column || std::abs(there - column) == on.rows - row) return false;
    }
    return true;
}
inline board with_queen(board on, std::int64_t column) {
    on.columns[static_cast<std::size_t>(on.rows++)] = static_cast<std::int8_t>(column);
    return on;
}
inline std::int64_t solutions_of(const board& on, std::int64_t n) {
    if (on.rows == n) return 1;
    std::int64_t count = 0;
    for (std::int64_t column = 0; column < n; ++column)
        if (free_for_next(on, column)) count += solutions_of(with_queen(on, column), n);
    return count;
}

class queens_worker;
struct solved_boards {
    std::int64_t solutions;
};
struct try_board {
    board what;
};
// Gives boards to the workers in turns, and counts the boards that are under way.
class queens_master : public sennit::actor<queens_master, begin_all, try_board, solved_boards> {
public:
    queens_master(finish& whole, std::int64_t n) : whole_(whole), n_(n) {}
    void on(begin_all);
    void on(try_board m);
    void on(solved_boards m) {
        solutions_ += m.solutions;
        if (--under_way_ == 0) whole_.one_more(solutions_);
    }

private:
    finish& whole_;
    std::int64_t n_, solutions_ = 0, under_way_ = 0;
    std::size_t turn_ = 0;
    std::vector<sennit::actor_ref<queens_worker>> workers_;
};
class queens_worker : public sennit::actor<queens_worker, try_board> {
public:
    queens_worker(sennit::actor_ref<queens_master> to, std::int64_t n) : to_(to), n_(n) {}
    void on(try_board m) {
        if (m.what.rows >= queens_size::threshold)
            return to_.tell(solved_boards{solutions_of(m.what, n_)});
        for (std::int64_t column = 0; column < n_; ++column)
            if (free_for_next(m.what, column)) to_.tell(try_board{with_queen(m.what, column)});
        to_.tell(solved_boards{m.what.rows == n_});
    }

private:
    sennit::actor_ref<queens_master> to_;
    std::int64_t n_;
};
inline void queens_master::on(begin_all) {
    for (std::int64_t i = 0; i < queens_size::workers; ++i)
        workers_.push_back(group().spawn<queens_worker>(self(), n_));
    on(try_board{});
}
inline void queens_master::on(try_board m) {
    ++under_way_;
    workers_[turn_++ % workers_.size()].tell(m);
}
struct queens : queens_size {
    using queens_size::queens_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        group.spawn<queens_master>(whole, n).tell(begin_all{});
        return whole.wait();
    }
};

// ---- savina-matmul

struct matrices {
    explicit matrices(std::int64_t side)
        : n(static_cast<std::size_t>(side)), a(n * n), b(n * n), c(n * n) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                a[i * n + j] = static_cast<double>(i);
                b[i * n + j] = static_cast<double>(j);
            }
    }
    std::size_t n;
    std::vector<double> a, b, c; // only one message writes a quadrant of c
};
struct quadrant {
    std::size_t row, column, side;
};
class multiplier;
struct quadrant_done {};
class multiplication : public sennit::actor<multiplication, begin_all, quadrant, quadrant_done> {
public:
    multiplication(finish& whole, matrices& all) : whole_(whole), all_(all) {}
    void on(begin_all);
    void on(quadrant m);
    void on(quadrant_done) {
        if (--under_way_ == 0) whole_.one_more(0);
    }

private:
    finish& whole_;
    matrices& all_;
    std::int64_t under_way_ = 0;
    std::size_t turn_ = 0;
    std::vector<sennit::actor_ref<multiplier>> workers_;
};
class multiplier : public sennit::actor<multiplier, quadrant> {
public:
    multiplier(sennit::actor_ref<multiplication> to, matrices& all) : to_(to), all_(all) {}
    void on(quadrant m) {
        if (m.side > static_cast<std::size_t>(matmul_size::leaf)) {
            const std::size_t half = m.side / 2;
            for (const std::size_t row : {m.row, m.row + half})
                for (const std::size_t column : {m.column, m.column + half})
                    to_.tell(quadrant{row, column, half});
        } else {
            for (std::size_t k = 0; k < all_.n; k += m.side) add_product(m, k);
        }
        to_.tell(quadrant_done{});
    }

private:
    void add_product(const quadrant& m, std::size_t first) {
        for (std::size_t i = m.row; i < m.row + m.side; ++i)
            for (std::size_t k = first; k < first + m.side; ++k) {
                const double left = all_.a[i * all_.n + k];
                const double* right = &all_.b[k * all_.n + m.column];
                double* sum = &all_.c[i * all_.n + m.column];
                for (std::size_t j = 0; j < m.side; ++j) sum[j] += left * right[j];
            }
    }
    sennit::actor_ref<multiplication> to_;
    matrices& all_;
};
inline void multiplication::on(begin_all) {
    for (std::int64_t i = 0; i < matmul_size::workers; ++i)
        workers_.push_back(group().spawn<multiplier>(self(), all_));
    on(quadrant{0, 0, all_.n});
}
inline void multiplication::on(quadrant m) {
    ++under_way_;
    workers_[turn_++ % workers_.size()].tell(m);
}
struct matmul_of_actors : matmul_size {
    using matmul_size::matmul_size;
    std::int64_t run() const {
        finish whole;
        matrices all(n);
        sennit::actor_group group;
        group.spawn<multiplication>(whole, all).tell(begin_all{});
        whole.wait();
        double sum = 0;
        for (const double value : all.c) sum += value;
        return static_cast<std::int64_t>(sum);
    }
};

// ---- savina-paths

using block_of_paths = std::vector<std::int64_t>; // block × block
class path_block;
using path_blocks = std::shared_ptr<const std::vector<sennit::actor_ref<path_block>>>;
struct begin_paths {
    path_blocks all;
};
struct round_of {
    std::int64_t round, number; // the round, and the number of the block
    std::shared_ptr<const block_of_paths> block;
};
// In round k, a block needs the blocks of its row and column in block column and block row
// k / block, in their state after round k - 1.
class path_block : public sennit::actor<path_block, begin_paths, round_of> {
public:
    path_block(finish& whole, std::int64_t number, std::int64_t blocks, block_of_paths own)
        : whole_(whole), blocks_(blocks), row_(number / blocks), column_(number % blocks),
          rounds_(blocks * paths_size::block),
          own_(std::make_shared<block_of_paths>(std::move(own))) {}
    void on(const begin_paths& m) {
        all_ = m.all;
        tell_others();
        go_on();
    }
    void on(round_of&& m) {
        waiting_.push_back(std::move(m));
        if (all_) go_on();
    }

private:
    static constexpr std::int64_t side = paths_size::block;
    static std::size_t at(std::int64_t i, std::int64_t j) {
        return static_cast<std::size_t>(i * side + j);
    }
    std::int64_t pivot() const { return round_ / side; }

    // A block in the row or column of this round's pivot is needed by the other blocks of its
    // column or row.
    void tell_others() {
        const bool in_row = row_ == pivot(), in_column = column_ == pivot();
        for (std::int64_t i = 0; i < blocks_; ++i) {
            if (in_row && i != row_) tell(i * blocks_ + column_);
            if (in_column && i != column_) tell(row_ * blocks_ + i);
        }
    }
    void tell(std::int64_t number) {
        (*all_)[static_cast<std::size_t>(number)].tell(
            round_of{round_, row_ * blocks_ + column_, own_});
    }
    std::shared_ptr<const block_of_paths> of_this_round(std::int64_t number) const {
        if (number == row_ * blocks_ + column_) return own_;
        for (const auto& one : waiting_)
            if (one.round == round_ && one.number == number) return one.block;
        return nullptr;
    }
    void go_on() {
        while (round_ < rounds_) {
            const auto from = of_this_round(row_ * blocks_ + pivot()),
                       to = of_this_round(pivot() * blocks_ + column_);
            if (!from || !to) return;
            relax(*from, *to);
            std::erase_if(waiting_, [this](const round_of& one) { return one.round == round_; });
            if (++round_ < rounds_) tell_others();
        }
        if (std::exchange(done_, true)) return;
        std::int64_t sum = 0;
        for (const std::int64_t length : *own_) sum += length;
        whole_.one_more(sum);
    }
    void relax(const block_of_paths& from, const block_of_paths& to) {
        // Other blocks may still read the former state.
        auto next = std::make_shared<block_of_paths>(*own_);
        const std::int64_t k = round_ % side;
        for (std::int64_t i = 0; i < side; ++i)
            for (std::int64_t j = 0; j < side; ++j)
                (*next)[at(i, j)] = std::min((*next)[at(i, j)], from[at(i, k)] + to[at(k, j)]);
        own_ = std::move(next);
    }
    finish& whole_;
    std::int64_t blocks_, row_, column_, rounds_, round_ = 0;
    bool done_ = false;
    std::shared_ptr<const block_of_paths> own_;
    path_blocks all_;
    std::vector<round_of> waiting_; // messages for this round or later ones
};
struct paths : paths_size {
    using paths_size::paths_size;
    std::int64_t run() const {
        finish whole;
        whole.left = blocks() * blocks();
        const auto edges = graph();
        sennit::actor_group group;
        auto all = std::make_shared<std::vector<sennit::actor_ref<path_block>>>();
        for (std::int64_t number = 0; number < blocks() * blocks(); ++number) {
            block_of_paths own;
            for (std::int64_t i = 0; i < block; ++i) {
                const auto* from = &edges[static_cast<std::size_t>(
                    (number / blocks() * block + i) * n + number % blocks() * block)];
                own.insert(own.end(), from, from + block);
            }
            all->push_back(group.spawn<path_block>(whole, number, blocks(), std::move(own)));
        }
        for (const auto& one : *all) one.tell(begin_paths{all});
        return whole.wait();
    }
};

} // namespace lab::savina
