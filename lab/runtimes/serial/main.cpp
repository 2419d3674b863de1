// SPDX-License-Identifier: Apache-2.0
#include "plain.hpp"

#include "main.hpp"

int main(int argc, char** argv) {
    return lab::program<lab::forks<serial>, lab::elsewhere<lab::run_cilk>,
                        lab::elsewhere<lab::run_graph>, lab::elsewhere<lab::run_algorithms>,
                        lab::elsewhere<lab::run_files>>(argc, argv);
}
