// SPDX-License-Identifier: Apache-2.0
// Readable names of functions without allocation, for the last words of a failing program.
#pragma once

#include "sys/bounded_text.hpp"

namespace sennit::sys {

// Writes the name of the function that has this symbol: `store::find<>` for
// `_ZN5store4findIiEEvT_`. Parameters and template arguments are left out. A closure is named after
// the function that contains it: `main::lambda`. A symbol that is no C++ name, or one whose form is
// unknown, is written as it is. Async-signal-safe.
void write_brief_name(bounded_text& to, const char* symbol) noexcept;

// True if the function belongs to namespace sennit or std, or has a name that is reserved to the
// implementation.
bool is_library_symbol(const char* symbol) noexcept;

// Finds the first closure or local class among the template arguments of a symbol: the result is
// the place in the symbol at which its name begins, for write_brief_closure. Null: there is none. A
// compiler that inlines the body of a fiber leaves no other trace of it.
const char* closure_in(const char* symbol) noexcept;
void write_brief_closure(bounded_text& to, const char* closure) noexcept;

} // namespace sennit::sys
