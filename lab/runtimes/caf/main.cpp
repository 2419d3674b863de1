// SPDX-License-Identifier: Apache-2.0
// CAF, the C++ Actor Framework: event-based actors with behaviours that are lambdas, and messages
// of plain numbers. Its mailboxes have no bound. A sender of many messages therefore sends 64, and
// then sends itself a message to continue, as Sennit's sender does.
#include "actors/sizes.hpp"
#include "savina.hpp"
#include "savina_banks.hpp"
#include "savina_more.hpp"
#include "servants.hpp"
#include "with_caf.hpp"

#include <vector>

namespace {

using lab::actor_workload, lab::caf_finish, lab::end, lab::with_caf;

// ---- rings

struct ring_state {
    caf::actor next;
};
using ring_node = caf::stateful_actor<ring_state>;

// excerpt thread-ring
caf::behavior passing_on(ring_node* self, std::int64_t number, caf_finish* whole) {
    return {
        [=](const caf::actor& next) { self->state.next = next; },
        [=](std::int64_t hops) {
            if (hops == 0)
                whole->one_more(number);
            else
                self->send(self->state.next, hops - 1);
        },
        [=](std::int64_t hops, std::uint64_t seed) {
            if (hops == 0)
                whole->one_more(seed != 0);
            else
                self->send(self->state.next, hops - 1, lab::some_work(seed) | 1);
        },
    };
}
// excerpt end

std::vector<caf::actor> make_ring(caf::actor_system& system, caf_finish& whole) {
    std::vector<caf::actor> nodes;
    for (std::int64_t i = 1; i <= lab::ring_actors; ++i)
        nodes.push_back(system.spawn(passing_on, i, &whole));
    for (std::size_t i = 0; i < nodes.size(); ++i)
        caf::anon_send(nodes[i], nodes[(i + 1) % nodes.size()]);
    return nodes;
}

struct thread_ring : lab::thread_ring_size {
    using thread_ring_size::thread_ring_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        const auto nodes = make_ring(runtime.system, whole);
        caf::anon_send(nodes.front(), n);
        whole.wait();
        end(runtime.system, nodes);
        return whole.answer;
    }
};

struct parallel_thread_ring : lab::parallel_ring_size {
    using parallel_ring_size::parallel_ring_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        whole.left = lab::ring_actors;
        const auto nodes = make_ring(runtime.system, whole);
        for (const auto& node : nodes) caf::anon_send(node, hops());
        whole.wait();
        end(runtime.system, nodes);
        return whole.answer == lab::ring_actors * (lab::ring_actors + 1) / 2 ? expected() : -1;
    }
};

struct ring_work : lab::ring_work_size {
    using ring_work_size::ring_work_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        whole.left = lab::work_tokens;
        const auto nodes = make_ring(runtime.system, whole);
        const auto tokens = static_cast<std::size_t>(lab::work_tokens);
        for (std::size_t i = 0; i < tokens; ++i)
            caf::anon_send(nodes[i * nodes.size() / tokens], hops(),
                           static_cast<std::uint64_t>(i + 1));
        whole.wait();
        end(runtime.system, nodes);
        return whole.answer == lab::work_tokens ? expected() : -1;
    }
};

// ---- ping-pong

struct player_state {
    std::int64_t sent = 0;
};
// excerpt ping-pong
caf::behavior playing(caf::stateful_actor<player_state>* self, caf_finish* whole) {
    return {
        [=](std::int64_t left, const caf::actor& from) {
            if (left > 0) {
                ++self->state.sent;
                self->send(from, left - 1, caf::actor(self));
            }
            if (left > 1) return;
            whole->one_more(self->state.sent);
            self->quit();
        },
    };
}
// excerpt end
struct ping_pong : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        whole.left = 2;
        const auto a = runtime.system.spawn(playing, &whole);
        const auto b = runtime.system.spawn(playing, &whole);
        caf::anon_send(b, n, a);
        whole.wait();
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

// ---- streams

struct source_state {
    std::int64_t next = 0;
};
// excerpt counting-actor

// Sends the numbers from 0 to below `end`. If `last` is true, it then sends the message that asks
// for the result.
caf::behavior sending(caf::stateful_actor<source_state>* self, const caf::actor& to,
                      std::int64_t end, bool last) {
    return {
        [=](caf::unit_t) {
            auto& next = self->state.next;
            for (int i = 0; i < 64 && next < end; ++i) self->send(to, next++);
            if (next < end) return self->send(self, caf::unit);
            if (last) self->send(to, caf::unit);
            self->quit();
        },
    };
}
// excerpt end

struct gatherer_state {
    std::int64_t seen = 0, sum = 0;
};
// Ends after `expected` numbers. If `expected` is 0, it ends when it is asked for the sum.
caf::behavior gathering(caf::stateful_actor<gatherer_state>* self, std::int64_t expected,
                        caf_finish* whole) {
    return {
        [=](std::int64_t number) {
            self->state.sum += number;
            if (++self->state.seen != expected) return;
            whole->one_more(expected);
            self->quit();
        },
        [=](caf::unit_t) {
            whole->one_more(self->state.sum);
            self->quit();
        },
    };
}

struct fan_in : lab::fan_in_size {
    using fan_in_size::fan_in_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        const auto all = runtime.system.spawn(gathering, expected(), &whole);
        for (std::int64_t i = 0; i < lab::fan_senders; ++i)
            caf::anon_send(runtime.system.spawn(sending, all, each(), false), caf::unit);
        whole.wait();
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

struct counting_actor : lab::counting_size {
    using counting_size::counting_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        const auto sum = runtime.system.spawn(gathering, std::int64_t{0}, &whole);
        caf::anon_send(runtime.system.spawn(sending, sum, n, true), caf::unit);
        whole.wait();
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

// ---- births

// excerpt spawn-storm
caf::behavior living(caf::event_based_actor* self, std::int64_t last, caf_finish* whole) {
    return {
        [=](std::int64_t number) {
            if (number == last)
                whole->one_more(number);
            else
                self->send(self->spawn(living, last, whole), number + 1);
            self->quit();
        },
    };
}
// excerpt end
struct spawn_storm : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        caf::anon_send(runtime.system.spawn(living, n, &whole), std::int64_t{1});
        whole.wait();
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

struct tree_state {
    std::int64_t sum = 0, seen = 0;
};
caf::behavior growing(caf::stateful_actor<tree_state>* self, const caf::actor& above) {
    return {
        [=](std::int64_t first, std::int64_t leaves) {
            if (leaves == 1) {
                self->send(above, first);
                return self->quit();
            }
            const std::int64_t part = leaves / 10;
            for (std::int64_t i = 0; i < 10; ++i)
                self->send(self->spawn(growing, caf::actor(self)), first + i * part, part);
        },
        [=](std::int64_t sum) {
            self->state.sum += sum;
            if (++self->state.seen < 10) return;
            self->send(above, self->state.sum);
            self->quit();
        },
    };
}
struct skynet_actor : lab::skynet_actor_size {
    using skynet_actor_size::skynet_actor_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        const auto root = runtime.system.spawn(
            [](caf::event_based_actor* self, caf_finish* told) -> caf::behavior {
                return {[=](std::int64_t sum) {
                    told->one_more(sum);
                    self->quit();
                }};
            },
            &whole);
        caf::anon_send(runtime.system.spawn(growing, root), std::int64_t{0}, n);
        whole.wait();
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

struct actors {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        using lab::measure;
        if (name == "thread-ring") return measure<with_caf>(thread_ring(size), threads);
        if (name == "parallel-thread-ring")
            return measure<with_caf>(parallel_thread_ring(size), threads);
        if (name == "ping-pong") return measure<with_caf>(ping_pong(size), threads);
        if (name == "counting-actor") return measure<with_caf>(counting_actor(size), threads);
        if (name == "producer-consumer")
            return measure<with_caf>(lab::producer_consumer(size), threads);
        if (name == "prime-factors") return measure<with_caf>(lab::prime_factors(size), threads);
        if (name == "mixed-scenario") return measure<with_caf>(lab::mixed_scenario(size), threads);
        if (name == "skynet-actor") return measure<with_caf>(skynet_actor(size), threads);
        if (name == "fan-in") return measure<with_caf>(fan_in(size), threads);
        if (name == "spawn-storm") return measure<with_caf>(spawn_storm(size), threads);
        if (name == "ring-work") return measure<with_caf>(ring_work(size), threads);
        if (name == "savina-fib") return measure<with_caf>(lab::savina_fib(size), threads);
        if (name == "savina-chameneos")
            return measure<with_caf>(lab::savina_chameneos(size), threads);
        if (name == "savina-piprecision")
            return measure<with_caf>(lab::savina_piprecision(size), threads);
        if (name == "savina-sor") return measure<with_caf>(lab::savina_sor(size), threads);
        if (name == "savina-uct") return measure<with_caf>(lab::savina_uct(size), threads);
        if (name == "savina-bitonicsort")
            return measure<with_caf>(lab::savina_bitonicsort(size), threads);
        if (name == "savina-filterbank")
            return measure<with_caf>(lab::savina_filterbank(size), threads);
        if (name == "savina-astar") return measure<with_caf>(lab::savina_astar(size), threads);
        if (name == "savina-facloc") return measure<with_caf>(lab::savina_facloc(size), threads);
        return std::nullopt;
    }
};

} // namespace

int main(int argc, char** argv) {
    return lab::program<actors>(argc, argv);
}
