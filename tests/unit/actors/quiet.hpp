// SPDX-License-Identifier: Apache-2.0
// Dead letters are not written while this lives: the first member of a fixture whose tests make
// some.
#pragma once

#include "sennit/actor/dead_letter.hpp"

struct quiet {
    sennit::dead_letter_handler before = sennit::set_dead_letter_handler(nullptr);
    quiet() = default;
    quiet(const quiet&) = delete;
    ~quiet() { sennit::set_dead_letter_handler(before); }
};
