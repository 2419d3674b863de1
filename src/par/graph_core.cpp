// SPDX-License-Identifier: Apache-2.0
// Building and freezing a task graph, and the frame of a run. graph_core.hpp has the protocol.
#include "par/graph_core.hpp"

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/runtime.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace sennit::par::detail {

namespace {
constexpr std::size_t chunk_bytes = std::size_t{64} * 1024;
}

class graph_core::running_mark {
public:
    explicit running_mark(graph_core& whose) noexcept : whose_(whose) {
        SENNIT_CHECK(whose_.running_.exchange(1) == 0,
                     "[SNT-071] a task graph was changed, run or destroyed while it was running; "
                     "wait until its run has ended, or give each caller its own graph");
    }
    ~running_mark() { whose_.running_.store(0); }
    running_mark(const running_mark&) = delete;

private:
    graph_core& whose_;
};

graph_core::~graph_core() {
    check_idle();
    // In reverse order: a body refers to the results of earlier ones.
    for (std::size_t i = nodes_.size(); i != 0; --i)
        nodes_[i - 1].kind->destroy(nodes_[i - 1].body);
    for (limited_node* one : limited_) std::destroy_at(one);
}

void graph_core::check_idle() const noexcept {
    SENNIT_CHECK(running_.load() == 0,
                 "[SNT-071] a task graph was changed, run or destroyed while it was running; wait "
                 "until its run has ended, or give each caller its own graph");
}

void* graph_core::allocate(std::size_t bytes, std::size_t alignment) {
    void* place = free_;
    if (!place || !std::align(alignment, bytes, place, left_)) {
        const std::size_t size = std::max(chunk_bytes, bytes + alignment);
        memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
        place = memory_.back().get();
        left_ = size;
        std::align(alignment, bytes, place, left_);
    }
    free_ = static_cast<std::byte*>(place) + bytes;
    left_ -= bytes;
    return place;
}

std::uint32_t graph_core::publish(void* body, const node_kind& kind,
                                  std::span<const std::uint32_t> inputs, tokens* limit) {
    check_idle();
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    const std::size_t links = links_.size();
    const std::size_t limited = limited_.size();
    try {
        if (index >= none / 2) throw std::bad_alloc();
        limited_node* own = nullptr;
        if (limit) {
            own = ::new (allocate(sizeof(limited_node), alignof(limited_node)))
                limited_node(*limit, body, kind.call, index);
            limited_.push_back(own);
        }
        for (std::uint32_t from : inputs) links_.push_back({from, index});
        nodes_.push_back({body, &kind, own});
    } catch (...) {
        links_.resize(links);
        limited_.resize(limited);
        kind.destroy(body);
        throw;
    }
    frozen_ = false;
    return index;
}

void graph_core::add_edge(std::uint32_t from, std::uint32_t to) {
    check_idle();
    links_.push_back({from, to});
    frozen_ = false;
}

void graph_core::set_name(std::uint32_t index, std::string_view text) {
    check_idle();
    std::string name(text);
    if (names_.size() <= index) names_.resize(index + 1);
    names_[index] = std::move(name);
}

std::string graph_core::name_of(std::uint32_t index) const {
    if (index < names_.size() && !names_[index].empty()) return names_[index];
    return "node " + std::to_string(index);
}

void graph_core::measure(bool on) {
    check_idle();
    measured_ = on;
}

// Makes the arrays that a run reads. Throws before it changes `frozen_`.
void graph_core::freeze() {
    sort_edges();
    find_order();
    complete_ = false;
    dirty_ = true;
    frozen_ = true;
}

void graph_core::sort_edges() {
    const auto count = static_cast<std::uint32_t>(nodes_.size());
    if (links_.size() + count >= none / 2) throw std::bad_alloc();
    auto records = std::make_unique<record[]>(count);
    for (const link& one : links_) {
        ++records[one.from].end_edge;
        ++records[one.to].predecessors;
    }
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        record& one = records[i];
        one.first_edge = next;
        next += std::exchange(one.end_edge, next);
        one.call = nodes_[i].limit ? nullptr : nodes_[i].kind->call;
        one.body = nodes_[i].limit ? nodes_[i].limit : nodes_[i].body;
    }
    std::vector<std::uint32_t> edges(next);
    // The edges of a node keep the order in which they were added.
    for (const link& one : links_) edges[records[one.from].end_edge++] = one.to;
    sources_begin_ = next;
    for (std::uint32_t i = 0; i < count; ++i)
        if (records[i].predecessors == 0) edges.push_back(i);
    sources_end_ = static_cast<std::uint32_t>(edges.size());
    records_ = std::move(records);
    edges_ = std::move(edges);
}

// Finds a topological order, and refuses a cycle.
void graph_core::find_order() {
    std::vector<std::uint32_t> left(nodes_.size());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = records_[i].predecessors;
    order_.assign(edges_.begin() + sources_begin_, edges_.begin() + sources_end_);
    order_.reserve(nodes_.size());
    for (std::size_t at = 0; at < order_.size(); ++at) {
        const record& one = records_[order_[at]];
        for (std::uint32_t edge = one.first_edge; edge != one.end_edge; ++edge)
            if (--left[edges_[edge]] == 0) order_.push_back(edges_[edge]);
    }
    if (order_.size() != nodes_.size()) report_cycle(left);
}

// Each node that is left has a predecessor that is left. So a walk along the predecessors enters a
// cycle.
void graph_core::report_cycle(const std::vector<std::uint32_t>& left) const {
    std::vector<std::uint32_t> before(nodes_.size(), none);
    std::uint32_t at = none;
    for (const link& one : links_) {
        if (left[one.from] == 0 || left[one.to] == 0) continue;
        before[one.to] = one.from;
        at = one.to;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) at = before[at];
    std::vector<std::uint32_t> cycle{at};
    for (std::uint32_t i = before[at]; i != at; i = before[i]) cycle.push_back(i);
    std::string path = name_of(at);
    constexpr std::size_t most_names = 32;
    for (std::size_t i = cycle.size(); i != 0; --i) {
        if (cycle.size() - i == most_names) path += " -> …";
        if (cycle.size() - i >= most_names && i != 1) continue;
        path += " -> " + name_of(cycle[i - 1]);
    }
    throw std::invalid_argument("sennit: [SNT-070] the task graph has a cycle: " + path +
                                "; remove one of its edges, or put the loop into one node");
}

// Writes all counters as freeze and a successful run leave them.
void graph_core::reset_counters() noexcept {
    // Published with the first piece of work.
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        records_[i].pending.store_rlx(records_[i].predecessors);
    dirty_ = false;
}

void graph_core::run() {
    running_mark mark(*this);
    if (!frozen_) freeze();
    if (dirty_) reset_counters();
    if (sources_begin_ != sources_end_) start({sources_begin_, sources_end_});
    complete_ = true;
}

void graph_core::run_from(std::span<const std::uint32_t> first) {
    running_mark mark(*this);
    SENNIT_CHECK(frozen_ && complete_,
                 "[SNT-072] task_graph::run_from was called on a graph whose last run did not "
                 "succeed, or that was changed since; call run first");
    start(reach(first));
    complete_ = true;
}

// Prepares a run of all nodes that follow from `first`: each counter becomes the number of those
// predecessors that run, too. Returns the range of edges to the nodes with which the run begins.
work_item graph_core::reach(std::span<const std::uint32_t> first) {
    reached_.resize(nodes_.size(), search_);
    ++search_;
    std::vector<std::uint32_t> found;
    const auto find = [&](std::uint32_t index) {
        if (std::exchange(reached_[index], search_) != search_) found.push_back(index);
    };
    for (std::uint32_t index : first) find(index);
    dirty_ = true; // if the memory is refused
    const auto for_each_edge = [&](auto visit) {
        for (std::size_t at = 0; at < found.size(); ++at) {
            const record& one = records_[found[at]];
            for (std::uint32_t e = one.first_edge; e != one.end_edge; ++e) visit(edges_[e]);
        }
    };
    for_each_edge(find);
    // Published with the first piece of work.
    for (std::uint32_t index : found) records_[index].pending.store_rlx(0);
    for_each_edge([&](std::uint32_t to) {
        auto& pending = records_[to].pending; // No other thread uses it now.
        pending.store_rlx(pending.load_rlx() + 1);
    });
    edges_.resize(sources_end_);
    for (std::uint32_t index : first) // not shared: no run is in progress
        if (records_[index].pending.load_rlx() == 0) edges_.push_back(index);
    std::sort(edges_.begin() + sources_end_, edges_.end());
    edges_.erase(std::unique(edges_.begin() + sources_end_, edges_.end()), edges_.end());
    // The nodes with which the run begins are not counted down. Not shared yet.
    for (std::size_t e = sources_end_; e < edges_.size(); ++e)
        records_[edges_[e]].pending.store_rlx(records_[edges_[e]].predecessors);
    dirty_ = false;
    return {sources_end_, static_cast<std::uint32_t>(edges_.size())};
}

void graph_core::start(work_item first) {
    complete_ = false;
    dirty_ = true; // until the run has succeeded
    if (measured_) times_.resize(nodes_.size());
    if (sched::on_worker()) return start_here(first);
    default_runtime().run([&] { start_here(first); });
}

void graph_core::start_here(work_item first) {
    graph_run run(*this);
    {
        std::lock_guard guard(cancel_mutex_);
        current_ = &run;
    }
    run.execute(first);
    {
        std::lock_guard guard(cancel_mutex_);
        current_ = nullptr;
    }
    dirty_ = !run.succeeded();
    run.rethrow();
}

void graph_core::cancel() noexcept {
    std::lock_guard guard(cancel_mutex_);
    if (current_) current_->scope.cancel();
}

} // namespace sennit::par::detail
