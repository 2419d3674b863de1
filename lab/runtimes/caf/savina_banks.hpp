// SPDX-License-Identifier: Apache-2.0
// Savina's bank of filters, its guided search, and its facilities with CAF. A message is numbers.
#pragma once

#include "actors/savina_filters.hpp"
#include "actors/savina_quadrants.hpp"
#include "actors/savina_search.hpp"
#include "with_caf.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace lab {

// ---- savina-filterbank

// excerpt savina-filterbank
template <class Stage>
caf::behavior bank_stage(caf::event_based_actor* self, const caf::actor& next,
                         const std::shared_ptr<Stage>& own) {
    return {[=](std::int64_t value) {
        own->take(value, [&](std::int64_t passed) { self->send(next, passed); });
    }};
}
inline caf::behavior bank_integrator(caf::event_based_actor* self, const caf::actor& sink) {
    const auto own = std::make_shared<savina::filterbank_size::integrator>();
    return {[=](std::int64_t channel, std::int64_t value) {
        own->take(channel, value, [&](std::int64_t sum) { self->send(sink, sum); });
    }};
}
// excerpt end
inline caf::behavior channel_end(caf::event_based_actor* self, const caf::actor& sums,
                                 std::int64_t channel) {
    return {[=](std::int64_t value) { self->send(sums, channel, value); }};
}
struct sink_state {
    std::int64_t seen = 0, sum = 0;
};
inline caf::behavior bank_sink(caf::stateful_actor<sink_state>* self, std::int64_t count,
                               caf_finish* whole) {
    return {[=](std::int64_t value) {
        self->state.sum += value * savina::filterbank_size::weight(self->state.seen);
        if (++self->state.seen == count) whole->one_more(self->state.sum);
    }};
}
struct savina_filterbank : savina::filterbank_size {
    using filterbank_size::filterbank_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        caf::actor_system& system = runtime.system;
        std::vector<caf::actor> all{system.spawn(bank_sink, outputs(), &whole)};
        all.push_back(system.spawn(bank_integrator, all[0]));
        const caf::actor sums = all.back();
        std::vector<caf::actor> banks;
        const auto before = [&](auto stage) {
            using kind = decltype(stage);
            all.push_back(system.spawn(bank_stage<kind>, all.back(),
                                       std::make_shared<kind>(std::move(stage))));
        };
        for (std::int64_t channel = 0; channel < channels; ++channel) {
            all.push_back(system.spawn(channel_end, sums, channel));
            before(filter(channel, true));
            before(delay());
            before(sampler());
            before(filter(channel, false));
            before(delay());
            banks.push_back(all.back());
        }
        for (std::int64_t k = 0; k < n; ++k)
            for (const auto& bank : banks) caf::anon_send(bank, input(k));
        whole.wait();
        end(system, all);
        return whole.answer;
    }
};

// ---- savina-astar

// excerpt savina-astar
inline caf::behavior searcher(caf::event_based_actor* self, const caf::actor& master,
                              savina::astar_size::state* grid) {
    return {[=](std::int32_t from) {
        for (const std::int32_t node : grid->visit(from)) self->send(master, node);
        self->send(master, caf::unit);
    }};
}
struct master_state {
    std::vector<caf::actor> workers;
    std::int64_t given = 0, done = 0;
};
inline caf::behavior search_master(caf::stateful_actor<master_state>* self,
                                   savina::astar_size::state* grid, caf_finish* whole) {
    for (std::int64_t i = 0; i < savina::astar_size::workers; ++i)
        self->state.workers.push_back(self->spawn(searcher, caf::actor(self), grid));
    return {
        [=](std::int32_t node) {
            auto& state = self->state;
            const auto worker = static_cast<std::size_t>(state.given++) % state.workers.size();
            self->send(state.workers[worker], node);
        },
        [=](caf::unit_t) {
            if (++self->state.done < self->state.given) return;
            for (const auto& worker : self->state.workers)
                self->send_exit(worker, caf::exit_reason::user_shutdown);
            self->state.workers.clear();
            whole->one_more(grid->reached());
            self->quit();
        },
    };
}
// excerpt end
struct savina_astar : savina::astar_size {
    using astar_size::astar_size;
    std::int64_t run_in(with_caf& runtime) const {
        state grid(*this);
        caf_finish whole;
        caf::anon_send(runtime.system.spawn(search_master, &grid, &whole), std::int32_t{0});
        whole.wait();
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

// ---- savina-facloc

// excerpt savina-facloc
struct quadrant_state {
    std::vector<caf::actor> parts;
    std::int64_t customers = 0;
    std::size_t counted = 0;
};
inline constexpr std::int32_t no_part = 4;
// The root has no actor above it.
inline caf::behavior quadrant(caf::stateful_actor<quadrant_state>* self,
                              const std::shared_ptr<savina::facloc_size::quadrant>& own,
                              const caf::actor& above, std::int32_t part, caf_finish* whole) {
    const auto tell_above = [=](double x, double y) {
        if (above) self->send(above, x, y, part);
    };
    const auto split = [=] {
        const auto centre = own->centre();
        tell_above(centre.x, centre.y);
        std::int32_t number = 0;
        for (auto& one : own->split())
            self->state.parts.push_back(self->spawn(
                quadrant, std::make_shared<savina::facloc_size::quadrant>(std::move(one)),
                caf::actor(self), number++, whole));
    };
    const auto end = [=](std::int64_t customers) {
        if (above)
            self->send(above, customers);
        else
            whole->one_more(customers);
    };
    return {
        [=](double x, double y) { // a customer
            auto& parts = self->state.parts;
            if (!parts.empty())
                self->send(parts[own->part_of({x, y})], x, y);
            else if (own->add({x, y}))
                split();
        },
        [=](double x, double y, std::int32_t from) { // a facility has been opened
            own->facilities.push_back({x, y});
            auto& parts = self->state.parts;
            if (from == no_part) {
                for (const auto& one : parts) self->send(one, x, y, no_part);
                return;
            }
            self->send(parts[static_cast<std::size_t>(3 - from)], x, y, no_part);
            tell_above(x, y);
        },
        [=](caf::unit_t) { // count
            for (const auto& one : self->state.parts) self->send(one, caf::unit);
            if (self->state.parts.empty()) end(static_cast<std::int64_t>(own->customers.size()));
        },
        [=](std::int64_t customers) { // of a part
            self->state.customers += customers;
            if (++self->state.counted == self->state.parts.size()) end(self->state.customers);
        },
        [=](caf::ok_atom) { // the end of the program: parts refer to this actor
            for (const auto& one : self->state.parts) self->send(one, caf::ok_atom_v);
            self->state.parts.clear();
            self->quit();
        },
    };
}
// excerpt end
struct savina_facloc : savina::facloc_size {
    using facloc_size::facloc_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        const auto root =
            runtime.system.spawn(lab::quadrant, std::make_shared<savina::facloc_size::quadrant>(),
                                 caf::actor(), no_part, &whole);
        savina::random numbers(seed);
        for (std::int64_t i = 0; i < n; ++i) {
            const point at = customer(numbers);
            caf::anon_send(root, at.x, at.y);
        }
        caf::anon_send(root, caf::unit);
        whole.wait();
        caf::anon_send(root, caf::ok_atom_v);
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

} // namespace lab
