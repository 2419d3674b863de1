// SPDX-License-Identifier: Apache-2.0
// The processor that the calling thread runs on.
#pragma once

namespace sennit::sys {

// The number of that processor, a hint: the thread may move at any time. -1 if the system does not
// tell.
int current_processor() noexcept;

// Moves the calling thread to another processor of its affinity mask, if the mask holds at least
// `threads` of them, and at least two. The mask is the same afterwards. Returns true if the thread
// has moved. Masks of more than 1,024 processors are left alone. Costs 10 to 30 us.
bool leave_processor(int number, unsigned threads) noexcept;

} // namespace sennit::sys
