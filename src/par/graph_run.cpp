// SPDX-License-Identifier: Apache-2.0
// The steps of a run, G1 to G4 of graph_core.hpp, and the queue of nodes that wait for tokens.
#include "par/graph_core.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/trace_step.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>

namespace sennit::par::detail {

namespace {

// Ready work for which a visit had no room, as a task.
struct batch : sched::runnable {
    static constexpr std::size_t most = 64;

    batch(graph_run& owner, std::span<const work_item> given) noexcept
        : runnable(&batch::start), run(owner), count(given.size()) {
        std::ranges::copy(given, items);
    }
    static void start(runnable* self) noexcept {
        auto* me = static_cast<batch*>(self);
        const std::size_t count = me->count;
        graph_run& run = me->run;
        work_item items[most];
        std::copy_n(me->items, count, items);
        sched::give_memory(me, sizeof(batch));
        sched::strand_frame strand;
        run.execute_opened({items, count});
    }

    graph_run& run;
    std::size_t count;
    work_item items[most];
};

} // namespace

const joint_run::functions graph_run::of_graphs{&graph_run::step, &graph_run::overflow,
                                                &graph_run::abandon, "task_graph::run"};

graph_run::graph_run(graph_core& whose) noexcept
    : joint_run(of_graphs, sched::current_scope()), graph_(whose), records_(whose.records_.get()),
      edges_(whose.edges_.data()), times_(whose.measured_ ? whose.times_.data() : nullptr),
      traces_(sched::traces_steps()) {}

void graph_run::step(joint_run& run, visit& who, work_item what) noexcept {
    auto& me = static_cast<graph_run&>(run);
    std::uint32_t next;
    if (what.last == holds_token) [[unlikely]] {
        next = me.run_with_token(who, what.first);
    } else {
        while (what.last - what.first > 1) { // G1
            const std::uint32_t middle = what.first + (what.last - what.first) / 2;
            who.offer({middle, what.last});
            what.last = middle;
        }
        next = me.edges_[what.first];
    }
    while (next != none) next = me.run_node(who, next);
}

void graph_run::overflow(joint_run& run, std::span<const work_item> items) noexcept {
    auto& me = static_cast<graph_run&>(run);
    try {
        auto* task = ::new (sched::take_memory(sizeof(batch))) batch(me, items);
        me.open_visit();
        sched::spawn(*task, me.runtime);
    } catch (...) {
        me.record_error(std::numeric_limits<std::uint64_t>::max(), std::current_exception());
        me.scope.cancel();
    }
}

void graph_run::abandon(joint_run& run) noexcept {
    for (limited_node* one : static_cast<graph_run&>(run).graph_.limited_) one->leave_queue();
}

std::uint32_t graph_run::run_node(visit& who, std::uint32_t index) noexcept {
    if (cancelled()) [[unlikely]] {
        cut_short();
        return none;
    }
    record& me = records_[index];
    if (!me.call) [[unlikely]] {
        switch (static_cast<limited_node*>(me.body)->acquire(*this)) {
        case limited_node::acquired::yes:
            return run_with_token(who, index);
        case limited_node::acquired::cancelled:
            cut_short();
            break;
        case limited_node::acquired::queued:
            break;
        }
        return none;
    }
    if (!call(index, me.call, me.body)) return none;
    return find_ready(who, me);
}

std::uint32_t graph_run::run_with_token(visit& who, std::uint32_t index) noexcept {
    auto& me = *static_cast<limited_node*>(records_[index].body);
    bool ended = false;
    if (cancelled())
        cut_short();
    else
        ended = call(index, me.call, me.body);
    me.release();
    return ended ? find_ready(who, records_[index]) : none;
}

bool graph_run::call(std::uint32_t index, node_function function, void* body) noexcept {
    if (traces_) [[unlikely]]
        trace(index);
    const std::int64_t began = times_ ? sched::now_ns() : 0;
    try {
        function(body); // G2
    } catch (...) {
        failed(index);
        return false;
    }
    if (times_) times_[index] = sched::now_ns() - began;
    return true;
}

[[gnu::cold]] void graph_run::trace(std::uint32_t index) const noexcept {
    const auto& names = graph_.names_;
    if (index < names.size() && !names[index].empty()) {
        sched::trace_step(names[index].c_str());
    } else {
        char text[32];
        std::snprintf(text, sizeof text, "node %u", index);
        sched::trace_step(text);
    }
}

// Handles the exception in flight. `cancelled` is no error of its own if the run is cancelled.
[[gnu::cold]] void graph_run::failed(std::uint32_t index) noexcept {
    try {
        throw;
    } catch (const sennit::cancelled&) {
        if (cancelled()) return cut_short();
        record_error(index, std::current_exception());
    } catch (...) {
        record_error(index, std::current_exception());
    }
    scope.cancel();
}

std::uint32_t graph_run::find_ready(visit& who, const record& ended) noexcept {
    // Long ranges are offered in parts, so that thieves begin before the last edge has been seen.
    std::uint32_t longest = 1024;
    std::uint32_t next = none;
    work_item others{0, 0};
    for (std::uint32_t edge = ended.first_edge; edge != ended.end_edge; ++edge) { // G3
        const std::uint32_t index = edges_[edge];
        record& one = records_[index];
        if (one.predecessors != 1) {
            // The load pairs with the decrements of the other predecessors: see the head of
            // graph_core.hpp. The decrement pairs with the last predecessor's load or decrement.
            if (one.pending.load_acq() != 1 && one.pending.fetch_sub_acq_rel(1) != 1) continue;
            // Published by the end of the run.
            one.pending.store_rlx(one.predecessors);
        }
        if (next == none) { // G4
            next = index;
        } else if (others.last == edge && others.last - others.first < longest) {
            ++others.last;
        } else {
            if (others.last != others.first) who.offer(others);
            if (others.last == edge) longest *= 2;
            others = {edge, edge + 1};
        }
    }
    if (others.last != others.first) who.offer(others);
    return next;
}

limited_node::acquired limited_node::acquire(graph_run& for_run) noexcept {
    std::lock_guard guard(limit.lock_);
    // Under the lock: a node that joins the queue behind `abandon` sees the cancellation.
    if (for_run.cancelled()) return acquired::cancelled;
    if (limit.free_ != 0) {
        --limit.free_;
        return acquired::yes;
    }
    run_ = &for_run;
    queued_ = true;
    for_run.open_visit();
    limit.waiting_.push_back(*this);
    return acquired::queued;
}

// Passes the token to the next node in the queue, which may belong to another run.
void limited_node::release() noexcept {
    limited_node* first = nullptr;
    {
        std::lock_guard guard(limit.lock_);
        first = limit.waiting_.pop_front();
        if (first)
            first->queued_ = false;
        else
            ++limit.free_;
    }
    // The queued node holds its run open.
    if (first) sched::spawn(*first, first->run_->runtime);
}

void limited_node::leave_queue() noexcept {
    graph_run* left = nullptr;
    {
        std::lock_guard guard(limit.lock_);
        if (!queued_) return;
        limit.waiting_.remove(*this);
        queued_ = false;
        left = run_;
    }
    left->cut_short();
    left->close_visit();
}

void limited_node::start(runnable* self) noexcept {
    auto& me = *static_cast<limited_node*>(self);
    const work_item item{me.index, graph_run::holds_token};
    sched::strand_frame strand;
    me.run_->execute_opened({&item, 1});
}

} // namespace sennit::par::detail
