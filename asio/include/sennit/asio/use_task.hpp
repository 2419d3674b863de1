// SPDX-License-Identifier: Apache-2.0
// asio::use_task: a completion token that makes a task of an operation, for coroutines.
//
//     sennit::task<> echo(asio::ip::tcp::socket peer) {
//         std::array<char, 1024> data;
//         for (;;) {
//             std::size_t n = co_await peer.async_read_some(asio::buffer(data), use_task);
//             co_await asio::async_write(peer, asio::buffer(data, n), use_task);
//         }
//     }
//
// The operation begins when the task is awaited, or spawned. The object of the operation must
// live until the task has ended, and so must the buffers of its arguments. Results, errors,
// cancellation and thread safety are as with `use_fiber`: see use_fiber.hpp.
// Cost: the frame of a coroutine, besides the costs of use_fiber.
#pragma once

#include "sennit/asio/detail/modern.hpp"
#include "sennit/asio/detail/operation.hpp"
#include "sennit/task/task.hpp"

#include SENNIT_ASIO_HEADER(async_result.hpp)

#include <type_traits>
#include <utility>

namespace sennit::asio {
inline namespace SENNIT_ASIO_FLAVOUR {

class use_task_t {
public:
    constexpr use_task_t() noexcept = default;
    // The error code goes into `failed`, which must live until the task has ended.
    constexpr use_task_t operator[](error_code& failed) const noexcept {
        use_task_t with = *this;
        with.error_ = &failed;
        return with;
    }
    // The initiation runs in the executor of the I/O object.
    constexpr use_task_t in_executor() const noexcept {
        use_task_t with = *this;
        with.in_executor_ = true;
        return with;
    }

    // For the token's own use. The copies of the parameters are the last owners of the arguments.
    template <class Operation, class Initiation, class... I>
    static task<typename Operation::result_type> run(use_task_t self, Initiation initiation,
                                                     I... arguments) {
        Operation wanted(initiation);
        wanted.begin(self.in_executor_, initiation, arguments...);
        const bool was_cancelled = !co_await wanted.end().async_wait(true);
        if (was_cancelled) {
            wanted.request_cancellation();
            co_await wanted.end().async_wait(false);
        }
        co_return wanted.take(was_cancelled, self.error_);
    }

private:
    error_code* error_ = nullptr;
    bool in_executor_ = false;
};

inline constexpr use_task_t use_task;

} // namespace SENNIT_ASIO_FLAVOUR
} // namespace sennit::asio

template <class R, class... A>
class SENNIT_ASIO_NET::async_result<sennit::asio::use_task_t, R(A...)> {
    using operation = sennit::asio::waiting::operation<std::decay_t<A>...>;

public:
    using return_type = sennit::task<typename operation::result_type>;

    template <class Initiation, class... I>
    static return_type initiate(Initiation initiation, sennit::asio::use_task_t token,
                                I... arguments) {
        return token.run<operation>(token, std::move(initiation), std::move(arguments)...);
    }
};
