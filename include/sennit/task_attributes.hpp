// SPDX-License-Identifier: Apache-2.0
// The attributes of a new task: see `spawn` and `nursery::start`.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

namespace sennit {

// A task without a name allocates nothing for it.
struct task_attributes {
    std::string_view name{}; // shown in reports; cut to 23 characters
};

namespace detail {
// An argument of spawn that is no attributes.
template <class F>
concept no_task_attributes = !std::same_as<std::remove_cvref_t<F>, task_attributes>;
} // namespace detail

} // namespace sennit
