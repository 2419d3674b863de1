// SPDX-License-Identifier: Apache-2.0
// Rings, ping-pong and spawn-storm with Theron: chains of messages, each of which is the last
// action of a handler. Theron has TailSend for this case: the thread that sent the message handles
// it next.
#pragma once

#include "with_theron.hpp"

namespace lab {
namespace theron {

// A node learns its neighbour from the first message, and has the handler for that message only
// until then, because Theron tries all handlers at each message. With `in_parallel`, any free
// thread may take a token.
template <class Token, bool in_parallel>
class ring_node : public Theron::Actor {
public:
    ring_node(Theron::Framework& framework, std::int64_t number, theron_finish* whole)
        : Actor(framework), number_(number), whole_(whole) {
        RegisterHandler(this, &ring_node::connect);
    }

private:
    void connect(const neighbour& told, const Theron::Address) {
        next_ = told.next;
        DeregisterHandler(this, &ring_node::connect);
        RegisterHandler(this, &ring_node::take);
    }
    void take(const Token& one, const Theron::Address) {
        if (one.hops == 0)
            whole_->one_more(one.answer(number_));
        else if constexpr (in_parallel)
            Send(one.passed_on(), next_);
        else
            TailSend(one.passed_on(), next_);
    }

    Theron::Address next_;
    const std::int64_t number_;
    theron_finish* const whole_;
};

template <class Node>
theron_actors make_ring(with_theron& runtime, theron_finish& whole) {
    theron_actors nodes;
    for (std::int64_t i = 1; i <= ring_actors; ++i)
        nodes.push_back(std::make_unique<Node>(runtime.framework, i, &whole));
    for (std::size_t i = 0; i < nodes.size(); ++i)
        runtime.send(neighbour{nodes[(i + 1) % nodes.size()]->GetAddress()}, *nodes[i]);
    return nodes;
}

class player : public Theron::Actor {
public:
    player(Theron::Framework& framework, theron_finish* whole) : Actor(framework), whole_(whole) {
        RegisterHandler(this, &player::hit);
    }

private:
    void hit(const token& ball, const Theron::Address from) {
        if (ball.hops > 0) {
            ++sent_;
            TailSend(ball.passed_on(), from);
        }
        if (ball.hops <= 1) whole_->one_more(sent_);
    }

    std::int64_t sent_ = 0;
    theron_finish* const whole_;
};

// No actor of Theron can delete itself. Each actor therefore deletes the actor that made it, and
// the program deletes the last one.
struct storm {
    theron_finish whole;
    std::int64_t births = 0;
    std::unique_ptr<life> last;
};
struct life : Theron::Actor {
    life(Theron::Framework& framework, storm* all) : Actor(framework), all_(all) {
        RegisterHandler(this, &life::live);
    }

private:
    void live(const birth& own, const Theron::Address) {
        delete own.parent;
        if (own.number == all_->births) {
            all_->last.reset(this);
            return all_->whole.one_more(own.number);
        }
        const auto* child = new life(GetFramework(), all_);
        TailSend(birth{this, own.number + 1}, child->GetAddress());
    }

    storm* const all_;
};

} // namespace theron

struct theron_thread_ring : thread_ring_size {
    using thread_ring_size::thread_ring_size;
    std::int64_t run_in(with_theron& runtime) const {
        theron_finish whole;
        auto nodes = theron::make_ring<theron::ring_node<theron::token, false>>(runtime, whole);
        runtime.send(theron::token{n}, *nodes.front());
        whole.wait();
        end(nodes);
        return whole.answer;
    }
};

struct theron_parallel_thread_ring : parallel_ring_size {
    using parallel_ring_size::parallel_ring_size;
    std::int64_t run_in(with_theron& runtime) const {
        theron_finish whole;
        whole.left = ring_actors;
        auto nodes = theron::make_ring<theron::ring_node<theron::token, false>>(runtime, whole);
        for (const auto& node : nodes) runtime.send(theron::token{hops()}, *node);
        whole.wait();
        end(nodes);
        return whole.answer == ring_actors * (ring_actors + 1) / 2 ? expected() : -1;
    }
};

struct theron_ring_work : ring_work_size {
    using ring_work_size::ring_work_size;
    std::int64_t run_in(with_theron& runtime) const {
        theron_finish whole;
        whole.left = work_tokens;
        auto nodes =
            theron::make_ring<theron::ring_node<theron::working_token, true>>(runtime, whole);
        const auto tokens = static_cast<std::size_t>(work_tokens);
        for (std::size_t i = 0; i < tokens; ++i)
            runtime.send(theron::working_token{hops(), i + 1}, *nodes[i * nodes.size() / tokens]);
        whole.wait();
        end(nodes);
        return whole.answer == work_tokens ? expected() : -1;
    }
};

struct theron_ping_pong : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run_in(with_theron& runtime) const {
        theron_finish whole;
        whole.left = 2;
        theron_actors two;
        for (int i = 0; i < 2; ++i)
            two.push_back(std::make_unique<theron::player>(runtime.framework, &whole));
        runtime.framework.Send(theron::token{n}, two[0]->GetAddress(), two[1]->GetAddress());
        whole.wait();
        end(two);
        return whole.answer;
    }
};

struct theron_spawn_storm : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run_in(with_theron& runtime) const {
        theron::storm all;
        all.births = n;
        runtime.send(theron::birth{nullptr, 1}, *new theron::life(runtime.framework, &all));
        all.whole.wait();
        return all.whole.answer;
    }
};

} // namespace lab
