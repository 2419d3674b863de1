// SPDX-License-Identifier: Apache-2.0
// Short parallel loops with gaps, in taskflow: phases.hpp.
#include "phases.hpp"

#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/taskflow.hpp>

int main(int argc, char** argv) {
    const sweep::phases given(argc, argv);
    tf::Executor executor(given.threads);
    tf::Taskflow flow;
    flow.for_each_index(std::size_t{0}, given.elements, std::size_t{1},
                        [&](std::size_t i) { given.element(i); });
    given.measure("phases_taskflow", [&] { executor.run(flow).wait(); });
}
