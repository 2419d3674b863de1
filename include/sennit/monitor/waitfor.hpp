// SPDX-License-Identifier: Apache-2.0
// The clauses of waitfor, and their driver; see sennit/monitor.hpp.
#pragma once

#include "sennit/detail/core/timer.hpp"
#include "sennit/monitor/core.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

namespace sennit::detail {

struct accept_clause {
    enum class kind : std::uint8_t { call, timeout, otherwise };
    kind what;
    bool enabled = true;
    member_key member = nullptr;
    monitor_set of{};
    std::int64_t deadline_ns = sched::never;
};

inline constexpr std::size_t no_clause = SIZE_MAX;
std::size_t run_waitfor(std::span<const accept_clause* const> clauses);

struct nothing_more {
    void operator()() const noexcept {}
};

template <class F = nothing_more>
struct clause_with : accept_clause {
    F function{};
    // Returns the clause with a function. waitfor calls the function, with the monitors held, if it
    // has chosen the clause, after the accepted call has left.
    template <class G>
    clause_with<std::decay_t<G>> then(G&& action) const {
        return {static_cast<const accept_clause&>(*this), std::forward<G>(action)};
    }
};

// True if the first parameters of a function, after the object of a member function, are these
// monitors.
template <class F, class... M>
inline constexpr bool is_call_on = false;
template <class Parameters, class... M>
inline constexpr bool begin_with = false;
template <class... P>
struct parameters {};
template <class... P>
inline constexpr bool begin_with<parameters<P...>> = true;
template <class P, class... Rest, class M, class... More>
inline constexpr bool begin_with<parameters<P, Rest...>, M, More...> =
    std::is_lvalue_reference_v<P> && std::derived_from<M, std::remove_cvref_t<P>> &&
    begin_with<parameters<Rest...>, More...>;

template <class R, class... P, class... M>
inline constexpr bool is_call_on<R (*)(P...), M...> = begin_with<parameters<P...>, M...>;
template <class R, class... P, class... M>
inline constexpr bool is_call_on<R (*)(P...) noexcept, M...> = begin_with<parameters<P...>, M...>;
template <class R, class C, class... P, class First, class... M>
inline constexpr bool is_call_on<R (C::*)(P...), First, M...> =
    std::derived_from<First, C> && begin_with<parameters<P...>, M...>;
template <class R, class C, class... P, class First, class... M>
inline constexpr bool is_call_on<R (C::*)(P...) const, First, M...> =
    std::derived_from<First, C> && begin_with<parameters<P...>, M...>;
template <class R, class C, class... P, class First, class... M>
inline constexpr bool is_call_on<R (C::*)(P...) noexcept, First, M...> =
    std::derived_from<First, C> && begin_with<parameters<P...>, M...>;
template <class R, class C, class... P, class First, class... M>
inline constexpr bool is_call_on<R (C::*)(P...) const noexcept, First, M...> =
    std::derived_from<First, C> && begin_with<parameters<P...>, M...>;
template <class R, class C, class... P, class First, class... M>
inline constexpr bool is_call_on<R (C::*)(P...)&, First, M...> =
    is_call_on<R (C::*)(P...), First, M...>;
template <class R, class C, class... P, class First, class... M>
inline constexpr bool is_call_on<R (C::*)(P...) const&, First, M...> =
    is_call_on<R (C::*)(P...), First, M...>;
template <class R, class C, class... P, class First, class... M>
inline constexpr bool is_call_on<R (C::*)(P...) & noexcept, First, M...> =
    is_call_on<R (C::*)(P...), First, M...>;
template <class R, class C, class... P, class First, class... M>
inline constexpr bool is_call_on<R (C::*)(P...) const & noexcept, First, M...> =
    is_call_on<R (C::*)(P...), First, M...>;

} // namespace sennit::detail

namespace sennit {
using detail::no_clause; // the result of waitfor when all its clauses are switched off
} // namespace sennit
