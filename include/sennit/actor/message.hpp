// SPDX-License-Identifier: Apache-2.0
// What may be sent to an actor, and what it answers.
//
// A message is a value: a struct, moved from the sender to the receiver, that refers to nothing of
// the sender's. If it is a question it says what the answer is, a value, too: `struct get { using
// reply = int; };`
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

// Says by name that a type which refers to something shared may be sent all the same:
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

// What has others of which one may refer to something.
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

// What refers to memory that the sender may change or free. Looks at the fields of plain structs of
// up to six, and at theirs, at arrays and what the standard library composes; not inside of what
// has a base, a union or a container.
template <class T>
consteval bool refers();

struct any_field {
    template <class T>
    operator T&() const& noexcept; // never defined: only for counting fields
    template <class T>
    operator T&&() const&& noexcept;
};
template <class T>
struct base_of { // converts to what T derives from
    template <class B>
        requires(std::is_base_of_v<B, T> && !std::is_same_v<std::remove_cv_t<B>, T>)
    operator B() const noexcept;
};
struct any_union {
    template <class U>
        requires(std::is_union_v<U>)
    operator U() const noexcept;
};
struct no_field {}; // what can be made of this, can be made of whatever
template <class T, class... Initializers>
concept made_of = requires { T{Initializers()...}; };

// The first of several initializers, and the last: any_field so many times.
template <std::size_t>
using any_field_at = any_field;
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

inline constexpr std::size_t most_fields = 6;
inline constexpr std::size_t most_initializers =
    24; // braces inside of T's may be left out, so arrays take several

template <class T, class... Fields>
consteval std::size_t initializer_count() {
    if constexpr (sizeof...(Fields) <= most_initializers && made_of<T, Fields..., any_field>)
        return initializer_count<T, Fields..., any_field>();
    else
        return sizeof...(Fields);
}
// Of `all` initializers the field with the first behind `before` takes so many. It is an array if
// it takes all of a list of its own, so that one more behind that would be too many; what is made
// of one value is also made of a list.
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
    if constexpr (union_at<T>(std::make_index_sequence<before>())) // also one behind: g++ counts
                                                                   // none without a name
        return most_fields + 1;
    else if constexpr (before >= all)
        return 0;
    else
        return 1 + fields_from<T, all, before + taken_by_field<T, before, all>()>();
}
// 0, or more than there may be: they are not looked at.
template <class T>
consteval std::size_t field_count() {
    constexpr std::size_t all = initializer_count<T>();
    if constexpr (all > most_initializers || made_of<T, base_of<T>>)
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

inline constexpr std::size_t most_elements =
    16; // what has more is an array, whose elements are alike
template <class T, std::size_t... i>
consteval bool element_refers(std::index_sequence<i...>) {
    return (refers<std::tuple_element_t<i, T>>() || ...);
}
template <template <class...> class Composed, class... Ts>
consteval bool part_refers(const Composed<Ts...>*) {
    return (refers<Ts>() || ...);
}

// A struct, or what has parts.
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
    else if constexpr (requires {
                           std::tuple_size<M>::value;
                       }) // as an array, which names take apart in its own way
        return element_refers<M>(
            std::make_index_sequence<std::min<std::size_t>(std::tuple_size_v<M>, most_elements)>());
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
                  "what it refers to, or allow the field's type by name with sennit::allow_share");
    static_assert(!refers<typename reply_type<M>::type>(),
                  "sennit: the message's `reply` is a view or a raw pointer, or a field of it is; "
                  "answer with what it "
                  "refers to, or allow its type by name with sennit::allow_share");
}

} // namespace detail

// What a question's answer is; void for `using reply = void`, too.
template <class M>
using reply_of = typename detail::reply_type<M>::type;

template <class M>
concept question = detail::has_reply<M>;

// A message for those who watch another actor: that one has ended.
enum class exit_reason : unsigned char {
    normal,   // it called stop, or was asked to
    error,    // an exception left a handler
    linked,   // one that it was linked to ended with an error
    shutdown, // its group ended
    unknown,  // it had ended when it was asked about; a link takes that for an error
};

} // namespace sennit
