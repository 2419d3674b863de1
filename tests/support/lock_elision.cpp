// SPDX-License-Identifier: Apache-2.0
// Switches single-thread mode on in ThreadSanitizer's builds if the environment variable
// SENNIT_TEST_LOCK_ELISION is set. The tests with the label `elided` set it.
#include "sennit/detail/sys/single_threaded.hpp"

#ifdef SENNIT_SWITCHED_LOCK_ELISION

#include <cstdlib>

namespace {
// Runs before main. The initializers of other files take no lock of the library.
[[maybe_unused]] const bool switched_on = [] {
    const bool wanted = std::getenv("SENNIT_TEST_LOCK_ELISION") != nullptr;
    if (wanted) sennit::base::switch_lock_elision_on();
    return wanted;
}();
} // namespace

#endif
