// SPDX-License-Identifier: Apache-2.0
// par::tokens: a limit on how many nodes of one kind run at the same time, in any number of graphs.
//
//     sennit::par::tokens connections(4);
//     graph.add(query, sennit::par::uses(connections));   // at most four such nodes run
//
// Use it where a node needs a resource of which there are few: connections, licences, memory. Do
// not use it for a limit inside a node; sennit::counting_semaphore is for that.
//
// Guarantees. A node that uses tokens starts when a token is free, and gives the token back when it
// has ended, also by an exception. A node that waits for a token holds no stack and no worker.
// Waiting nodes get tokens in the order of their arrival. If the run is cancelled, its waiting
// nodes leave the queue. The object must outlive all runs of the graphs that use it. Thread safety:
// any number of graphs may use one object at the same time. Cost: about 8 ns for a node that finds
// a token free. A node that has waited passes through the run queue of a worker.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstddef>

namespace sennit::par {

namespace detail {
struct limited_node;
}

class tokens {
public:
    // `count`: the number of tokens. With zero, a node that uses them waits until its run is
    // cancelled.
    explicit tokens(std::size_t count) noexcept : free_(count) {}
    tokens(const tokens&) = delete;
    tokens& operator=(const tokens&) = delete;

private:
    friend struct detail::limited_node;
    base::spin_lock lock_; // guards the members below
    std::size_t free_;
    base::intrusive_queue<detail::limited_node> waiting_;
};

// The option of task_graph::add that names the tokens.
class uses {
public:
    explicit uses(tokens& which) noexcept : which_(&which) {}

private:
    friend class task_graph;
    tokens* which_;
};

} // namespace sennit::par
