// SPDX-License-Identifier: Apache-2.0
// Definitions that the tests of dumps share.
#pragma once

#include <sennit/obs/dump.hpp>
#include <sennit/runtime.hpp>

#include <sstream>
#include <string>

inline std::string dump_of(const sennit::runtime& runtime) {
    std::ostringstream text;
    runtime.dump(text);
    return text.str();
}
