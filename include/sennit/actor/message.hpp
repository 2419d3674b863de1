// SPDX-License-Identifier: Apache-2.0
// Messages to actors, and their answers.
//
// A message is a value: a struct that is moved from the sender to the receiver, and refers to
// nothing of the sender's. A question names the type of its answer, which is a value, too: `struct
// get { using reply = int; };`
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace sennit {

// Allows, by name, a type in messages although it refers to shared state:
//     template <> inline constexpr bool sennit::allow_share<const table*> = true;
template <class T>
inline constexpr bool allow_share = false;

namespace detail {

template <class T>
inline constexpr bool is_view = false;
template <class C, class Traits>
inline constexpr bool is_view<std::basic_string_view<C, Traits>> = true;
template <class T, std::size_t N>
inline constexpr bool is_view<std::span<T, N>> = true;

// True for types that are composed of other types, any of which may refer to memory.
template <class T>
inline constexpr bool is_composed = false;
template <class... Ts>
inline constexpr bool is_composed<std::tuple<Ts...>> = true;
template <class A, class B>
inline constexpr bool is_composed<std::pair<A, B>> = true;
template <class... Ts>
inline constexpr bool is_composed<std::variant<Ts...>> = true;
template <class T>
inline constexpr bool is_composed<std::optional<T>> = true;
template <class T>
inline constexpr bool is_reference_wrapper = false;
template <class T>
inline constexpr bool is_reference_wrapper<std::reference_wrapper<T>> = true;

// True if T refers to memory that the sender may change or free. Looks at the fields of plain
// structs of up to six fields, at the fields of those fields, at arrays, and at compositions of the
// standard library. Does not look inside a type that has a base, a union or a container.
template <class T>
consteval bool refers();

struct any_field {
    template <class T>
    operator T&() const& noexcept; // never defined: only for counting fields
    template <class T>
    operator T&&() const&& noexcept;
};
template <class T>
struct base_of { // converts to the bases of T
    template <class B>
        requires(std::is_base_of_v<B, T> && !std::is_same_v<std::remove_cv_t<B>, T>)
    operator B() const noexcept;
};
struct any_union {
    template <class U>
        requires(std::is_union_v<U>)
    operator U() const noexcept;
};
struct no_field {}; // converts to nothing: a field that accepts it accepts any type
template <class T, class... Initializers>
concept made_of = requires { T{Initializers()...}; };

// The type any_field, once for each index of a pack.
template <std::size_t>
using any_field_at = any_field;
// True if T can be made from initializers, a nested list of initializers, and more initializers
// behind it.
template <class T, class Before, class Nested, class Behind>
inline constexpr bool made_with_nested = false;
template <class T, std::size_t... Before, std::size_t... Nested, std::size_t... Behind>
inline constexpr bool
    made_with_nested<T, std::index_sequence<Before...>, std::index_sequence<Nested...>,
                     std::index_sequence<Behind...>> = requires {
        T{any_field_at<Before>()..., {any_field_at<Nested>()...}, any_field_at<Behind>()...};
    };
template <class T, std::size_t before, std::size_t nested, std::size_t behind>
consteval bool nests() {
    return made_with_nested<T, std::make_index_sequence<before>, std::make_index_sequence<nested>,
                            std::make_index_sequence<behind>>;
}

inline constexpr std::size_t max_fields = 6;
// Braces inside T's may be left out, so arrays take several initializers.
inline constexpr std::size_t max_initializers = 24;

template <class T, class... Fields>
consteval std::size_t initializer_count() {
    if constexpr (sizeof...(Fields) <= max_initializers && made_of<T, Fields..., any_field>)
        return initializer_count<T, Fields..., any_field>();
    else
        return sizeof...(Fields);
}
// The number of initializers, of `all`, that the field after the first `before` ones takes. The
// field is an array if it takes exactly a list of its own: then one more initializer behind the
// list would be too many. The second test is needed because a type that is made from one value can
// also be made from a list.
template <class T, std::size_t before, std::size_t all, std::size_t nested = all - before>
consteval std::size_t taken_by_field() {
    if constexpr (nested <= 1)
        return 1;
    else if constexpr (nests<T, before, nested, all - before - nested>() &&
                       !nests<T, before, nested, all - before - nested + 1>())
        return nested;
    else
        return taken_by_field<T, before, all, nested - 1>();
}
template <class T, std::size_t... before>
consteval bool union_at(std::index_sequence<before...>) {
    return made_of<T, any_field_at<before>..., any_union> &&
           !made_of<T, any_field_at<before>..., no_field>;
}
template <class T, std::size_t all, std::size_t before = 0>
consteval std::size_t fields_from() {
    // Also true for a union further behind: g++ counts no initializer for an unnamed one.
    if constexpr (union_at<T>(std::make_index_sequence<before>()))
        return max_fields + 1;
    else if constexpr (before >= all)
        return 0;
    else
        return 1 + fields_from<T, all, before + taken_by_field<T, before, all>()>();
}
// The number of fields. The library does not look into a struct with 0, or with more than
// max_fields.
template <class T>
consteval std::size_t field_count() {
    constexpr std::size_t all = initializer_count<T>();
    if constexpr (all > max_initializers || made_of<T, base_of<T>>)
        return 0;
    else
        return fields_from<T, all>();
}

template <class... Fields>
consteval bool any_refers(Fields*...) {
    return (refers<Fields>() || ...);
}
template <class... Fields>
struct field_types {};
template <class... Fields>
consteval bool any_refers(field_types<Fields...>) {
    return (refers<Fields>() || ...);
}

template <class T>
auto fields_of(T& value) {
    constexpr std::size_t count = field_count<T>();
    if constexpr (count == 1) {
        auto& [a] = value;
        return field_types<decltype(a)>();
    } else if constexpr (count == 2) {
        auto& [a, b] = value;
        return field_types<decltype(a), decltype(b)>();
    } else if constexpr (count == 3) {
        auto& [a, b, c] = value;
        return field_types<decltype(a), decltype(b), decltype(c)>();
    } else if constexpr (count == 4) {
        auto& [a, b, c, d] = value;
        return field_types<decltype(a), decltype(b), decltype(c), decltype(d)>();
    } else if constexpr (count == 5) {
        auto& [a, b, c, d, e] = value;
        return field_types<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e)>();
    } else if constexpr (count == 6) {
        auto& [a, b, c, d, e, f] = value;
        return field_types<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                           decltype(f)>();
    } else {
        return field_types<>();
    }
}

template <class T>
concept plain_struct = std::is_aggregate_v<T> && std::is_class_v<T> && !std::is_empty_v<T>;

// A type with more elements is an array, whose elements all have one type.
inline constexpr std::size_t max_elements = 16;
template <class T, std::size_t... i>
consteval bool element_refers(std::index_sequence<i...>) {
    return (refers<std::tuple_element_t<i, T>>() || ...);
}
template <template <class...> class Composed, class... Ts>
consteval bool part_refers(const Composed<Ts...>*) {
    return (refers<Ts>() || ...);
}

// For a struct, or a type that has parts.
template <class M>
consteval bool struct_refers() {
    if constexpr (allow_share<M>)
        return false;
    else if constexpr (is_reference_wrapper<M>)
        return true;
    else if constexpr (is_composed<M>)
        return part_refers(static_cast<const M*>(nullptr));
    else if constexpr (!plain_struct<M>)
        return false;
    // A tuple-like type, such as std::array: structured bindings use its tuple protocol.
    else if constexpr (requires { std::tuple_size<M>::value; })
        return element_refers<M>(
            std::make_index_sequence<std::min<std::size_t>(std::tuple_size_v<M>, max_elements)>());
    else
        return any_refers(decltype(fields_of(std::declval<M&>()))());
}

template <class T>
consteval bool refers() {
    if constexpr (std::is_array_v<T>)
        return refers<std::remove_all_extents_t<T>>();
    else if constexpr (allow_share<std::remove_cv_t<T>>)
        return false;
    else if constexpr (std::is_reference_v<T> || std::is_pointer_v<T> ||
                       is_view<std::remove_cv_t<T>>)
        return true;
    else
        return struct_refers<std::remove_cv_t<T>>();
}

template <class M>
concept has_reply = requires { typename M::reply; };

template <class M>
struct reply_type {
    using type = void;
};
template <has_reply M>
struct reply_type<M> {
    using type = typename M::reply;
    static_assert(!std::is_reference_v<type>,
                  "sennit: an answer is given by value: `reply` is no reference");
};

template <class M>
consteval void check_sendable() {
    static_assert(!std::is_reference_v<M> && !std::is_const_v<M>,
                  "sennit: a message is sent by value");
    static_assert(!std::is_pointer_v<M> || allow_share<M>,
                  "sennit: a raw pointer is no message; allow it by name with sennit::allow_share");
    static_assert(!is_view<M> || allow_share<M>, "sennit: a view is no message, it refers to the "
                                                 "sender's memory; send the string or the vector");
    static_assert(std::is_nothrow_move_constructible_v<M>,
                  "sennit: a message must be movable without exceptions");
    static_assert(!struct_refers<M>(),
                  "sennit: a field of the message is a reference, a view or a raw pointer; send "
                  "the object itself, or allow the field's type by name with sennit::allow_share");
    static_assert(
        !refers<typename reply_type<M>::type>(),
        "sennit: the message's `reply` is a view or a raw pointer, or a field of it is; answer "
        "with what it refers to, or allow its type by name with sennit::allow_share");
}

} // namespace detail

// The type of the answer to a question; void for a message without `reply`, and for
// `using reply = void`.
template <class M>
using reply_of = typename detail::reply_type<M>::type;

template <class M>
concept question = detail::has_reply<M>;

// The reason of an actor's end, which `down` tells its watchers.
enum class exit_reason : unsigned char {
    normal,   // the actor called stop, or was asked to stop
    error,    // an exception left a handler
    linked,   // a linked actor ended with an error
    shutdown, // the actor's group ended
    unknown,  // the actor had ended before the watch began; a link takes that for an error
};

} // namespace sennit
