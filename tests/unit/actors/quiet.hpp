// SPDX-License-Identifier: Apache-2.0
// Suppresses the output of dead letters while it lives. A fixture whose tests cause dead letters
// has it as its first member.
#pragma once

#include "sennit/actor/dead_letter.hpp"

struct quiet {
    sennit::dead_letter_handler before = sennit::set_dead_letter_handler(nullptr);
    quiet() = default;
    quiet(const quiet&) = delete;
    ~quiet() { sennit::set_dead_letter_handler(before); }
};
