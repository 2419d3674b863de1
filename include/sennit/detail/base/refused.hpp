// SPDX-License-Identifier: Apache-2.0
// Readable errors for calls that the constraints of a public function refuse.
//
// A compiler explains a failed constraint by a list of candidates. So each public function template
// has an overload behind its constrained ones, which accepts the refused calls and whose
// static_assert says what the function needs. The overload never compiles, so it has no cost.
#pragma once

namespace sennit::base {

// False for all types: the condition of such a static_assert.
template <class...>
inline constexpr bool refused = false;

// The result of such an overload.
struct refused_call {};

} // namespace sennit::base
