// SPDX-License-Identifier: Apache-2.0
// asio::use_fiber: a completion token that blocks the caller until the operation has completed, and
// returns its result.
//
//     std::size_t n = socket.async_read_some(asio::buffer(data), sennit::asio::use_fiber);
//     timer.async_wait(sennit::asio::use_fiber);
//
//     asio::error_code failed;
//     n = socket.async_read_some(asio::buffer(data), sennit::asio::use_fiber[failed]);
//
// The caller may be a fiber, a forked child, a task, an actor's handler or a thread that is no
// worker. Its worker runs other work meanwhile.
// Result: the arguments of the completion without its error: nothing, one value, or a std::tuple.
// An error code is thrown as system_error, or stored by use_fiber[failed]. A std::exception_ptr is
// rethrown.
// Cancellation. The wait is a point of cancellation. If a scope or a time limit ends it, the
// operation gets Asio's cancellation (`terminal`), and the caller waits for the completion. An
// operation that was cut short throws `cancelled`. An operation that has completed in spite of it
// returns its result, so nothing is lost. A composed operation, such as async_read, that was cut
// short after some bytes returns their number with operation_aborted if the caller asks for the
// error code. An operation without support of cancellation is waited for.
// Thread safety. As everywhere in Asio, only one thread at a time may use an I/O object. The
// initiation runs in the caller, and the steps of the operation run in the executor of the object.
// Two fibers may share one object, such as a reader and a writer of a WebSocket, if both use
// `use_fiber.in_executor()`. The initiation then runs in the executor, too, at the cost of one more
// hop between threads. The object belongs to a `context`, or its executor is an asio::strand.
// Do not call it on the thread that runs the io_context: that thread would wait for itself.
// Cost: a wake-up of the thread that runs the reactor, if it sleeps, and one of a worker.
#pragma once

#include "sennit/asio/detail/modern.hpp"
#include "sennit/asio/detail/operation.hpp"

#include SENNIT_ASIO_HEADER(async_result.hpp)

#include <type_traits>
#include <utility>

namespace sennit::asio {
inline namespace SENNIT_ASIO_FLAVOUR {

class use_fiber_t {
public:
    constexpr use_fiber_t() noexcept = default;
    // The error code goes into `failed` instead of an exception; `failed` is cleared by success.
    constexpr use_fiber_t operator[](error_code& failed) const noexcept {
        use_fiber_t with = *this;
        with.error_ = &failed;
        return with;
    }
    // The initiation runs in the executor of the I/O object.
    constexpr use_fiber_t in_executor() const noexcept {
        use_fiber_t with = *this;
        with.in_executor_ = true;
        return with;
    }

    // For the token's own use.
    template <class Operation, class Initiation, class... I>
    typename Operation::result_type run(Initiation& initiation, I&... arguments) const {
        Operation wanted(initiation);
        wanted.check_thread();
        wanted.begin(in_executor_, initiation, arguments...);
        const bool was_cancelled = wanted.wait();
        return wanted.take(was_cancelled, error_);
    }

private:
    error_code* error_ = nullptr;
    bool in_executor_ = false;
};

inline constexpr use_fiber_t use_fiber;

} // namespace SENNIT_ASIO_FLAVOUR
} // namespace sennit::asio

template <class R, class... A>
class SENNIT_ASIO_NET::async_result<sennit::asio::use_fiber_t, R(A...)> {
    using operation = sennit::asio::waiting::operation<std::decay_t<A>...>;

public:
    using return_type = typename operation::result_type;

    template <class Initiation, class... I>
    static return_type initiate(Initiation initiation, sennit::asio::use_fiber_t token,
                                I... arguments) {
        return token.template run<operation>(initiation, arguments...);
    }
};
