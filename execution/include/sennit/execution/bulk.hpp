// SPDX-License-Identifier: Apache-2.0
// execution::runtime_domain: the domain of runtime_scheduler, which runs bulk_chunked,
// bulk_unchunked, and with them bulk, as parallel loops of sennit/par.hpp.
//
//     auto work = ex::schedule(workers) | ex::bulk(ex::par, pixels.size(), tone_map_pixel);
//
// You need not name the domain: each algorithm asks the scheduler for it. The policies seq and
// unseq run the function on one worker. With par and par_unseq every free worker takes a part. The
// loop sizes its chunks by the time that they take, like `par::for_each`. The chunks of
// bulk_unchunked have one index.
//
// The function may block in all calls of Sennit. The first exception, in the order of the indices,
// arrives as set_error. A stop request drops the chunks that have not started, cancels the waits of
// those that run, and arrives as set_stopped.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/inside_scope.hpp"
#include "sennit/execution/detail/implementation.hpp"
#include "sennit/execution/detail/stop_scope.hpp"
#include "sennit/execution/scheduler.hpp"
#include "sennit/par/detail/lazy_loop.hpp"
#include "sennit/par/with.hpp"

#include <concepts>
#include <cstddef>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sennit::execution {
inline namespace SENNIT_EXECUTION_FLAVOUR {

namespace detail {

enum class loop_kind { serial, chunked, unchunked };

// Calls `body(first, last)` for chunks of `count` indices, in a scope that `token` cancels. Throws
// the first exception of the body, or `cancelled`.
template <class Token, class Body>
void run_bulk(loop_kind kind, std::size_t count, Token token, const Body& body) {
    if (kind == loop_kind::serial) {
        if (count != 0) body(std::size_t{0}, count);
        return;
    }
    stop_scope<Token> stop;
    std::optional<sched::inside_scope> inside;
    if constexpr (!ex_std::unstoppable_token<Token>) inside.emplace(*stop.scope());
    stop.begin(std::move(token));
    struct ending {
        stop_scope<Token>& stop;
        ~ending() { stop.end(); }
    } at_end{stop};
    par::with options;
    if (kind == loop_kind::unchunked) options.max_grain = 1;
    par::detail::run_chunks(options, count, body);
}

// The completion signatures of a bulk sender: those of its child, and the added ones.
template <class Have, class... Added>
struct with_signatures {
    using type = Have;
};
template <class... Have, class First, class... Added>
struct with_signatures<ex::completion_signatures<Have...>, First, Added...>
    : with_signatures<std::conditional_t<(std::same_as<Have, First> || ...),
                                         ex::completion_signatures<Have...>,
                                         ex::completion_signatures<Have..., First>>,
                      Added...> {};
template <class Child, class... Env>
consteval auto bulk_completions() {
    using have = ex::completion_signatures_of_t<Child, Env...>;
    using failing = typename with_signatures<have, ex::set_error_t(std::exception_ptr)>::type;
    if constexpr (may_stop<Env...>)
        return typename with_signatures<failing, ex::set_stopped_t()>::type{};
    else
        return failing{};
}

template <class Shape, class F, class R>
struct bulk_state {
    loop_kind kind;
    Shape shape;
    [[no_unique_address]] F function;
    [[no_unique_address]] R receiver;
};

template <bool Chunked, class Shape, class F, class R>
class bulk_receiver {
public:
    using receiver_concept = ex::SENNIT_EXECUTION_TAG(receiver);
    using state = bulk_state<Shape, F, R>;

    explicit bulk_receiver(state& of) noexcept : of_(&of) {}

    template <class... V>
    void set_value(V&&... sent) noexcept {
        std::exception_ptr error;
        [[maybe_unused]] bool stopped = false;
        try {
            std::tuple<std::decay_t<V>...> values(std::forward<V>(sent)...);
            run(values);
            return std::apply(
                [this](auto&&... each) noexcept {
                    ex::set_value(std::move(of_->receiver), std::move(each)...);
                },
                std::move(values));
        } catch (const cancelled&) {
            stopped = true;
            error = std::current_exception();
        } catch (...) {
            error = std::current_exception();
        }
        if constexpr (may_stop<ex::env_of_t<R>>)
            if (stopped) return ex::set_stopped(std::move(of_->receiver));
        ex::set_error(std::move(of_->receiver), std::move(error));
    }
    template <class E>
    void set_error(E&& error) noexcept {
        ex::set_error(std::move(of_->receiver), std::forward<E>(error));
    }
    void set_stopped() noexcept { ex::set_stopped(std::move(of_->receiver)); }
    auto get_env() const noexcept { return ex::get_env(of_->receiver); }

private:
    template <class Values>
    void run(Values& values) {
        const auto body = [this, &values](std::size_t first, std::size_t last) {
            std::apply(
                [&](auto&... each) {
                    if constexpr (Chunked)
                        of_->function(static_cast<Shape>(first), static_cast<Shape>(last), each...);
                    else
                        for (; first != last; ++first)
                            of_->function(static_cast<Shape>(first), each...);
                },
                values);
        };
        const std::size_t count =
            std::cmp_less(of_->shape, 1) ? 0 : static_cast<std::size_t>(of_->shape);
        run_bulk(of_->kind, count, stop_token(of_->receiver), body);
    }
    state* of_;
};

template <class Child, bool Chunked, class Shape, class F, class R>
class bulk_operation {
    using receiver_type = bulk_receiver<Chunked, Shape, F, R>;

public:
    using operation_state_concept = ex::SENNIT_EXECUTION_TAG(operation_state);
    bulk_operation(Child&& child, loop_kind kind, Shape shape, F&& function, R&& receiver)
        : state_{kind, shape, std::move(function), std::move(receiver)},
          child_(ex::connect(std::forward<Child>(child), receiver_type(state_))) {}
    bulk_operation(const bulk_operation&) = delete;
    void start() & noexcept { ex::start(child_); }

private:
    bulk_state<Shape, F, R> state_;
    ex::connect_result_t<Child, receiver_type> child_;
};

template <class Child, bool Chunked, class Shape, class F>
class bulk_sender {
public:
    using sender_concept = ex::SENNIT_EXECUTION_TAG(sender);

    bulk_sender(Child child, loop_kind kind, Shape shape, F function)
        : child_(std::move(child)), kind_(kind), shape_(shape), function_(std::move(function)) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return bulk_completions<Child, Env...>();
    }
    template <class Env>
    auto get_completion_signatures(const Env&) const {
        return bulk_completions<Child, Env>();
    }
    template <ex::receiver R>
    bulk_operation<Child, Chunked, Shape, F, R> connect(R receiver) && {
        return {std::move(child_), kind_, shape_, std::move(function_), std::move(receiver)};
    }
    template <ex::receiver R>
        requires std::copy_constructible<Child>
    bulk_operation<Child, Chunked, Shape, F, R> connect(R receiver) const& {
        return {Child(child_), kind_, shape_, F(function_), std::move(receiver)};
    }
    auto get_env() const noexcept { return ex::get_env(child_); }

private:
    Child child_;
    loop_kind kind_;
    Shape shape_;
    [[no_unique_address]] F function_;
};

template <class S>
concept bulk_of_chunks = std::same_as<ex::tag_of_t<S>, ex::bulk_chunked_t>;
template <class S>
concept bulk_of_indices = std::same_as<ex::tag_of_t<S>, ex::bulk_unchunked_t>;
template <class S>
concept bulk_loop = ex::sender<S> && (bulk_of_chunks<S> || bulk_of_indices<S>);

// The policy of a bulk sender, which some implementations wrap.
template <class P>
const auto& policy_of(const P& policy) noexcept {
    if constexpr (requires { policy.__get(); })
        return policy.__get();
    else
        return policy;
}
template <class P>
inline constexpr bool parallel_policy =
    std::is_same_v<P, std::remove_cvref_t<decltype(ex::par)>> ||
    std::is_same_v<P, std::remove_cvref_t<decltype(ex::par_unseq)>>;

template <class S>
auto make_bulk(S&& sender) {
    constexpr bool chunked = bulk_of_chunks<S>;
    auto&& [tag, data, child] = std::forward<S>(sender);
    auto& [policy, shape, function] = data;
    using policy_type = std::remove_cvref_t<decltype(policy_of(policy))>;
    using child_type = std::remove_cvref_t<decltype(child)>;
    using shape_type = std::remove_cvref_t<decltype(shape)>;
    using function_type = std::remove_cvref_t<decltype(function)>;
    const loop_kind kind = !parallel_policy<policy_type> ? loop_kind::serial
                           : chunked                     ? loop_kind::chunked
                                                         : loop_kind::unchunked;
    const auto give = [](auto& member) -> decltype(auto) {
        if constexpr (std::is_lvalue_reference_v<S> || std::is_const_v<S>)
            return std::as_const(member);
        else
            return std::move(member);
    };
    return bulk_sender<child_type, chunked, shape_type, function_type>(
        child_type(give(child)), kind, shape, function_type(give(function)));
}

} // namespace detail

class runtime_domain {
public:
    // Called by the implementation: replaces a bulk sender by a parallel loop.
    template <detail::bulk_loop S, class Env>
    auto transform_sender(S&& sender, const Env&) const {
        return detail::make_bulk(std::forward<S>(sender));
    }
    template <detail::bulk_loop S>
    auto transform_sender(S&& sender) const {
        return detail::make_bulk(std::forward<S>(sender));
    }
    template <detail::bulk_loop S, class Env>
    auto transform_sender(ex::set_value_t, S&& sender, const Env&) const {
        return detail::make_bulk(std::forward<S>(sender));
    }
};

inline runtime_domain detail::runtime_env::query(ex::get_domain_t) noexcept {
    return {};
}
inline runtime_domain runtime_scheduler::query(ex::get_domain_t) noexcept {
    return {};
}
#if SENNIT_EXECUTION_COMPLETION_DOMAIN
template <detail::value_or_stopped Tag>
runtime_domain detail::runtime_env::query(ex::get_completion_domain_t<Tag>) noexcept {
    return {};
}
template <detail::value_or_stopped Tag>
runtime_domain runtime_scheduler::query(ex::get_completion_domain_t<Tag>) noexcept {
    return {};
}
#endif

} // namespace SENNIT_EXECUTION_FLAVOUR
} // namespace sennit::execution
