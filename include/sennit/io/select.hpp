// SPDX-License-Identifier: Apache-2.0
// on_readable, on_writable, on_accept and on_signal: cases of select and async_select.
//
//     sennit::select(
//         sennit::io::on_readable(peer, [&] { handle(peer.read_some(buffer)); }),
//         sennit::on_pop(outgoing, [&](std::string text) { peer.write(text); }),
//         sennit::on_stop(stop, [&] { peer.close(); }),
//         sennit::after(30s, [&] { peer.write("ping"); }));
//
// Use them to wait for a descriptor and for other events at a time. For a limit of time alone use
// `timeout` of the handle, which is cheaper.
//
// Only one case happens. The other cases have taken nothing: no byte, no connection, no signal.
// on_readable and on_writable say that a call would not block, or would fail: the end of a stream
// counts as readable. Where several strands read one stream, another strand may be faster.
// `cancel` and `close` of the handle, and errors of the system, end the wait: the case happens and
// calls `failed(std::error_code)`. Without that function select throws io::error. The limit of
// `timeout` does not apply.
// The handle must outlive the select, and must not be moved meanwhile. Cost: a system call, and an
// entry in the list of the descriptor, for each such case.
#pragma once

#include "sennit/detail/core/event_hook.hpp"
#include "sennit/io/signals.hpp"
#include "sennit/io/stream.hpp"
#include "sennit/io/tcp.hpp"
#include "sennit/io/unix.hpp"
#include "sennit/select.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <system_error>
#include <utility>

namespace sennit::io {

namespace detail {

// A case that waits for a direction of a descriptor.
class handle_case : public sennit::detail::select_case {
public:
    handle_case(const handle& on, bool for_writing) noexcept;
    handle_case(handle_case&& unused) noexcept; // Before the select begins.
    ~handle_case() override;
    void prepare() override;
    bool try_now(sched::wake_ups&) noexcept override { return immediate_; }
    bool enlist(sched::wait_entry& entry) noexcept override;
    void unlist(sched::wait_entry& entry) noexcept override;
    bool must_repeat() override;

protected:
    // Takes the event. Returns false if another strand was faster. May set `failed_`.
    virtual bool take();

    const handle* on_;
    std::error_code failed_{}; // The reason for which the wait has failed.

private:
    bool for_writing_;
    bool immediate_ = false; // Nothing has to be waited for.
    bool in_use_ = false;
    sched::event_wait wait_;
    std::uint32_t seen_ = 0;
    std::int64_t waits_since_ = -1; // io_record::not_yet
};

struct throw_failure {};

// Calls `failed` with the error, or throws it.
template <class E>
void report_failure(E& failed, const std::error_code& why, const handle& on) {
    if constexpr (std::same_as<E, throw_failure>)
        check(why, "select", on);
    else
        std::invoke(failed, why);
}

// A case with the user's functions.
template <class F, class E>
class calling_case : public handle_case {
protected:
    calling_case(const handle& on, bool for_writing, F function, E failed)
        : handle_case(on, for_writing), function_(std::move(function)),
          failure_(std::move(failed)) {}
    // Calls `function(results...)`, or the function for failures.
    template <class... Results>
    void call(Results&&... results) {
        if (failed_)
            report_failure(failure_, failed_, *on_);
        else
            std::invoke(function_, std::forward<Results>(results)...);
    }

private:
    F function_;
    [[no_unique_address]] E failure_;
};

template <class F, class E>
class ready_case final : public calling_case<F, E> {
public:
    ready_case(const handle& on, bool for_writing, F function, E failed)
        : calling_case<F, E>(on, for_writing, std::move(function), std::move(failed)) {}
    void happen() override { this->call(); }
};

template <class Listener, class F, class E>
class accept_case final : public calling_case<F, E> {
public:
    accept_case(Listener& at, F function, E failed)
        : calling_case<F, E>(at, false, std::move(function), std::move(failed)), at_(&at) {}
    void happen() override { this->call(std::move(accepted_)); }

private:
    bool take() override {
        accepted_ = at_->try_accept(this->failed_);
        if (this->failed_ != std::errc::operation_would_block) return true;
        this->failed_.clear();
        return false;
    }

    Listener* at_;
    typename Listener::stream_type accepted_;
};

template <class F, class E>
class signal_case final : public calling_case<F, E> {
public:
    signal_case(signals& from, F function, E failed)
        : calling_case<F, E>(from, false, std::move(function), std::move(failed)), from_(&from) {}
    void happen() override { this->call(signal_); }

private:
    bool take() override { return (signal_ = from_->try_wait()) != 0; }

    signals* from_;
    int signal_ = 0;
};

template <class E>
concept failure_handler = std::same_as<E, throw_failure> || std::invocable<E&, std::error_code>;

} // namespace detail

// A case that happens when a read of the handle, which may be a stream, a pipe, a socket of
// datagrams or a `borrowed`, would not block.
template <std::invocable F, detail::failure_handler E = detail::throw_failure>
detail::ready_case<F, E> on_readable(const handle& from, F function, E failed = {}) {
    return {from, false, std::move(function), std::move(failed)};
}
// A case that happens when a write would not block.
template <std::invocable F, detail::failure_handler E = detail::throw_failure>
detail::ready_case<F, E> on_writable(const handle& to, F function, E failed = {}) {
    return {to, true, std::move(function), std::move(failed)};
}
// A case that accepts a connection, and calls `function(stream)`.
template <class Listener, std::invocable<typename Listener::stream_type> F,
          detail::failure_handler E = detail::throw_failure>
detail::accept_case<Listener, F, E> on_accept(Listener& at, F function, E failed = {}) {
    return {at, std::move(function), std::move(failed)};
}
// A case that takes a signal, and calls `function(number)`.
template <std::invocable<int> F, detail::failure_handler E = detail::throw_failure>
detail::signal_case<F, E> on_signal(signals& from, F function, E failed = {}) {
    return {from, std::move(function), std::move(failed)};
}

} // namespace sennit::io
