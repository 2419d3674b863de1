// SPDX-License-Identifier: Apache-2.0
// sender_run: the operation of a sender for which a strand or a thread waits, and its result.
//
// The object lies in the frame of the waiter. The completion writes the result, and then drops the
// only part of `end`; from that moment on the waiter may destroy the object. A cancelled scope ends
// the first wait; the waiter then requests the stop of the operation, and waits for its completion
// without a limit. So the operation has always completed when the object is destroyed.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/operation_end.hpp"
#include "sennit/execution/detail/implementation.hpp"
#include "sennit/execution/scheduler.hpp"
#include "sennit/detail/core/task_result.hpp"

#include <exception>
#include <system_error>
#include <type_traits>
#include <utility>

namespace sennit::execution {
inline namespace SENNIT_EXECUTION_FLAVOUR {
namespace detail {

// The environment of the receiver: the workers of a runtime, and a stop token.
class wait_env {
public:
    wait_env(runtime_scheduler where, ex_std::inplace_stop_token stop) noexcept
        : where_(where), stop_(stop) {}
    ex_std::inplace_stop_token query(ex_std::get_stop_token_t) const noexcept { return stop_; }
    runtime_scheduler query(ex::get_scheduler_t) const noexcept { return where_; }
    runtime_scheduler query(ex::get_delegation_scheduler_t) const noexcept { return where_; }
    static runtime_domain query(ex::get_domain_t) noexcept { return {}; }
#if SENNIT_EXECUTION_COMPLETION_DOMAIN
    runtime_scheduler query(ex::get_start_scheduler_t) const noexcept { return where_; }
#endif

private:
    runtime_scheduler where_;
    ex_std::inplace_stop_token stop_;
};

// True for a sender that a task can await: it sends values in at most one way.
template <class S>
concept waitable_sender = ex::sender_in<S, wait_env> && sent_by<S, wait_env>::valid;

template <class V>
class sender_result {
public:
    explicit sender_result(runtime_scheduler where) noexcept : where_(where) {}
    sender_result(const sender_result&) = delete;

    class receiver {
    public:
        using receiver_concept = ex::SENNIT_EXECUTION_TAG(receiver);
        explicit receiver(sender_result& to) noexcept : to_(&to) {}
        template <class... A>
        void set_value(A&&... values) noexcept {
            try {
                to_->result_.set_value(std::forward<A>(values)...);
            } catch (...) {
                to_->result_.set_error(std::current_exception());
            }
            to_->end_.drop_part();
        }
        template <class E>
        void set_error(E&& error) noexcept {
            to_->result_.set_error(as_exception(std::forward<E>(error)));
            to_->end_.drop_part();
        }
        void set_stopped() noexcept {
            to_->stopped_ = true;
            to_->end_.drop_part();
        }
        wait_env get_env() const noexcept { return {to_->where_, to_->stop_.get_token()}; }

    private:
        sender_result* to_;
    };

    sched::operation_end& end() noexcept { return end_; }
    void request_stop() noexcept { stop_.request_stop(); }
    bool stopped() const noexcept { return stopped_; }
    // Once the operation has completed. Throws its error, and `cancelled` if it was stopped.
    V take() {
        if (stopped_) throw cancelled();
        return result_.take();
    }

private:
    template <class E>
    static std::exception_ptr as_exception(E&& error) noexcept {
        if constexpr (std::is_same_v<std::remove_cvref_t<E>, std::exception_ptr>)
            return std::forward<E>(error);
        else if constexpr (std::is_same_v<std::remove_cvref_t<E>, std::error_code>)
            return std::make_exception_ptr(std::system_error(error));
        else
            return std::make_exception_ptr(std::forward<E>(error));
    }

    runtime_scheduler where_;
    ex_std::inplace_stop_source stop_;
    sched::operation_end end_{"sender"};
    sennit::detail::task_result<V> result_;
    bool stopped_ = false;
};

template <class S, class V>
class sender_run : public sender_result<V> {
public:
    // Throws the exceptions of `connect`.
    sender_run(S&& sender, runtime_scheduler where)
        : sender_result<V>(where),
          operation_(ex::connect(std::forward<S>(sender),
                                 typename sender_result<V>::receiver(*this))) {}
    void start() noexcept { ex::start(operation_); }

private:
    ex::connect_result_t<S, typename sender_result<V>::receiver> operation_;
};

} // namespace detail
} // namespace SENNIT_EXECUTION_FLAVOUR
} // namespace sennit::execution
