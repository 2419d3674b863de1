// SPDX-License-Identifier: Apache-2.0
// The senders and algorithms of the C++26 draft that the tests of sennit::execution need: just,
// just_error, just_stopped, then, and the family of bulk, whose own forms are serial.
#pragma once

#include "domains.hpp"

#include <concepts>
#include <exception>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace draft::execution {

inline constexpr struct sequenced_policy {
} seq{};
inline constexpr struct parallel_policy {
} par{};
inline constexpr struct parallel_unsequenced_policy {
} par_unseq{};

template <class Tag, class Data>
struct basic_sender<Tag, Data> {
    using sender_concept = sender_t;
    [[no_unique_address]] Tag tag;
    Data data;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return Tag::template signatures<Data>();
    }
    template <receiver R>
    auto connect(R to) && {
        return typename Tag::template operation<Data, R>{std::move(data), std::move(to)};
    }
    template <receiver R>
    auto connect(R to) const& {
        return typename Tag::template operation<Data, R>{data, std::move(to)};
    }
};

template <class Completion, class... V>
struct just_algorithm {
    template <class Data>
    static consteval auto signatures() {
        return []<class... W>(std::type_identity<std::tuple<W...>>) {
            return completion_signatures<Completion(W...)>();
        }(std::type_identity<Data>());
    }
    template <class Data, class R>
    struct operation {
        using operation_state_concept = operation_state_t;
        Data data;
        R to;
        void start() & noexcept {
            std::apply([this](auto&... each) { Completion()(std::move(to), std::move(each)...); },
                       data);
        }
    };
    template <class... W>
    auto operator()(W&&... values) const {
        using data = std::tuple<std::decay_t<W>...>;
        return basic_sender<just_algorithm, data>{{}, data(std::forward<W>(values)...)};
    }
};
inline constexpr just_algorithm<set_value_t> just{};
inline constexpr just_algorithm<set_error_t> just_error{};
inline constexpr just_algorithm<set_stopped_t> just_stopped{};

// Replaces the value signatures of a sender, and adds that of an exception.
template <class Have, class Wanted>
struct with_signature;
template <class... S, class Wanted>
struct with_signature<completion_signatures<S...>, Wanted> {
    using type = std::conditional_t<(std::same_as<S, Wanted> || ...), completion_signatures<S...>,
                                    completion_signatures<S..., Wanted>>;
};
template <class Algorithm, class Data, class Done, class... Rest>
struct mapped {
    using type = typename with_signature<Done, set_error_t(std::exception_ptr)>::type;
};
template <class Algorithm, class Data, class Done, class First, class... Rest>
struct mapped<Algorithm, Data, Done, First, Rest...>
    : mapped<Algorithm, Data, typename with_signature<Done, First>::type, Rest...> {};
template <class Algorithm, class Data, class Done, class... V, class... Rest>
struct mapped<Algorithm, Data, Done, set_value_t(V...), Rest...>
    : mapped<
          Algorithm, Data,
          typename with_signature<Done, typename Algorithm::template value<Data, V...>::type>::type,
          Rest...> {};
template <class Algorithm, class Data, class... S>
consteval auto map_signatures(completion_signatures<S...>) {
    return typename mapped<Algorithm, Data, completion_signatures<>, S...>::type();
}

template <class Tag, class Data, class R>
struct adaptor_receiver {
    using receiver_concept = receiver_t;
    Data data;
    R to;
    template <class... V>
    void set_value(V&&... values) && noexcept {
        Tag::template complete<Data>(data, to, std::forward<V>(values)...);
    }
    template <class E>
    void set_error(E&& error) && noexcept {
        execution::set_error(std::move(to), std::forward<E>(error));
    }
    void set_stopped() && noexcept { execution::set_stopped(std::move(to)); }
    auto get_env() const noexcept { return execution::get_env(to); }
};

template <class Tag, class Data, class Child>
struct basic_sender<Tag, Data, Child> {
    using sender_concept = sender_t;
    [[no_unique_address]] Tag tag;
    Data data;
    Child child;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return map_signatures<Tag, Data>(completion_signatures_of_t<Child, Env...>());
    }
    template <receiver R>
    auto connect(R to) && {
        return execution::connect(std::move(child),
                                  adaptor_receiver<Tag, Data, R>{std::move(data), std::move(to)});
    }
    template <receiver R>
    auto connect(R to) const& {
        return execution::connect(child, adaptor_receiver<Tag, Data, R>{data, std::move(to)});
    }
    auto get_env() const noexcept { return execution::get_env(child); }
};

template <class F>
struct closure {
    F apply;
    template <sender S>
    friend auto operator|(S&& from, closure with) {
        return with.apply(std::forward<S>(from));
    }
};
template <class F>
closure(F) -> closure<F>;

template <class Tag, class Data, class S>
auto make_adaptor(Data data, S&& child) {
    using made = basic_sender<Tag, Data, std::remove_cvref_t<S>>;
    made whole{{}, std::move(data), std::forward<S>(child)};
    const auto domain = domain_of(whole); // Early: without an environment.
    return transform_sender(domain, std::move(whole));
}

struct then_t {
    template <class Result>
    struct sends {
        using type = set_value_t(Result);
    };
    template <class F, class... V>
    struct value : sends<std::invoke_result_t<F, V...>> {};
    template <class F, class R, class... V>
    static void complete(F& function, R& to, V&&... values) noexcept {
        try {
            if constexpr (std::is_void_v<std::invoke_result_t<F, V...>>) {
                std::invoke(std::move(function), std::forward<V>(values)...);
                set_value(std::move(to));
            } else {
                set_value(std::move(to),
                          std::invoke(std::move(function), std::forward<V>(values)...));
            }
        } catch (...) {
            set_error(std::move(to), std::current_exception());
        }
    }
    template <sender S, class F>
    auto operator()(S&& child, F function) const {
        return make_adaptor<then_t>(std::move(function), std::forward<S>(child));
    }
    template <class F>
    auto operator()(F function) const {
        return closure{[function = std::move(function)]<class S>(S&& child) {
            return then_t()(std::forward<S>(child), function);
        }};
    }
};
template <>
struct then_t::sends<void> {
    using type = set_value_t();
};
inline constexpr then_t then{};

template <class Policy, class Shape, class F>
struct bulk_data {
    Policy policy;
    Shape shape;
    F function;
};

template <class Tag>
struct bulk_algorithm {
    template <class Data, class... V>
    struct value {
        using type = set_value_t(V...);
    };
    template <class Data, class R, class... V>
    static void complete(Data& data, R& to, V&&... values) noexcept {
        try {
            Tag::loop(data, values...);
            set_value(std::move(to), std::forward<V>(values)...);
        } catch (...) {
            set_error(std::move(to), std::current_exception());
        }
    }
    template <sender S, class Policy, std::integral Shape, class F>
    auto operator()(S&& child, const Policy& policy, Shape shape, F function) const {
        return make_adaptor<Tag>(bulk_data<Policy, Shape, F>{policy, shape, std::move(function)},
                                 std::forward<S>(child));
    }
    template <class Policy, std::integral Shape, class F>
    auto operator()(const Policy& policy, Shape shape, F function) const {
        return closure{[=]<class S>(S&& child) {
            return Tag()(std::forward<S>(child), policy, shape, function);
        }};
    }
};
struct bulk_chunked_t : bulk_algorithm<bulk_chunked_t> {
    template <class Data, class... V>
    static void loop(Data& data, V&... values) {
        data.function(decltype(data.shape)(0), data.shape, values...);
    }
};
struct bulk_unchunked_t : bulk_algorithm<bulk_unchunked_t> {
    template <class Data, class... V>
    static void loop(Data& data, V&... values) {
        for (decltype(data.shape) i = 0; i != data.shape; ++i) data.function(i, values...);
    }
};
struct bulk_t : bulk_algorithm<bulk_t> {
    template <class Data, class... V>
    static void loop(Data& data, V&... values) {
        bulk_unchunked_t::loop(data, values...);
    }
    // bulk becomes bulk_chunked when it is connected.
    template <class S, class Env>
    auto transform_sender(S&& sender, const Env&) const {
        auto& [tag, data, child] = sender;
        const auto chunk = [function = data.function](auto first, auto last, auto&... values) {
            for (; first != last; ++first) function(first, values...);
        };
        return bulk_chunked_t()(child, data.policy, data.shape, chunk);
    }
};
inline constexpr bulk_t bulk{};
inline constexpr bulk_chunked_t bulk_chunked{};
inline constexpr bulk_unchunked_t bulk_unchunked{};

} // namespace draft::execution
