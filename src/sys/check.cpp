// SPDX-License-Identifier: Apache-2.0
#include "sennit/base/check.hpp"

#include "sys/report.hpp"

#include <cstdlib>

namespace sennit::base {

void fail(const char* message, const char* file, int line) noexcept {
    char digits[16];
    char* end = digits + sizeof digits - 1;
    char* begin = end;
    *end = '\0';
    for (int rest = line; rest > 0 || begin == end; rest /= 10) *--begin = static_cast<char>('0' + rest % 10);
    sys::report({"sennit: ", message, " (", file, ":", begin, ")\n"});
    std::abort();
}

} // namespace sennit::base
