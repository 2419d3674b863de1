// SPDX-License-Identifier: Apache-2.0
#include "with_openmp.hpp"

#include "main.hpp"

int main(int argc, char** argv) {
    return lab::main_with_cilk_and_algorithms<with_openmp>(argc, argv);
}
