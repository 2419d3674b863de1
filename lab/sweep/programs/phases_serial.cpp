// SPDX-License-Identifier: Apache-2.0
// Short loops with gaps, without any runtime: phases.hpp. One thread does the work of all.
#include "phases.hpp"

int main(int argc, char** argv) {
    const sweep::phases given(argc, argv);
    given.measure("phases_serial", [&] {
        for (std::size_t i = 0; i < given.elements; ++i) given.element(i);
    });
}
