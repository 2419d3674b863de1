// SPDX-License-Identifier: Apache-2.0
// What may be sent to an actor, and what it answers.
//
// A message is a value: a struct, moved from the sender to the receiver, that refers to nothing of the sender's. If it
// is a question it says what the answer is: `struct get { using reply = int; };`
#pragma once

#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>

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

// What refers to memory that the sender may change or free. Looks at the fields of plain structs of up to eight.
template <class T>
consteval bool refers();

struct any_field {
    template <class T>
    constexpr operator T&() const& noexcept; // never defined: only for counting fields
    template <class T>
    constexpr operator T&&() const&& noexcept;
};
template <class T, class... Fields>
concept made_of = requires { T{Fields()...}; };

template <class T, class... Fields>
consteval std::size_t field_count() {
    if constexpr (sizeof...(Fields) <= 8 && made_of<T, Fields..., any_field>)
        return field_count<T, Fields..., any_field>();
    else
        return sizeof...(Fields);
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
        return field_types<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(f)>();
    } else {
        return field_types<>();
    }
}

template <class T>
concept plain_struct = std::is_aggregate_v<T> && std::is_class_v<T> && !std::is_empty_v<T>;

template <class T>
consteval bool refers() {
    if constexpr (allow_share<std::remove_cv_t<T>>)
        return false;
    else if constexpr (std::is_reference_v<T> || std::is_pointer_v<T> || is_view<std::remove_cv_t<T>>)
        return true;
    else
        return false;
}

template <class M>
consteval bool struct_refers() {
    if constexpr (allow_share<M> || !plain_struct<M>)
        return false;
    else
        return any_refers(decltype(fields_of(std::declval<M&>()))());
}

template <class M>
consteval void check_sendable() {
    static_assert(!std::is_reference_v<M> && !std::is_const_v<M>, "sennit: a message is sent by value");
    static_assert(!std::is_pointer_v<M> || allow_share<M>,
                  "sennit: a raw pointer is no message; allow it by name with sennit::allow_share");
    static_assert(!is_view<M> || allow_share<M>,
                  "sennit: a view is no message, it refers to the sender's memory; send the string or the vector");
    static_assert(std::is_nothrow_move_constructible_v<M>, "sennit: a message must be movable without exceptions");
    static_assert(!struct_refers<M>(), "sennit: a field of the message is a reference, a view or a raw pointer; send "
                                       "what it refers to, or allow the field's type by name with sennit::allow_share");
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
};

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
