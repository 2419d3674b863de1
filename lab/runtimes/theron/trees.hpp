// SPDX-License-Identifier: Apache-2.0
// Trees of actors with Theron. The maker of an actor deletes the actor when it has the actor's
// answer. The members of a class are destroyed before Theron waits for its handler, so a handler
// answers as its last action.
#pragma once

#include "actors/savina.hpp"
#include "with_theron.hpp"

#include <utility>

namespace lab {
namespace theron {

// Adds up the numbers of its children and sends the sum to its parent. A node without a parent
// reports the sum to the program.
class tree_node : public Theron::Actor {
public:
    tree_node(Theron::Framework& framework, const Theron::Address& above, theron_finish* whole)
        : Actor(framework), above_(above), whole_(whole) {}

protected:
    template <class Child, class Message>
    void start(const Message& message) {
        children_.push_back(std::make_unique<Child>(GetFramework(), GetAddress(), nullptr));
        Send(message, children_.back()->GetAddress());
    }
    void answer(std::int64_t value) {
        if (whole_)
            whole_->one_more(value);
        else
            TailSend(sum{value}, above_);
    }
    void add(const sum& part, const Theron::Address) {
        sum_ += part.value;
        if (++seen_ < children_.size()) return;
        children_.clear();
        answer(sum_);
    }
    void expect_children(std::size_t count) {
        children_.reserve(count); // one handler starts all children
        RegisterHandler(this, &tree_node::add);
    }

private:
    const Theron::Address above_;
    theron_finish* const whole_;
    theron_actors children_;
    std::size_t seen_ = 0;
    std::int64_t sum_ = 0;
};

class sky_node : public tree_node {
public:
    sky_node(Theron::Framework& framework, const Theron::Address& above, theron_finish* whole)
        : tree_node(framework, above, whole) {
        RegisterHandler(this, &sky_node::grow);
    }

private:
    void grow(const part& own, const Theron::Address) {
        if (own.leaves == 1) return answer(own.first);
        const std::int64_t each = own.leaves / 10;
        expect_children(10);
        for (std::int64_t i = 0; i < 10; ++i) start<sky_node>(part{own.first + i * each, each});
    }
};

class fib_node : public tree_node {
public:
    fib_node(Theron::Framework& framework, const Theron::Address& above, theron_finish* whole)
        : tree_node(framework, above, whole) {
        RegisterHandler(this, &fib_node::call);
    }

private:
    void call(const fib_of& own, const Theron::Address) {
        if (own.n <= 2) return answer(1);
        expect_children(2);
        start<fib_node>(fib_of{own.n - 1});
        start<fib_node>(fib_of{own.n - 2});
    }
};

template <class Node, class Message>
std::int64_t sum_of_tree(with_theron& runtime, std::int64_t actors, const Message& message) {
    with_theron::check_actors(actors);
    theron_finish whole;
    theron_actors root;
    root.push_back(std::make_unique<Node>(runtime.framework, Theron::Address::Null(), &whole));
    runtime.send(message, *root.front());
    whole.wait();
    end(root);
    return whole.answer;
}

} // namespace theron

struct theron_skynet_actor : skynet_actor_size {
    using skynet_actor_size::skynet_actor_size;
    std::int64_t run_in(with_theron& runtime) const {
        return theron::sum_of_tree<theron::sky_node>(runtime, tasks(), theron::part{0, n});
    }
};

struct theron_savina_fib : savina::fib_size {
    using fib_size::fib_size;
    std::int64_t run_in(with_theron& runtime) const {
        return theron::sum_of_tree<theron::fib_node>(runtime, tasks(), theron::fib_of{n});
    }
};

} // namespace lab
