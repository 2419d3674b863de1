// SPDX-License-Identifier: Apache-2.0
// Actors that work for each other with CAF: a bounded buffer, a pool, and rings with a worker
// beside each ring.
#pragma once

#include "actors/sizes.hpp"
#include "with_caf.hpp"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace lab {

// ---- producer-consumer: a producer with a number is an offer, a consumer alone asks for a number,
// and a unit tells a producer that there is room

struct buffer_state {
    std::deque<std::int64_t> items;
    std::deque<caf::actor> waiting;
    std::deque<std::pair<caf::actor, std::int64_t>> refused;
};
using buffer_actor = caf::stateful_actor<buffer_state>;

inline void move_on(buffer_actor* self) {
    auto& [items, waiting, refused] = self->state;
    for (;;) {
        while (!refused.empty() && items.size() < static_cast<std::size_t>(buffer_size)) {
            items.push_back(refused.front().second);
            self->send(refused.front().first, caf::unit);
            refused.pop_front();
        }
        if (waiting.empty() || items.empty()) return;
        self->send(waiting.front(), items.front());
        waiting.pop_front();
        items.pop_front();
    }
}
inline caf::behavior buffering(buffer_actor* self) {
    return {
        [=](const caf::actor& producer, std::int64_t value) {
            self->state.refused.emplace_back(producer, value);
            move_on(self);
        },
        [=](const caf::actor& consumer) {
            self->state.waiting.push_back(consumer);
            move_on(self);
        },
    };
}
struct producer_state {
    std::int64_t left = 0;
};
inline caf::behavior producing(caf::stateful_actor<producer_state>* self, const caf::actor& to,
                               std::int64_t count) {
    self->state.left = count;
    return {[=](caf::unit_t) {
        if (self->state.left-- > 0) self->send(to, caf::actor(self), self->state.left);
    }};
}
inline caf::behavior consuming(caf::event_based_actor* self, const caf::actor& from,
                               caf_finish* whole) {
    return {
        [=](caf::unit_t) { self->send(from, caf::actor(self)); },
        [=](std::int64_t) {
            whole->one_more(1);
            self->send(from, caf::actor(self));
        },
    };
}
struct producer_consumer : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        whole.left = n;
        std::vector<caf::actor> actors{runtime.system.spawn(buffering)};
        const caf::actor buffer = actors.front();
        for (std::int64_t i = 0; i < producers; ++i)
            actors.push_back(runtime.system.spawn(producing, buffer, share_of(n, producers, i)));
        for (std::int64_t i = 0; i < consumers; ++i)
            actors.push_back(runtime.system.spawn(consuming, buffer, &whole));
        for (std::size_t i = 1; i < actors.size(); ++i) caf::anon_send(actors[i], caf::unit);
        whole.wait();
        end(runtime.system, actors);
        return whole.answer;
    }
};

// ---- prime-factors: a number stands for a lent buffer. CAF copies a message that is shared, and a
// buffer must not be copied.

struct lender_state {
    std::vector<std::int64_t> free;
    std::deque<caf::actor> waiting;
};
inline caf::behavior lending(caf::stateful_actor<lender_state>* self) {
    for (std::int64_t i = 0; i < prime_buffers; ++i) self->state.free.push_back(i);
    return {
        [=](const caf::actor& who) {
            auto& [free, waiting] = self->state;
            if (free.empty()) return waiting.push_back(who);
            self->send(who, free.back());
            free.pop_back();
        },
        [=](std::int64_t buffer) {
            auto& [free, waiting] = self->state;
            if (waiting.empty()) return free.push_back(buffer);
            self->send(waiting.front(), buffer);
            waiting.pop_front();
        },
    };
}
struct dispatcher_state {
    std::int64_t left = 0;
};
inline caf::behavior dispatching(caf::stateful_actor<dispatcher_state>* self, std::int64_t queries,
                                 caf_finish* whole) {
    self->state.left = queries;
    const auto ask = [=](const caf::actor& idle) {
        if (self->state.left-- > 0) self->send(idle, caf::unit);
    };
    return {
        ask,
        [=](const caf::actor& who, std::int64_t factor) { // a worker has solved a query
            whole->one_more(factor);
            ask(who);
        },
    };
}
inline caf::behavior solving(caf::event_based_actor* self, const caf::actor& client,
                             const caf::actor& server) {
    return {
        [=](caf::unit_t) { self->send(server, caf::actor(self)); },
        [=](std::int64_t buffer) {
            const std::int64_t factor = smallest_factor_of(composite);
            self->send(server, buffer);
            self->send(client, caf::actor(self), factor);
        },
    };
}
struct prime_factors : prime_factors_size {
    using prime_factors_size::prime_factors_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        whole.left = n;
        const caf::actor server = runtime.system.spawn(lending);
        const caf::actor client = runtime.system.spawn(dispatching, n, &whole);
        std::vector<caf::actor> actors;
        for (std::int64_t i = 0; i < prime_workers; ++i)
            actors.push_back(runtime.system.spawn(solving, client, server));
        for (std::int64_t i = 0; i < queries_under_way; ++i)
            caf::anon_send(client, actors[static_cast<std::size_t>(i % prime_workers)]);
        whole.wait();
        actors.insert(actors.end(), {server, client});
        end(runtime.system, actors);
        return whole.answer;
    }
};

// ---- mixed-scenario

struct mixed_state {
    caf::actor next, worker; // only the first node has a worker
    std::int64_t hops = 0;
};
// `rings` ends with the last token and the last factor. `counts` receives the hops when a unit asks
// for them.
inline caf::behavior mixing(caf::stateful_actor<mixed_state>* self, caf_finish* rings,
                            caf_finish* counts) {
    return {
        [=](const caf::actor& next) { self->state.next = next; },
        [=](const caf::actor& next, const caf::actor& worker) {
            self->state.next = next;
            self->state.worker = worker;
        },
        [=](std::int64_t left) {
            auto& state = self->state;
            if (left == 0) return rings->one_more(0);
            if (state.worker && left % mixed_actors == 0) {
                ++rings->left;
                self->send(state.worker, caf::unit);
            }
            ++state.hops;
            self->send(state.next, left - 1);
        },
        [=](caf::unit_t) { counts->one_more(self->state.hops); },
    };
}
inline caf::behavior factorising(caf::event_based_actor*, caf_finish* rings) {
    return {[=](caf::unit_t) {
        rings->one_more(smallest_factor_of(composite) != smallest_factor);
    }}; // counts the wrong factors
}
struct mixed_scenario : mixed_size {
    using mixed_size::mixed_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish rings, counts;
        rings.left = mixed_rings;
        counts.left = mixed_rings * mixed_actors;
        std::vector<caf::actor> all, workers;
        for (std::int64_t r = 0; r < mixed_rings; ++r) {
            std::vector<caf::actor> nodes;
            for (std::int64_t i = 0; i < mixed_actors; ++i)
                nodes.push_back(runtime.system.spawn(mixing, &rings, &counts));
            workers.push_back(runtime.system.spawn(factorising, &rings));
            caf::anon_send(nodes.front(), nodes[1], workers.back());
            for (std::size_t i = 1; i < nodes.size(); ++i)
                caf::anon_send(nodes[i], nodes[(i + 1) % nodes.size()]);
            caf::anon_send(nodes.front(), hops());
            all.insert(all.end(), nodes.begin(), nodes.end());
        }
        const std::int64_t wrong = rings.wait();
        for (const auto& node : all) caf::anon_send(node, caf::unit);
        counts.wait();
        all.insert(all.end(), workers.begin(), workers.end());
        end(runtime.system, all);
        return wrong == 0 ? counts.answer.load() : -1;
    }
};

} // namespace lab
