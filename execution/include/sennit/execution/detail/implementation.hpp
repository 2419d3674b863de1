// SPDX-License-Identifier: Apache-2.0
// The implementation of std::execution that the headers of sennit::execution use. No other
// file knows which implementation it is.
//
// The choice, in this order:
//   1. SENNIT_EXECUTION_HEADER, a macro that you define: a header in <> or "". Then define
//      SENNIT_EXECUTION_NAMESPACE, too, the namespace that has the names of std::execution. If the
//      stop tokens and get_stop_token are elsewhere, define SENNIT_EXECUTION_STD_NAMESPACE.
//   2. The standard library, if it defines __cpp_lib_senders.
//   3. NVIDIA's stdexec, if the compiler finds its header.
//
// The headers rely on the names of the C++26 draft. Three names differ between its versions:
//   SENNIT_EXECUTION_TAG(name)             the tag of a concept: name_t; in later drafts name_tag
//   SENNIT_EXECUTION_COMPLETION_DOMAIN     1 if get_completion_domain_t exists (P3826)
//   SENNIT_EXECUTION_REPLACEMENT_NAMESPACE the namespace of parallel_scheduler_backend (P4031)
// You may define each of them.
//
// All types of sennit::execution are in an inline namespace for the implementation. So two object
// files with different implementations link into one program.
#pragma once

#include <tuple>
#include <type_traits>
#include <version>

#if defined(SENNIT_EXECUTION_HEADER)
#include SENNIT_EXECUTION_HEADER
#ifndef SENNIT_EXECUTION_NAMESPACE
#error "SENNIT_EXECUTION_HEADER needs SENNIT_EXECUTION_NAMESPACE, the namespace of its names"
#endif
#define SENNIT_EXECUTION_FLAVOUR over_named
#elif defined(__cpp_lib_senders)
#include <execution>
#include <stop_token>
#define SENNIT_EXECUTION_NAMESPACE std::execution
#define SENNIT_EXECUTION_STD_NAMESPACE std
#define SENNIT_EXECUTION_FLAVOUR over_std
#elif __has_include(<stdexec/execution.hpp>)
#include <stdexec/execution.hpp>
#define SENNIT_EXECUTION_NAMESPACE stdexec
#define SENNIT_EXECUTION_FLAVOUR over_stdexec
#ifndef SENNIT_EXECUTION_COMPLETION_DOMAIN
#define SENNIT_EXECUTION_COMPLETION_DOMAIN 1
#endif
#ifndef SENNIT_EXECUTION_REPLACEMENT_NAMESPACE
#define SENNIT_EXECUTION_REPLACEMENT_NAMESPACE stdexec::parallel_scheduler_replacement
#endif
#else
#error "sennit/execution.hpp found no std::execution: add the include folder of stdexec, or define \
SENNIT_EXECUTION_HEADER and SENNIT_EXECUTION_NAMESPACE"
#endif

#ifndef SENNIT_EXECUTION_STD_NAMESPACE
#define SENNIT_EXECUTION_STD_NAMESPACE SENNIT_EXECUTION_NAMESPACE
#endif
#ifndef SENNIT_EXECUTION_TAG
#define SENNIT_EXECUTION_TAG(name) name##_t
#endif
#ifndef SENNIT_EXECUTION_COMPLETION_DOMAIN
#define SENNIT_EXECUTION_COMPLETION_DOMAIN 0
#endif
#ifndef SENNIT_EXECUTION_REPLACEMENT_NAMESPACE
#define SENNIT_EXECUTION_REPLACEMENT_NAMESPACE                                                     \
    SENNIT_EXECUTION_NAMESPACE::system_context_replaceability
#endif

namespace sennit::execution {
inline namespace SENNIT_EXECUTION_FLAVOUR {

// The namespaces of the implementation.
namespace ex = SENNIT_EXECUTION_NAMESPACE;
namespace ex_std = SENNIT_EXECUTION_STD_NAMESPACE;

namespace detail {

template <class R>
using stop_token_of = ex_std::stop_token_of_t<ex::env_of_t<R>>;

template <class R>
stop_token_of<R> stop_token(const R& receiver) noexcept {
    return ex_std::get_stop_token(ex::get_env(receiver));
}

// True if no environment is given, or if its stop token may stop.
template <class... Env>
inline constexpr bool may_stop = true;
template <class Env>
inline constexpr bool may_stop<Env> = !ex_std::unstoppable_token<ex_std::stop_token_of_t<Env>>;

// The type that `co_await` of a sender returns in the draft: void without a value, a tuple if there
// are several.
template <class... V>
struct one_of_values {
    using type = std::tuple<std::decay_t<V>...>;
};
template <class V>
struct one_of_values<V> {
    using type = std::decay_t<V>;
};
template <>
struct one_of_values<> {
    using type = void;
};
template <class... V>
struct values {
    using single = typename one_of_values<V...>::type;
    using tuple = std::tuple<std::decay_t<V>...>;
};
template <class... Alternatives>
struct only_alternative {
    static constexpr bool valid = false;
    using single = void;
    using tuple = std::tuple<>;
};
template <class V>
struct only_alternative<V> {
    static constexpr bool valid = true;
    using single = typename V::single;
    using tuple = typename V::tuple;
};
template <>
struct only_alternative<> { // A sender that never sends a value.
    static constexpr bool valid = true;
    using single = void;
    using tuple = std::tuple<>;
};
template <class S, class Env>
using sent_by = ex::value_types_of_t<S, Env, values, only_alternative>;

} // namespace detail
} // namespace SENNIT_EXECUTION_FLAVOUR
} // namespace sennit::execution
