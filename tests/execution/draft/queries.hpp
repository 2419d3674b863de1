// SPDX-License-Identifier: Apache-2.0
// The queries and environments of the C++26 draft that the tests of sennit::execution need.
#pragma once

#include "stop_token.hpp"

#include <type_traits>
#include <utility>

namespace draft {

template <class E, class Query>
concept answers = requires(const E& env, Query query) { env.query(query); };

struct get_stop_token_t {
    template <class E>
    auto operator()(const E& env) const noexcept {
        if constexpr (answers<E, get_stop_token_t>) {
            static_assert(noexcept(env.query(*this)));
            static_assert(stoppable_token<std::remove_cvref_t<decltype(env.query(*this))>>);
            return env.query(*this);
        } else {
            return never_stop_token();
        }
    }
};
inline constexpr get_stop_token_t get_stop_token{};
template <class E>
using stop_token_of_t = std::remove_cvref_t<decltype(get_stop_token(std::declval<E>()))>;

namespace execution {

struct set_value_t;
struct set_error_t;
struct set_stopped_t;

template <class... E>
struct env;
template <>
struct env<> {};

template <class Self>
struct plain_query {
    template <class E>
        requires answers<E, Self>
    auto operator()(const E& env) const noexcept {
        static_assert(noexcept(env.query(Self())));
        return env.query(Self());
    }
};
struct get_domain_t : plain_query<get_domain_t> {};
struct get_scheduler_t : plain_query<get_scheduler_t> {};
struct get_delegation_scheduler_t : plain_query<get_delegation_scheduler_t> {};
template <class Tag>
struct get_completion_scheduler_t : plain_query<get_completion_scheduler_t<Tag>> {};
inline constexpr get_domain_t get_domain{};
inline constexpr get_scheduler_t get_scheduler{};
inline constexpr get_delegation_scheduler_t get_delegation_scheduler{};
template <class Tag>
inline constexpr get_completion_scheduler_t<Tag> get_completion_scheduler{};

enum class forward_progress_guarantee { concurrent, parallel, weakly_parallel };
struct get_forward_progress_guarantee_t {
    template <class S>
    constexpr forward_progress_guarantee operator()(const S& scheduler) const noexcept {
        if constexpr (answers<S, get_forward_progress_guarantee_t>)
            return scheduler.query(*this);
        else
            return forward_progress_guarantee::weakly_parallel;
    }
};
inline constexpr get_forward_progress_guarantee_t get_forward_progress_guarantee{};

struct get_env_t {
    template <class T>
    auto operator()(const T& object) const noexcept {
        if constexpr (requires { object.get_env(); }) {
            static_assert(noexcept(object.get_env()), "get_env must not throw");
            return object.get_env();
        } else {
            return env<>();
        }
    }
};
inline constexpr get_env_t get_env{};
template <class T>
using env_of_t = decltype(get_env(std::declval<T>()));

} // namespace execution
} // namespace draft
