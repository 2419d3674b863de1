// SPDX-License-Identifier: Apache-2.0
#include "sennit/par/task_graph.hpp"

#include "par/graph_core.hpp"
#include "sennit/detail/base/check.hpp"

namespace sennit::par {

task_graph::task_graph() : core_(std::make_unique<detail::graph_core>()) {}
task_graph::~task_graph() = default;

void* task_graph::allocate(std::size_t bytes, std::size_t alignment) {
    return core_->allocate(bytes, alignment);
}
std::uint32_t task_graph::publish(void* body, const detail::node_kind& kind,
                                  std::span<const std::uint32_t> inputs, tokens* limit) {
    return core_->publish(body, kind, inputs, limit);
}
void task_graph::add_edge(std::uint32_t from, std::uint32_t to) {
    core_->add_edge(from, to);
}
void task_graph::set_name(std::uint32_t index, std::string_view text) {
    core_->set_name(index, text);
}
void task_graph::run() {
    core_->run();
}
void task_graph::run_from(std::span<const std::uint32_t> first) {
    core_->run_from(first);
}
void task_graph::cancel() noexcept {
    core_->cancel();
}
void task_graph::measure(bool on) {
    core_->measure(on);
}
graph_report task_graph::report() const {
    return core_->report();
}
void task_graph::write_dot(std::ostream& out) const {
    core_->write_dot(out);
}
std::size_t task_graph::size() const noexcept {
    return core_->size();
}

void task_graph::check_same_graph(const task_graph* other) const noexcept {
    SENNIT_CHECK(other == this, "[SNT-074] an edge was added between nodes of two task graphs; "
                                "run the other graph inside a node of this one");
}
void task_graph::check_result(bool there, std::uint32_t) const noexcept {
    SENNIT_CHECK(there, "[SNT-075] node::result was called before the node has run successfully; "
                        "call it after run, or in a node that starts after that node");
}

} // namespace sennit::par
