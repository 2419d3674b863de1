// SPDX-License-Identifier: Apache-2.0
#include "with_openmp.hpp"

#include "main.hpp"

int main(int argc, char** argv) {
    return lab::main_with_all_tables<with_openmp>(argc, argv);
}
