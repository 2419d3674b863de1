// SPDX-License-Identifier: Apache-2.0
// The views of a task graph: figures of a measured run, and the language DOT.
#include "par/graph_core.hpp"

#include "sennit/detail/base/check.hpp"

#include <algorithm>
#include <ostream>

namespace sennit::par::detail {

graph_report graph_core::report() const {
    check_idle();
    SENNIT_CHECK(complete_ && times_.size() == nodes_.size(),
                 "[SNT-073] task_graph::report was called without a measured run that succeeded; "
                 "call measure before run");
    std::vector<std::int64_t> until(nodes_.size(), 0); // the longest path up to the node's start
    std::vector<std::uint32_t> before(nodes_.size(), none);
    std::int64_t work = 0;
    std::int64_t span = 0;
    std::uint32_t last = none;
    for (std::uint32_t index : order_) {
        const std::int64_t end = until[index] + times_[index];
        work += times_[index];
        if (last == none || end > span) {
            span = end;
            last = index;
        }
        for (std::uint32_t e = records_[index].first_edge; e != records_[index].end_edge; ++e) {
            const std::uint32_t to = edges_[e];
            if (before[to] != none && until[to] >= end) continue;
            until[to] = end;
            before[to] = index;
        }
    }
    graph_report result{std::chrono::nanoseconds(work), std::chrono::nanoseconds(span), {}};
    for (; last != none; last = before[last]) result.critical_path.push_back(name_of(last));
    std::ranges::reverse(result.critical_path);
    return result;
}

namespace {
void write_quoted(std::ostream& out, const std::string& text) {
    for (char c : text) {
        if (c == '\n') {
            out << "\\n";
            continue;
        }
        if (c == '"' || c == '\\') out << '\\';
        out << c;
    }
}
} // namespace

void graph_core::write_dot(std::ostream& out) const {
    check_idle();
    out << "digraph task_graph {\n";
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        out << "    n" << i << " [label=\"";
        write_quoted(out, name_of(i));
        if (i < times_.size()) out << "\\n" << times_[i] << " ns";
        out << "\"];\n";
    }
    for (const link& one : links_) out << "    n" << one.from << " -> n" << one.to << ";\n";
    out << "}\n";
}

} // namespace sennit::par::detail
