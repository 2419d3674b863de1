// SPDX-License-Identifier: Apache-2.0
// The frame of the user's program that called into the library.
#pragma once

#include "sys/bounded_text.hpp"

namespace sennit::sys {

// Looks for the first frame of the calling thread whose function is outside of the namespaces
// sennit and std, and writes its function and place, such as `serve (server+0x14a2c)`. False: there
// is none, or the program has no symbols; then nothing is written.
//
// It reads the symbol table of the program's file, which needs neither -rdynamic nor debug
// information. It allocates nothing. It makes system calls, and takes no lock except the dynamic
// loader's, as each unwinding does. Takes some milliseconds.
bool write_user_frame(bounded_text& to) noexcept;

} // namespace sennit::sys
