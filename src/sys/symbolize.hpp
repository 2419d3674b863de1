// SPDX-License-Identifier: Apache-2.0
// Names for addresses of code and data, and for types.
#pragma once

#include <string>

namespace sennit::sys {

// Returns text such as `serve(int)+0x2c (server+0x14a2c)`: the symbol, if the dynamic symbol table
// contains it (link a program with -rdynamic), then the file and the offset in it, which addr2line
// understands. Throws std::bad_alloc.
std::string symbolize(const void* address);

// As symbolize, for the first address of a function: `serve(int) (server+0x14a2c)`. Without a
// symbol of its own only the file and the offset, because the symbol before it is that of another
// function.
std::string symbolize_function(const void* address);

// The name of the variable that contains the address, if the dynamic symbol table knows it;
// otherwise empty.
std::string symbolize_data(const void* address);

// A type's readable name, from std::type_info::name().
std::string demangle(const char* name);

} // namespace sennit::sys
