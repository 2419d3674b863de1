// SPDX-License-Identifier: Apache-2.0
#include "plain.hpp"

#include "main.hpp"

int main(int argc, char** argv) {
    return lab::main_with_all_tables<serial>(argc, argv);
}
