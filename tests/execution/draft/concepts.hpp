// SPDX-License-Identifier: Apache-2.0
// The completion functions, completion signatures and concepts of the C++26 draft. They are strict:
// a completion function or a start that may throw, or that is called on an lvalue receiver, does
// not compile.
#pragma once

#include "queries.hpp"

#include <concepts>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace draft::execution {

struct scheduler_t {};
struct receiver_t {};
struct operation_state_t {};
struct sender_t {};

template <class R>
inline constexpr bool is_rvalue = !std::is_lvalue_reference_v<R> && !std::is_const_v<R>;

struct set_value_t {
    template <class R, class... V>
    void operator()(R&& receiver, V&&... values) const noexcept {
        static_assert(is_rvalue<R>, "the receiver of a completion is an rvalue");
        static_assert(noexcept(std::move(receiver).set_value(std::forward<V>(values)...)));
        std::move(receiver).set_value(std::forward<V>(values)...);
    }
};
struct set_error_t {
    template <class R, class E>
    void operator()(R&& receiver, E&& error) const noexcept {
        static_assert(is_rvalue<R>, "the receiver of a completion is an rvalue");
        static_assert(noexcept(std::move(receiver).set_error(std::forward<E>(error))));
        std::move(receiver).set_error(std::forward<E>(error));
    }
};
struct set_stopped_t {
    template <class R>
    void operator()(R&& receiver) const noexcept {
        static_assert(is_rvalue<R>, "the receiver of a completion is an rvalue");
        static_assert(noexcept(std::move(receiver).set_stopped()));
        std::move(receiver).set_stopped();
    }
};
inline constexpr set_value_t set_value{};
inline constexpr set_error_t set_error{};
inline constexpr set_stopped_t set_stopped{};

template <class T>
concept receiver =
    std::derived_from<typename std::remove_cvref_t<T>::receiver_concept, receiver_t> &&
    requires(const std::remove_cvref_t<T>& object) { get_env(object); } &&
    std::move_constructible<std::remove_cvref_t<T>>;

template <class O>
concept operation_state =
    std::derived_from<typename O::operation_state_concept, operation_state_t> &&
    std::is_object_v<O> && requires(O& object) {
        { object.start() } noexcept;
    };
struct start_t {
    template <operation_state O>
    void operator()(O& object) const noexcept {
        object.start();
    }
};
inline constexpr start_t start{};

template <class T>
concept sender = std::derived_from<typename std::remove_cvref_t<T>::sender_concept, sender_t> &&
                 requires(const std::remove_cvref_t<T>& object) { get_env(object); } &&
                 std::move_constructible<std::remove_cvref_t<T>> &&
                 std::constructible_from<std::remove_cvref_t<T>, T>;

template <class... Signatures>
struct completion_signatures {};

template <class S, class... Env>
consteval auto get_completion_signatures() {
    using plain = std::remove_reference_t<S>;
    if constexpr (requires { plain::template get_completion_signatures<S, Env...>(); })
        return plain::template get_completion_signatures<S, Env...>();
    else
        return plain::template get_completion_signatures<S>();
}
template <class S, class... Env>
using completion_signatures_of_t = decltype(get_completion_signatures<S, Env...>());
template <class S, class... Env>
concept sender_in = sender<S> && requires { typename completion_signatures_of_t<S, Env...>; };

// The signatures of one completion function, in a list of lists.
template <class... T>
struct type_list {};
template <class Tag, class Signature>
struct of_tag {
    using type = type_list<>;
};
template <class Tag, class... A>
struct of_tag<Tag, Tag(A...)> {
    using type = type_list<type_list<A...>>;
};
template <class... Lists>
struct joined {
    using type = type_list<>;
};
template <class... A, class... B, class... Rest>
struct joined<type_list<A...>, type_list<B...>, Rest...> : joined<type_list<A..., B...>, Rest...> {
};
template <class... A>
struct joined<type_list<A...>> {
    using type = type_list<A...>;
};
template <class Tag, class Signatures>
struct gathered;
template <class Tag, class... S>
struct gathered<Tag, completion_signatures<S...>> : joined<typename of_tag<Tag, S>::type...> {};

template <class Lists, template <class...> class Tuple, template <class...> class Variant>
struct as_types;
template <class... Lists, template <class...> class Tuple, template <class...> class Variant>
struct as_types<type_list<Lists...>, Tuple, Variant> {
    template <class List>
    struct one;
    template <class... A>
    struct one<type_list<A...>> {
        using type = Tuple<A...>;
    };
    using type = Variant<typename one<Lists>::type...>;
};
template <class... T>
using decayed_tuple = std::tuple<std::decay_t<T>...>;
template <class S, class Env = env<>, template <class...> class Tuple = decayed_tuple,
          template <class...> class Variant = std::variant>
using value_types_of_t =
    typename as_types<typename gathered<set_value_t, completion_signatures_of_t<S, Env>>::type,
                      Tuple, Variant>::type;

struct schedule_t {
    template <class S>
    auto operator()(S&& scheduler) const noexcept(noexcept(scheduler.schedule())) {
        static_assert(sender<decltype(scheduler.schedule())>);
        return scheduler.schedule();
    }
};
inline constexpr schedule_t schedule{};
template <class S>
concept scheduler =
    std::derived_from<typename std::remove_cvref_t<S>::scheduler_concept, scheduler_t> &&
    requires(S&& object) {
        { schedule(std::forward<S>(object)) } -> sender;
        {
            get_completion_scheduler<set_value_t>(get_env(schedule(std::forward<S>(object))))
        } -> std::same_as<std::remove_cvref_t<S>>;
    } && std::equality_comparable<std::remove_cvref_t<S>> && std::copyable<std::remove_cvref_t<S>>;

} // namespace draft::execution
