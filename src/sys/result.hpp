// SPDX-License-Identifier: Apache-2.0
// The results of system calls as the functions of sys return them: a negative error number in the
// place of -1 and errno.
#pragma once

#include <cerrno>
#include <cstddef>

namespace sennit::sys {

template <class T>
std::ptrdiff_t result_of(T value) noexcept {
    return value < 0 ? -static_cast<std::ptrdiff_t>(errno) : static_cast<std::ptrdiff_t>(value);
}
template <class T>
int int_result_of(T value) noexcept {
    return static_cast<int>(result_of(value));
}

} // namespace sennit::sys
