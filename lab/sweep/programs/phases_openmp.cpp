// SPDX-License-Identifier: Apache-2.0
// Short parallel loops with gaps, in OpenMP: phases.hpp. The schedule is dynamic, 10 us a chunk.
#include "phases.hpp"

#include <omp.h>

int main(int argc, char** argv) {
    const sweep::phases given(argc, argv);
    constexpr long chunk = 10'000 / static_cast<long>(sweep::element_ns);
    omp_set_num_threads(static_cast<int>(given.threads));
    given.measure("phases_openmp", [&] {
        const auto n = static_cast<long>(given.elements);
#pragma omp parallel for schedule(dynamic, chunk)
        for (long i = 0; i < n; ++i) given.element(static_cast<std::size_t>(i));
    });
}
