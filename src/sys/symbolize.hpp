// SPDX-License-Identifier: Apache-2.0
// Names for addresses of code and data, and for types.
#pragma once

#include <string>

namespace sennit::sys {

// Such as `serve(int)+0x2c (server+0x14a2c)`: the symbol, if the dynamic symbol table knows it
// (link a program with -rdynamic), then the file and the offset in it, which addr2line understands.
// Throws std::bad_alloc.
std::string symbolize(const void* address);

// The variable's name if the address lies in one that the dynamic symbol table knows; else empty.
std::string symbolize_data(const void* address);

// A type's name as people write it, from std::type_info::name().
std::string demangle(const char* name);

} // namespace sennit::sys
