// SPDX-License-Identifier: Apache-2.0
// One asynchronous operation of Asio and the fiber, thread or task that waits for it: the common
// part of use_fiber and use_task.
//
// The state lives in the frame of the waiter. The completion handler has its address.
//
//   field       written by                                   read by
//   values_     the handler, before it drops its part        the waiter, after the end
//   failed_     the initiation, before it drops its part     the waiter, after the end
//   signal_     the operation, and a request, in executor_   the operation, in executor_
//   executor_   the waiter, before the initiation            all
//
// Asio's cancellation signals are not thread-safe: an operation stores into its slot whenever it
// begins the next step. So all steps run in `executor_`, which runs one function at a time, and a
// request of cancellation is posted to it. For an object of a `context` it is the executor of the
// context's thread. For all other objects it is a strand of the operation's own over the executor
// of the object.
//
// Cancellation. C1: the scope of the waiter ends its wait. C2: the waiter posts a request, which
// emits the signal unless the operation has completed. C3: it waits for the completion and for the
// request, without a scope. So the frame outlives both. A result that came in spite of the request
// is delivered, and nothing is lost. The error operation_aborted becomes `cancelled`, unless the
// caller asks for an error code, and bytes were transferred before.
// A handler that is destroyed without a call ends the wait, too. A context does so when it ends.
#pragma once

#include "sennit/asio/context.hpp"
#include "sennit/asio/detail/modern.hpp"
#include "sennit/asio/executor.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/inside_scope.hpp"
#include "sennit/detail/core/operation_end.hpp"

#include SENNIT_ASIO_HEADER(any_io_executor.hpp)
#include SENNIT_ASIO_HEADER(async_result.hpp)
#include SENNIT_ASIO_HEADER(cancellation_signal.hpp)
#include SENNIT_ASIO_HEADER(dispatch.hpp)
#include SENNIT_ASIO_HEADER(post.hpp)
#include SENNIT_ASIO_HEADER(strand.hpp)
#include SENNIT_ASIO_HEADER(system_executor.hpp)

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace sennit::asio {
inline namespace SENNIT_ASIO_FLAVOUR {
namespace waiting {

// The type that a token returns for the arguments of a completion, without an error at the front:
// nothing, one value, or a tuple.
template <class... T>
struct joined {
    using type = std::tuple<T...>;
};
template <>
struct joined<> {
    using type = void;
};
template <class T>
struct joined<T> {
    using type = T;
};
template <class... A>
struct result_of : joined<A...> {};
template <class... A>
struct result_of<error_code, A...> : joined<A...> {};
template <class... A>
struct result_of<std::exception_ptr, A...> : joined<A...> {};

// The part that does not depend on the values.
class operation_base {
public:
    operation_base(const operation_base&) = delete;

    sched::operation_end& end() noexcept { return end_; }
    net::any_io_executor executor() const noexcept { return executor_; }
    net::cancellation_slot slot() noexcept { return signal_.slot(); }
    // The executor of the object; empty: it has none.
    const net::any_io_executor& of_object() const noexcept { return of_object_; }

    // C1 to C3, and the wait before them. Returns true if the wait was cancelled.
    bool wait() noexcept {
        check_thread();
        if (end_.wait(true)) return false;
        request_cancellation();
        (void)end_.wait(false);
        return true;
    }
    void request_cancellation() noexcept {
        end_.add_part();
        try {
            net::post(executor_, request(*this));
        } catch (...) {
            // No memory for the request, which has dropped its part. The operation is not cut
            // short; the next wait in the scope throws `cancelled`.
        }
    }
    // A wait of the context's own thread would never end.
    void check_thread() const noexcept {
        SENNIT_CHECK(!own_thread_ || !own_thread_->running_in_this_thread(),
                     "[SNT-482] a handler on the thread of an asio::context blocks in use_fiber, "
                     "so that no operation could complete; run the handler on "
                     "context::get_executor() instead of io_executor()");
    }
    bool completed() const noexcept { return completed_.load_acq() != 0; } // Pairs with note.

protected:
    template <class Initiation>
    explicit operation_base(const Initiation& initiation) {
        if constexpr (requires { net::any_io_executor(initiation.get_executor()); })
            of_object_ = net::any_io_executor(initiation.get_executor());
        // Asio 1.22 does not check the type of a target.
        if (of_object_ && of_object_.target_type() == typeid(sennit::asio::executor)) {
            const auto* over = of_object_.target<sennit::asio::executor>();
            own_thread_ = sennit::asio::context::thread_of(*over);
            executor_ = *own_thread_;
        } else if (of_object_) {
            executor_ = net::make_strand(of_object_);
        } else {
            executor_ = net::make_strand(net::any_io_executor(net::system_executor()));
        }
    }
    ~operation_base() = default;

    void note_completion() noexcept { completed_.store_rel(1); } // Pairs with completed.

private:
    // The request of cancellation, on its way to the executor.
    class request {
    public:
        explicit request(operation_base& of) noexcept : of_(&of) {}
        request(request&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        ~request() {
            if (of_) of_->end_.drop_part();
        }
        void operator()() {
            if (!of_->completed()) of_->signal_.emit(net::cancellation_type::terminal);
        }

    private:
        operation_base* of_;
    };

    sched::operation_end end_{"asio operation"};
    net::cancellation_signal signal_;
    net::any_io_executor of_object_;
    net::any_io_executor executor_;
    std::optional<net::io_context::executor_type> own_thread_;
    base::atomic<std::uint32_t> completed_{0};
};

template <class... A>
class operation;

// The completion handler.
template <class... A>
class handler {
public:
    using executor_type = net::any_io_executor;
    using cancellation_slot_type = net::cancellation_slot;

    explicit handler(operation<A...>& of) noexcept : of_(&of) {}
    handler(handler&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    handler& operator=(handler&& other) noexcept {
        std::swap(of_, other.of_);
        return *this;
    }
    ~handler() {
        if (of_) of_->end().drop_part();
    }

    template <class... B>
    void operator()(B&&... values) {
        of_->complete(std::forward<B>(values)...);
        std::exchange(of_, nullptr)->end().drop_part();
    }
    executor_type get_executor() const noexcept { return of_->executor(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return of_->slot(); }

private:
    operation<A...>* of_; // Null: moved away, or called.
};

template <class... A>
class operation : public operation_base {
public:
    using result_type = typename result_of<A...>::type;

    template <class Initiation>
    explicit operation(const Initiation& initiation) : operation_base(initiation) {}

    // Begins the operation, in the caller or in the executor of its object. `arguments` must live
    // until the end. Throws the exceptions of the initiation.
    template <class Initiation, class... I>
    void begin(bool in_executor, Initiation& initiation, I&... arguments) {
        if (!in_executor || !of_object()) {
            std::move(initiation)(handler<A...>(*this), std::move(arguments)...);
            return;
        }
        end().add_part(); // Of the initiation.
        auto initiate = [this, &initiation, &arguments...](handler<A...>&& with) {
            try {
                std::move(initiation)(std::move(with), std::move(arguments)...);
            } catch (...) {
                failed_ = std::current_exception();
            }
        };
        net::dispatch(executor(), initiator<decltype(initiate)>(*this, std::move(initiate)));
    }
    // Called by the handler.
    template <class... B>
    void complete(B&&... values) {
        values_.emplace(std::forward<B>(values)...);
        note_completion();
    }

    // After the end. Returns or throws the result. `error`, if it is not null, gets the error code
    // in place of an exception.
    result_type take(bool was_cancelled, error_code* error) {
        if (failed_) std::rethrow_exception(failed_);
        if (!values_) return abandoned(was_cancelled, error);
        if constexpr (sizeof...(A) == 0) {
            return;
        } else {
            using first = std::tuple_element_t<0, std::tuple<A...>>;
            if constexpr (std::is_same_v<first, error_code>) {
                const error_code& code = std::get<0>(*values_);
                if (was_cancelled && code == net::error::operation_aborted)
                    if (!error || !transferred_some()) throw cancelled();
                if (error)
                    *error = code;
                else if (code)
                    throw system_error(code);
                return rest<1>();
            } else if constexpr (std::is_same_v<first, std::exception_ptr>) {
                if (const std::exception_ptr thrown = std::get<0>(*values_))
                    throw_aborted(was_cancelled, thrown);
                return rest<1>();
            } else {
                return rest<0>();
            }
        }
    }

private:
    // An initiation on its way to the executor, with the handler.
    template <class F>
    class initiator {
    public:
        initiator(operation& of, F&& initiate)
            : part_(&of), initiate_(std::move(initiate)), with_(of) {}
        initiator(initiator&& other) noexcept
            : part_(std::exchange(other.part_, nullptr)), initiate_(std::move(other.initiate_)),
              with_(std::move(other.with_)) {}
        ~initiator() {
            if (part_) part_->end().drop_part();
        }
        void operator()() { initiate_(std::move(with_)); }

    private:
        operation* part_;
        F initiate_;
        handler<A...> with_;
    };

    // A composed operation that was cut short may have transferred bytes. The form with an error
    // code reports their number.
    bool transferred_some() const noexcept {
        if constexpr (sizeof...(A) == 2) {
            if constexpr (std::is_same_v<std::tuple_element_t<1, std::tuple<A...>>, std::size_t>)
                return std::get<1>(*values_) != 0;
        }
        return false;
    }
    // The handler was destroyed without a call.
    static result_type abandoned(bool was_cancelled, error_code* error) {
        if (was_cancelled) throw cancelled();
        const error_code code = net::error::operation_aborted;
        if constexpr (std::is_void_v<result_type> || std::is_default_constructible_v<result_type>)
            if (error) {
                *error = code;
                return result_type();
            }
        throw system_error(code, "sennit: [SNT-481] the execution context of an operation ended "
                                 "before the operation completed; let the context outlive the "
                                 "fibers that use its objects");
    }
    // An operation over coroutines reports its cancellation by an exception.
    [[noreturn]] static void throw_aborted(bool was_cancelled, const std::exception_ptr& thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const system_error& failed) {
            if (was_cancelled && failed.code() == net::error::operation_aborted) throw cancelled();
            throw;
        }
    }
    // The values from number `From` on.
    template <std::size_t From>
    result_type rest() {
        constexpr std::size_t count = sizeof...(A) - From;
        if constexpr (count == 0)
            return;
        else if constexpr (count == 1)
            return std::get<From>(std::move(*values_));
        else
            return several<From>(std::make_index_sequence<count>());
    }
    template <std::size_t From, std::size_t... I>
    result_type several(std::index_sequence<I...>) {
        return result_type(std::get<From + I>(std::move(*values_))...);
    }

    std::optional<std::tuple<A...>> values_;
    std::exception_ptr failed_;
};

} // namespace waiting
} // namespace SENNIT_ASIO_FLAVOUR
} // namespace sennit::asio
