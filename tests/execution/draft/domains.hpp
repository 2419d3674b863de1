// SPDX-License-Identifier: Apache-2.0
// The sender transformations of the C++26 draft, and connect, which applies them.
#pragma once

#include "concepts.hpp"

#include <concepts>
#include <type_traits>
#include <utility>

namespace draft::execution {

// A sender of an algorithm. User code takes it apart by a structured binding.
template <class Tag, class Data, class... Child>
struct basic_sender;

template <class S>
struct tag_of;
template <class Tag, class... Rest>
struct tag_of<basic_sender<Tag, Rest...>> {
    using type = Tag;
};
template <class S>
using tag_of_t = typename tag_of<std::remove_cvref_t<S>>::type;

struct default_domain {
    template <class S, class... Env>
    decltype(auto) transform_sender(S&& sender, const Env&... env) const {
        if constexpr (requires { tag_of_t<S>().transform_sender(std::forward<S>(sender), env...); })
            return tag_of_t<S>().transform_sender(std::forward<S>(sender), env...);
        else
            return std::forward<S>(sender);
    }
};

template <class Env>
concept has_domain = requires(const Env& env) { get_domain(env); };
template <class Env>
concept has_completion_domain =
    requires(const Env& env) { get_domain(get_completion_scheduler<set_value_t>(env)); };

template <class S, class... Env>
auto domain_of(const S& sender, const Env&... env) {
    using attributes = env_of_t<S>;
    if constexpr (has_domain<attributes>)
        return get_domain(get_env(sender));
    else if constexpr (has_completion_domain<attributes>)
        return get_domain(get_completion_scheduler<set_value_t>(get_env(sender)));
    else if constexpr ((has_domain<Env> && ... && (sizeof...(Env) == 1)))
        return get_domain(env...);
    else
        return default_domain();
}

template <class Domain, class S, class... Env>
decltype(auto) transform_once(Domain domain, S&& sender, const Env&... env) {
    if constexpr (requires { domain.transform_sender(std::forward<S>(sender), env...); })
        return domain.transform_sender(std::forward<S>(sender), env...);
    else
        return default_domain().transform_sender(std::forward<S>(sender), env...);
}
// The result is a value: a transformation may have made it in this function.
template <class Domain, class S, class... Env>
auto transform_sender(Domain domain, S&& sender, const Env&... env) {
    using once = decltype(transform_once(domain, std::forward<S>(sender), env...));
    if constexpr (std::same_as<std::remove_cvref_t<once>, std::remove_cvref_t<S>>)
        return std::remove_cvref_t<S>(transform_once(domain, std::forward<S>(sender), env...));
    else
        return transform_sender(domain, transform_once(domain, std::forward<S>(sender), env...),
                                env...);
}

struct connect_t {
    template <sender S, receiver R>
    auto operator()(S&& wanted, R receiver) const {
        const auto env = get_env(receiver);
        auto made = transform_sender(domain_of(wanted, env), std::forward<S>(wanted), env);
        static_assert(operation_state<decltype(std::move(made).connect(std::move(receiver)))>);
        return std::move(made).connect(std::move(receiver));
    }
};
inline constexpr connect_t connect{};
template <class S, class R>
using connect_result_t = decltype(connect(std::declval<S>(), std::declval<R>()));

} // namespace draft::execution
