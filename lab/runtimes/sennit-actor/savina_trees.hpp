// SPDX-License-Identifier: Apache-2.0
// Savina's trees: actors that create further actors, and report to the actor that created them.
#pragma once

#include "actors/savina_trees.hpp"
#include "rings.hpp"

#include <vector>

namespace lab::savina {

// ---- savina-uct

struct begin_growth {};
struct has_grown {};
struct visit_tree {};
struct sum_of_tree {
    std::int64_t sum;
};
// excerpt savina-uct
class tree_node
    : public sennit::actor<tree_node, begin_growth, has_grown, visit_tree, sum_of_tree> {
public:
    // The root has no actor above it.
    tree_node(finish& whole, uct_size::node at, sennit::actor_ref<tree_node> above)
        : whole_(whole), at_(at), above_(above) {}
    void on(begin_growth) {
        uct_size::for_children(at_, [this](const uct_size::node& child) {
            children_.push_back(group().spawn<tree_node>(whole_, child, self()));
            children_.back().tell(begin_growth{});
        });
        if (children_.empty()) grown();
    }
    void on(has_grown) {
        if (++seen_ == children_.size()) grown();
    }
    void on(visit_tree) {
        seen_ = 0;
        sum_ = uct_size::work(at_);
        for (const auto& child : children_) child.tell(visit_tree{});
        if (children_.empty()) end();
    }
    void on(sum_of_tree m) {
        sum_ += m.sum;
        if (++seen_ == children_.size()) end();
    }

private:
    void grown() {
        if (above_)
            above_.tell(has_grown{});
        else
            on(visit_tree{});
    }
    void end() {
        if (above_)
            above_.tell(sum_of_tree{sum_});
        else
            whole_.one_more(sum_);
        stop();
    }
    finish& whole_;
    uct_size::node at_;
    sennit::actor_ref<tree_node> above_;
    std::vector<sennit::actor_ref<tree_node>> children_;
    std::size_t seen_ = 0;
    std::int64_t sum_ = 0;
};
// excerpt end
struct uct : uct_size {
    using uct_size::uct_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        group.spawn<tree_node>(whole, root(), sennit::actor_ref<tree_node>()).tell(begin_growth{});
        return whole.wait();
    }
};

} // namespace lab::savina
