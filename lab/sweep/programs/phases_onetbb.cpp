// SPDX-License-Identifier: Apache-2.0
// Short parallel loops with gaps, in oneTBB: phases.hpp.
#include "phases.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

int main(int argc, char** argv) {
    const sweep::phases given(argc, argv);
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, given.threads);
    tbb::task_arena arena(static_cast<int>(given.threads));
    given.measure("phases_onetbb", [&] {
        arena.execute([&] {
            tbb::parallel_for(std::size_t{0}, given.elements,
                              [&](std::size_t i) { given.element(i); });
        });
    });
}
