// SPDX-License-Identifier: Apache-2.0
// par::any_of, all_of, none_of: whether elements satisfy a predicate, in parallel. They stop at the
// first element that decides.
//
//     if (sennit::par::any_of(orders, is_late)) …
//
// Guarantees, exceptions, cancellation and cost as for `par::find_any_if`.
#pragma once

#include "sennit/par/find.hpp"

namespace sennit::par {

// any_of(range, pred, proj = {}), any_of(first, last, pred, proj = {}), both with options in front.
// Blocks until no worker examines an element any more. Returns true if an element satisfies
// pred(proj(element)). Throws the exception of an element if no match is found, and `cancelled`.
inline constexpr detail::element_algorithm<
    detail::find_if_algorithm<true, true, detail::to_bool<true>>>
    any_of{};
// Like any_of; true if all elements satisfy the predicate, also if there is no element.
inline constexpr detail::element_algorithm<
    detail::find_if_algorithm<false, true, detail::to_bool<false>>>
    all_of{};
// Like any_of; true if no element satisfies the predicate, also if there is no element.
inline constexpr detail::element_algorithm<
    detail::find_if_algorithm<true, true, detail::to_bool<false>>>
    none_of{};

} // namespace sennit::par
