// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/sys/exception_globals.hpp"

#include <cxxabi.h>

namespace sennit::sys {

exception_globals& thread_exception_globals() noexcept {
    // SAFETY: __cxa_eh_globals is opaque in <cxxabi.h>; the ABI fixes its first two members, which
    // have the layout of exception_globals.
    return *reinterpret_cast<exception_globals*>(abi::__cxa_get_globals());
}

exception_globals& cache_exception_globals() noexcept {
    exception_globals& mine = thread_exception_globals();
    tls().exceptions = &mine;
    return mine;
}

} // namespace sennit::sys
