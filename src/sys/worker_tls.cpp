// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/sys/worker_tls.hpp"

namespace sennit::sys {

#ifdef SENNIT_WORKER_TLS_ASM

extern "C" {
constinit thread_local worker_tls sennit_worker_tls{};
}

worker_tls& own_worker_tls() noexcept {
    return sennit_worker_tls;
}

#else

namespace {
constinit thread_local worker_tls this_thread_tls{};
}

worker_tls& tls() noexcept {
    asm volatile(""); // keeps the compiler from merging calls as it would for a pure function
    return this_thread_tls;
}
worker_tls& own_worker_tls() noexcept {
    return tls();
}

#endif

} // namespace sennit::sys
