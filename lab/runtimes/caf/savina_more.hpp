// SPDX-License-Identifier: Apache-2.0
// Savina's pool, grid, tree and sorting network with CAF. A message is numbers.
#pragma once

#include "actors/savina_bitonic.hpp"
#include "actors/savina_grids.hpp"
#include "actors/savina_pi.hpp"
#include "actors/savina_trees.hpp"
#include "savina_banks.hpp"

namespace lab {

// ---- savina-piprecision: each worker has a place for its term, which it fills again only after
// the master has taken the term

struct pi_shared {
    const savina::piprecision_size& size;
    std::vector<savina::piprecision_size::words> terms;
};
// excerpt savina-piprecision
inline caf::behavior pi_worker(caf::event_based_actor* self, const caf::actor& master,
                               pi_shared* shared, std::int32_t number) {
    return {[=](std::int64_t k) {
        shared->terms[static_cast<std::size_t>(number)] = shared->size.term(k);
        self->send(master, number);
    }};
}
struct pi_state {
    std::vector<caf::actor> workers;
    savina::piprecision_size::words sum;
    std::int64_t next = 0, left = 0;
};
inline caf::behavior pi_master(caf::stateful_actor<pi_state>* self, pi_shared* shared,
                               caf_finish* whole) {
    const auto give_to = [=](std::size_t worker) {
        auto& state = self->state;
        if (state.next < shared->size.terms()) self->send(state.workers[worker], state.next++);
    };
    return {
        [=](caf::unit_t) {
            self->state.sum = shared->size.zero();
            self->state.left = shared->size.terms();
            for (std::size_t i = 0; i < shared->terms.size(); ++i) {
                self->state.workers.push_back(
                    self->spawn(pi_worker, caf::actor(self), shared, static_cast<std::int32_t>(i)));
                give_to(i);
            }
        },
        [=](std::int32_t worker) {
            const auto number = static_cast<std::size_t>(worker);
            savina::piprecision_size::add(self->state.sum, shared->terms[number]);
            give_to(number);
            if (--self->state.left > 0) return;
            for (const auto& one : self->state.workers)
                self->send_exit(one, caf::exit_reason::user_shutdown);
            self->state.workers.clear();
            whole->one_more(shared->size.answer(self->state.sum));
            self->quit();
        },
    };
}
// excerpt end
struct savina_piprecision : savina::piprecision_size {
    using piprecision_size::piprecision_size;
    std::int64_t run_in(with_caf& runtime) const {
        pi_shared shared{*this, std::vector<words>(static_cast<std::size_t>(workers))};
        caf_finish whole;
        caf::anon_send(runtime.system.spawn(pi_master, &shared, &whole), caf::unit);
        whole.wait();
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

// ---- savina-sor

struct cell_state {
    savina::sor_size::around around{};
    std::int64_t round = 0, sum = 0;
    int seen = 0, expected = 0;
    bool begun = false;
    double value = 0;
};
struct cell_place {
    std::int64_t row, column;
};
// excerpt savina-sor
inline caf::behavior sor_cell(caf::stateful_actor<cell_state>* self, const savina::sor_size* size,
                              const std::vector<caf::actor>* all, cell_place at, double first,
                              caf_finish* whole) {
    using savina::sor_size;
    const auto for_neighbours = [=](auto f) { // with the side of the neighbour that faces this cell
        const auto one = [&](std::int32_t side, std::int64_t row, std::int64_t column) {
            if (size->inside(row, column))
                f(side, static_cast<std::size_t>(row * size->n + column));
        };
        one(1, at.row, at.column - 1);
        one(0, at.row, at.column + 1);
        one(3, at.row - 1, at.column);
        one(2, at.row + 1, at.column);
    };
    self->state.value = first;
    for_neighbours([self](std::int32_t, std::size_t) { ++self->state.expected; });
    const auto tell_neighbours = [=] {
        for_neighbours([=](std::int32_t side, std::size_t other) {
            self->send((*all)[other], side, self->state.value);
        });
    };
    const auto update = [=] {
        auto& state = self->state;
        state.seen = 0;
        state.value = sor_size::next(state.value, state.around);
        state.sum += sor_size::rounded(state.value);
        const bool last = ++state.round == sor_size::rounds;
        if (!last || !sor_size::red(at.row, at.column)) tell_neighbours();
        if (last) whole->one_more(state.sum);
    };
    return {
        [=](caf::unit_t) {
            self->state.begun = true;
            if (sor_size::red(at.row, at.column)) return tell_neighbours();
            if (self->state.seen == self->state.expected) update();
        },
        [=](std::int32_t side, double value) {
            self->state.around[static_cast<std::size_t>(side)] = value;
            if (++self->state.seen == self->state.expected && self->state.begun) update();
        },
    };
}
// excerpt end
struct savina_sor : savina::sor_size {
    using sor_size::sor_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        whole.left = n * n;
        const auto values = numbers();
        std::vector<caf::actor> all;
        all.reserve(values.size());
        for (std::int64_t i = 0; i < n * n; ++i)
            all.push_back(runtime.system.spawn(sor_cell, this, &all, cell_place{i / n, i % n},
                                               values[static_cast<std::size_t>(i)], &whole));
        for (const auto& one : all) caf::anon_send(one, caf::unit);
        whole.wait();
        end(runtime.system, all);
        return whole.answer;
    }
};

// ---- savina-uct

struct uct_state {
    std::vector<caf::actor> children;
    std::size_t seen = 0;
    std::int64_t sum = 0;
};
// excerpt savina-uct
// The root has no actor above it.
inline caf::behavior uct_node(caf::stateful_actor<uct_state>* self, savina::uct_size::node at,
                              const caf::actor& above, caf_finish* whole) {
    const auto end = [=] {
        if (above)
            self->send(above, self->state.sum);
        else
            whole->one_more(self->state.sum);
        self->state.children.clear();
        self->quit();
    };
    const auto visit = [=] {
        self->state.seen = 0;
        self->state.sum = savina::uct_size::work(at);
        for (const auto& child : self->state.children) self->send(child, true);
        if (self->state.children.empty()) end();
    };
    const auto grown = [=] {
        if (above)
            self->send(above, caf::unit);
        else
            visit();
    };
    return {
        [=](std::int32_t) { // grow
            savina::uct_size::for_children(at, [&](const savina::uct_size::node& child) {
                auto& children = self->state.children;
                children.push_back(self->spawn(uct_node, child, caf::actor(self), whole));
                self->send(children.back(), std::int32_t{0});
            });
            if (self->state.children.empty()) grown();
        },
        [=](caf::unit_t) { // a child has grown
            if (++self->state.seen == self->state.children.size()) grown();
        },
        [=](bool) { visit(); },
        [=](std::int64_t sum) { // of a child
            self->state.sum += sum;
            if (++self->state.seen == self->state.children.size()) end();
        },
    };
}
// excerpt end
struct savina_uct : savina::uct_size {
    using uct_size::uct_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        caf::anon_send(runtime.system.spawn(uct_node, root(), caf::actor(), &whole),
                       std::int32_t{0});
        whole.wait();
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

// ---- savina-bitonicsort: the stages are those of the bank

struct sorted_state {
    std::int64_t left = 0, last = 0, sum = 0;
    bool in_order = true;
};
inline caf::behavior bitonic_end(caf::stateful_actor<sorted_state>* self, std::int64_t count,
                                 caf_finish* whole) {
    self->state.left = count;
    return {[=](std::int64_t value) {
        auto& state = self->state;
        state.in_order = state.in_order && state.last <= value;
        state.last = value;
        state.sum += value;
        if (--state.left == 0) whole->one_more(state.in_order ? state.sum : -1);
    }};
}
struct savina_bitonicsort : savina::bitonicsort_size {
    using bitonicsort_size::bitonicsort_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        std::vector<caf::actor> all{runtime.system.spawn(bitonic_end, n, &whole)};
        auto own = stages();
        for (; !own.empty(); own.pop_back())
            all.push_back(runtime.system.spawn(bank_stage<stage>, all.back(),
                                               std::make_shared<stage>(std::move(own.back()))));
        savina::random numbers(seed);
        for (std::int64_t i = 0; i < n; ++i) caf::anon_send(all.back(), numbers.next());
        whole.wait();
        end(runtime.system, all);
        return whole.answer;
    }
};

} // namespace lab
