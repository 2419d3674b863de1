// SPDX-License-Identifier: Apache-2.0
// io::serve_when_readable: accepts connections and calls a function each time a connection has
// data. A connection that waits between its requests holds no stack.
//
//     sennit::io::serve_when_readable(door, {.idle = 60s}, [](sennit::io::tcp_stream& peer) {
//         std::array<std::byte, 4096> buffer;
//         const std::size_t n = peer.read_some(buffer);
//         if (n == 0) return sennit::io::served::close;     // The peer has ended its stream.
//         peer.write(std::span(buffer).first(n));
//         return sennit::io::served::keep;
//     });
//
// Use it for many connections that wait most of the time: keep-alive, chats, devices. Use `serve`
// where a connection is a conversation, or where requests follow each other closely.
//
// The handler runs in a fiber of its own, which ends when the handler returns. The handler may
// block: for the rest of a request, for another server. It reads as much as it wants and returns
// `keep`: the connection waits for its next byte, and the handler is called again. Bytes that the
// handler has taken from the stream and keeps elsewhere cause no call, so the handler should return
// only when it has used them all. `close` closes the connection. A call of the handler may find no
// byte, where another strand reads the same stream.
// A handler with a second parameter `State&` gets an object that lives as long as the connection,
// and is made without arguments at its beginning: `serve_when_readable<State>(…)`.
//
// Limits, the end and errors are those of `serve`, with three differences. `options.idle` is also
// the longest time between two calls of the handler; `on_error` then hears of timed_out. When the
// server ends, the connections that wait are closed at once, and the others when their handlers
// return. The errors of a wait name the operation "serve_when_readable".
// Cost of a connection that waits: 192 bytes, besides the state and the system's own. It causes no
// wake-up. A call of the handler costs a fiber more than a request in `serve`.
// bench_idle_connections measures both.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/io/detail/idle_clients.hpp"
#include "sennit/io/serve.hpp"

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <type_traits>
#include <utility>

namespace sennit::io {

// The next state of a connection, as its handler decides.
enum class served {
    keep,  // It waits for its next byte.
    close, // It is closed.
};

namespace detail {

struct no_state {};

// A handler of connections with a state.
template <class F, class Stream, class State>
concept request_handler =
    (std::same_as<State, no_state> && std::is_invocable_r_v<served, F&, Stream&>) ||
    std::is_invocable_r_v<served, F&, Stream&, State&>;

template <class Listener, class State, class F>
class readable_server : public idle_clients {
    using stream = typename Listener::stream_type;
    struct client final : idle_client {
        client(idle_clients& server, stream from) : idle_client(server), peer(std::move(from)) {}
        stream peer;
        [[no_unique_address]] State state{};
    };
    // Ends its connection.
    struct end_client {
        void operator()(client* one) const noexcept { one->server().end(*one); }
    };
    using owner = std::unique_ptr<client, end_client>;

public:
    readable_server(Listener& listener, const serve_options& options, F& handler, nursery& clients)
        : idle_clients(listener, options.most_clients,
                       options.idle.count() != 0 ? limit_of(options.idle) : sched::never, calls),
          listener_(listener), options_(options), handler_(handler), clients_(clients) {}
    ~readable_server() {
        stop();
        if (this->count().empty()) return;
        clients_.cancel(); // An exception leaves the server.
        this->count().join(false);
    }

    void begin(stream peer) {
        if (options_.idle.count() != 0) peer.timeout(options_.idle);
        auto fresh = std::make_unique<client>(*this, std::move(peer));
        this->count().add();
        continue_client(owner(fresh.release()));
    }
    // Throws the exception for which a fiber could not be started, if any.
    void throw_error() {
        std::lock_guard guard(lock_);
        if (failed_) std::rethrow_exception(failed_);
    }

private:
    // The connection waits, or a fiber serves it.
    void continue_client(owner one) {
        std::error_code failed;
        if (must_be_served(one, failed)) start(std::move(one), failed);
    }
    // Returns false if the connection waits, which takes it out of `one`, or has ended. True: it is
    // readable, or cannot wait, as `failed` says.
    bool must_be_served(owner& one, std::error_code& failed) {
        switch (this->wait(*one, one->peer, failed)) {
        case outcome::waits:
            (void)one.release();
            return false;
        case outcome::ended:
            return false;
        default:
            return true;
        }
    }
    // If the nursery is cancelled, or there is no memory for a fiber, `body` ends the connection,
    // and perhaps this object.
    void start(owner one, std::error_code failed) {
        auto body = [this, failed, one = std::move(one)]() mutable {
            handle_client(listener_, options_, clients_, [&] { serve(one, failed); });
        };
        try {
            clients_.start({.policy = launch::in_order}, std::move(body));
        } catch (...) {
            std::lock_guard guard(lock_);
            failed_ = std::current_exception();
            listener_.close();
        }
    }
    // In the fiber of the connection.
    void serve(owner& one, std::error_code failed) {
        check(failed, "serve_when_readable", one->peer);
        while (call(*one) == served::keep) {
            if (!must_be_served(one, failed)) return;
            check(failed, "serve_when_readable", one->peer);
            take_turns(one->peer);
        }
    }
    served call(client& one) {
        if constexpr (std::is_invocable_r_v<served, F&, stream&, State&>)
            return std::invoke(handler_, one.peer, one.state);
        else
            return std::invoke(handler_, one.peer);
    }

    // The wait of a connection has ended.
    static void run(idle_client& ended, std::error_code failed) noexcept {
        auto& me = static_cast<readable_server&>(ended.server());
        me.start(owner(&static_cast<client&>(ended)), failed);
    }
    static void destroy(idle_client& one) noexcept { delete &static_cast<client&>(one); }
    static constexpr functions calls{&run, &destroy};
    Listener& listener_;
    const serve_options& options_;
    F& handler_;
    nursery& clients_;
    base::spin_lock lock_; // Guards `failed_`.
    std::exception_ptr failed_;
};

} // namespace detail

template <class State = detail::no_state, class Listener, class F>
    requires detail::request_handler<std::decay_t<F>, typename Listener::stream_type, State>
void serve_when_readable(Listener& listener, const serve_options& options, F&& function) {
    std::decay_t<F> handler(std::forward<F>(function));
    const std::stop_callback on_stop(options.stop, [&listener]() noexcept { listener.close(); });
    nursery clients;
    detail::readable_server<Listener, State, std::decay_t<F>> server(listener, options, handler,
                                                                     clients);
    detail::accept_all(listener, server.count(),
                       [&](typename Listener::stream_type peer) { server.begin(std::move(peer)); });
    server.stop();
    try {
        with_timeout(options.drain, [&] { server.count().join(true); });
    } catch (const timed_out&) {
        clients.cancel();
        server.count().join(false);
    }
    clients.join();
    server.throw_error();
}
// Explains a call that the other overload refuses.
template <class State = detail::no_state, class Listener, class F>
base::refused_call serve_when_readable(Listener&, const serve_options&, F&&) {
    static_assert(
        base::refused<F>,
        "sennit: serve_when_readable calls the function with a stream&, and with a State& "
        "if a state is given; the function returns io::served");
    return {};
}

} // namespace sennit::io
