// SPDX-License-Identifier: Apache-2.0
// Rings of actors, and pairs of actors.
#pragma once

#include "actors/finish.hpp"
#include "actors/sizes.hpp"

#include <sennit/actor.hpp>
#include <sennit/event.hpp>

#include <vector>

namespace lab {

using finish = finish_with<sennit::event>;

struct token {
    std::int64_t hops;
};
class ring_node;
struct next_is {
    sennit::actor_ref<ring_node> next;
};

// excerpt thread-ring
class ring_node : public sennit::actor<ring_node, next_is, token> {
public:
    ring_node(std::int64_t number, finish& whole) : number_(number), whole_(whole) {}
    void on(next_is m) { next_ = m.next; }
    void on(token m) {
        if (m.hops == 0)
            whole_.one_more(number_);
        else
            next_.tell(token{m.hops - 1});
    }

private:
    sennit::actor_ref<ring_node> next_;
    std::int64_t number_;
    finish& whole_;
};
// excerpt end

// Makes a ring in as many parts as there are workers, so most neighbours are on one worker.
template <class Node, class Next, class... Args>
std::vector<sennit::actor_ref<Node>> make_ring(sennit::actor_group& actors, unsigned workers,
                                               std::int64_t count, Args&... args) {
    std::vector<sennit::actor_ref<Node>> nodes;
    for (std::int64_t i = 1; i <= count; ++i) {
        const auto part =
            static_cast<unsigned>((i - 1) * static_cast<std::int64_t>(workers) / count);
        nodes.push_back(actors.spawn<Node>({.initial_worker = part}, i, args...));
    }
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes[i].tell(Next{nodes[(i + 1) % nodes.size()]});
    return nodes;
}

struct thread_ring : thread_ring_size {
    using thread_ring_size::thread_ring_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group actors;
        make_ring<ring_node, next_is>(actors, 1, ring_actors, whole).front().tell(token{n});
        return whole.wait();
    }
};

// The answer of each token is the number of its last actor. The sum over all tokens of a full ring
// is known.
struct parallel_thread_ring : parallel_ring_size {
    unsigned threads;
    parallel_thread_ring(const std::string& size, unsigned workers)
        : parallel_ring_size(size), threads(workers) {}
    std::int64_t run() const {
        finish whole;
        whole.left = ring_actors;
        sennit::actor_group actors;
        for (const auto& node : make_ring<ring_node, next_is>(actors, threads, ring_actors, whole))
            node.tell(token{hops()});
        return whole.wait() == ring_actors * (ring_actors + 1) / 2 ? expected() : -1;
    }
};

class player;
struct ball {
    std::int64_t left;
    sennit::actor_ref<player> from;
};
// excerpt ping-pong
class player : public sennit::actor<player, ball> {
public:
    explicit player(finish& whole) : whole_(whole) {}
    void on(ball m) {
        if (m.left > 0) {
            ++sent_;
            m.from.tell(ball{m.left - 1, self()});
        }
        if (m.left <= 1) whole_.one_more(sent_); // this player sees no further message
    }

private:
    finish& whole_;
    std::int64_t sent_ = 0;
};
// excerpt end
struct ping_pong : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run() const {
        finish whole;
        whole.left = 2;
        sennit::actor_group actors;
        auto a = actors.spawn<player>(whole);
        auto b = actors.spawn<player>(whole);
        b.tell(ball{n, a});
        return whole.wait();
    }
};

} // namespace lab
