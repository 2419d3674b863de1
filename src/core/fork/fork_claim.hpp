// SPDX-License-Identifier: Apache-2.0
// The claim that a thief writes into `worker_tls::split` before it forces publication: step 4 of
// sennit/detail/core/fork_stack.hpp.
#pragma once

#include <cstdint>

namespace sennit::sched {

inline constexpr unsigned claim_limit = 4096; // More than a runtime has workers.

// The claim of the worker `index`. No other worker has an equal one, so a thief knows whether its
// claim still stands.
inline void* fork_claim(unsigned index) noexcept {
    // SAFETY: compared, never followed
    return reinterpret_cast<void*>(~std::uintptr_t{index});
}

// True if `split` is a claim and no address: the last `claim_limit` addresses hold no slot.
inline bool is_claim(const void* split) noexcept {
    return reinterpret_cast<std::uintptr_t>(split) > ~std::uintptr_t{claim_limit};
}

} // namespace sennit::sched
