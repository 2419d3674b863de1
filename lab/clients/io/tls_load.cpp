// SPDX-License-Identifier: Apache-2.0
#include "tls_load.hpp"

#include <stdexcept>

#ifndef LAB_OPENSSL
namespace lab::io {

struct tls_load::state {};
tls_load::tls_load(std::uint16_t, std::size_t) {
    throw std::runtime_error("this client was built without OpenSSL (package libssl-dev)");
}
tls_load::~tls_load() = default;
times tls_load::echo(std::uint64_t) {
    return {};
}
times tls_load::handshakes(std::uint64_t) {
    return {};
}

} // namespace lab::io
#else

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace lab::io {

using context = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;

namespace {

// `operation` has failed in OpenSSL, or over the network.
[[noreturn]] void refuse_tls(const std::string& operation) {
    std::array<char, 200> reason{};
    if (const unsigned long code = ERR_get_error(); code != 0)
        ERR_error_string_n(code, reason.data(), reason.size());
    throw std::runtime_error(operation +
                             (reason[0] ? std::string(": ") + reason.data()
                                        : ": the server closed a connection before its reply"));
}

context made_context() {
    context made(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
    if (!made || SSL_CTX_set_min_proto_version(made.get(), TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(made.get(), "TLS_AES_128_GCM_SHA256") != 1 ||
        SSL_CTX_set1_groups_list(made.get(), "X25519") != 1)
        refuse_tls("setting up TLS");
    SSL_CTX_set_read_ahead(made.get(), 1);
    SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(made.get(), SSL_VERIFY_NONE, nullptr);
    return made;
}

} // namespace

struct tls_connection {
    int socket = -1;
    std::unique_ptr<SSL, void (*)(SSL*)> ssl{nullptr, &SSL_free};
    bool ready = false; // The handshake is done.
    message request{}, received{};
    std::size_t filled = 0; // Bytes of `received`.
    clock::time_point begin;
};

struct tls_load::state {
    context with = made_context();
    std::uint16_t port;
    std::size_t connected = 0; // So many times.
    std::vector<tls_connection> all;
    int set = -1;
    std::uint64_t next = 1; // Number of a request.

    state(std::uint16_t to, std::size_t connections) : port(to), all(connections) {
        std::signal(SIGPIPE, SIG_IGN); // OpenSSL writes to sockets whose server has gone.
        set = ::epoll_create1(EPOLL_CLOEXEC);
        if (set < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
    }
    ~state() {
        for (tls_connection& one : all) close(one);
        ::close(set);
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;

    void connect(std::size_t index) {
        tls_connection& one = all[index];
        one.socket = connect_to_server(port, connected++);
        one.ssl.reset(SSL_new(with.get()));
        one.ready = false;
        one.filled = 0;
        if (!one.ssl || SSL_set_fd(one.ssl.get(), one.socket) != 1)
            refuse_tls("a connection of TLS");
        SSL_set_connect_state(one.ssl.get());
        non_blocking(one.socket);
        epoll_event wanted{};
        wanted.events = EPOLLIN;
        wanted.data.u64 = index;
        if (::epoll_ctl(set, EPOLL_CTL_ADD, one.socket, &wanted) != 0)
            throw std::system_error(errno, std::generic_category(), "epoll_ctl");
        shake_hands(one);
    }
    // Says that it closes, and does not wait for the server's answer.
    static void close(tls_connection& one) {
        if (one.socket < 0) return;
        if (one.ready) SSL_shutdown(one.ssl.get());
        ERR_clear_error();
        one.ssl.reset();
        ::close(std::exchange(one.socket, -1));
    }
    static void non_blocking(int socket) {
        const int flags = ::fcntl(socket, F_GETFL);
        if (flags < 0 || ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) != 0)
            throw std::system_error(errno, std::generic_category(), "fcntl");
    }
    // False: more must come.
    static bool shake_hands(tls_connection& one) {
        if (!one.ready) {
            const int result = SSL_do_handshake(one.ssl.get());
            one.ready = result == 1;
            if (!one.ready && SSL_get_error(one.ssl.get(), result) != SSL_ERROR_WANT_READ)
                refuse_tls("the handshake");
        }
        return one.ready;
    }
    void send(tls_connection& one) {
        const std::uint64_t seed = next++ * 0x9E37'79B9'7F4A'7C15;
        for (std::size_t word = 0; word < one.request.size(); ++word)
            one.request[word] = seed ^ (seed >> (2 * word));
        one.filled = 0;
        // No other request is under way, so the socket has room.
        if (SSL_write(one.ssl.get(), one.request.data(), sizeof(message)) != sizeof(message))
            refuse_tls("sending a request");
    }
    // False: more must come.
    static bool receive(tls_connection& one) {
        char* into = reinterpret_cast<char*>(one.received.data()); // SAFETY: bytes of plain words.
        const int n = SSL_read(one.ssl.get(), into + one.filled,
                               static_cast<int>(sizeof(message) - one.filled));
        if (n <= 0) {
            if (SSL_get_error(one.ssl.get(), n) != SSL_ERROR_WANT_READ)
                refuse_tls("receiving a reply");
            return false;
        }
        one.filled += static_cast<std::size_t>(n);
        if (one.filled < sizeof(message)) return false;
        if (one.received != one.request)
            throw std::runtime_error("the server sent a wrong reply: its bytes are not those "
                                     "expected");
        return true;
    }
    // Calls `f(index)` for connections that are readable, until it returns false.
    template <class F>
    void wait_while(F f) {
        std::array<epoll_event, 256> events;
        for (bool more = true; more;) {
            const int n = ::epoll_wait(set, events.data(), events.size(), -1);
            if (n < 0 && errno != EINTR)
                throw std::system_error(errno, std::generic_category(), "epoll_wait");
            for (int i = 0; i < n; ++i)
                more = f(events[static_cast<std::size_t>(i)].data.u64) && more;
        }
    }
};

tls_load::tls_load(std::uint16_t port, std::size_t connections)
    : state_(std::make_unique<state>(port, connections)) {
    std::size_t shaken = 0;
    for (std::size_t i = 0; i < connections; ++i) {
        state_->connect(i);
        shaken += state_->all[i].ready;
    }
    if (shaken < connections)
        state_->wait_while([&](std::size_t index) {
            tls_connection& one = state_->all[index];
            if (!one.ready && state_->shake_hands(one)) ++shaken;
            return shaken < connections;
        });
}

tls_load::~tls_load() = default;

times tls_load::echo(std::uint64_t requests) {
    times all;
    all.reserve(requests);
    std::uint64_t left = requests;
    const auto send = [&](tls_connection& one) {
        if (left == 0) return;
        --left;
        one.begin = clock::now();
        state_->send(one);
    };
    for (tls_connection& one : state_->all) send(one);
    state_->wait_while([&](std::size_t index) {
        tls_connection& one = state_->all[index];
        if (state_->receive(one)) {
            all.push_back(nanoseconds(clock::now() - one.begin));
            send(one);
        }
        return all.size() < requests;
    });
    return all;
}

times tls_load::handshakes(std::uint64_t connections) {
    times all;
    all.reserve(connections);
    std::uint64_t left = connections;
    const auto begin = [&](std::size_t index) {
        tls_connection& one = state_->all[index];
        state_->close(one);
        if (left == 0) return;
        --left;
        one.begin = clock::now();
        state_->connect(index);
        if (one.ready) state_->send(one); // The server has answered meanwhile.
    };
    for (std::size_t i = 0; i < state_->all.size(); ++i) begin(i);
    state_->wait_while([&](std::size_t index) {
        tls_connection& one = state_->all[index];
        if (!one.ready) {
            if (state_->shake_hands(one)) state_->send(one);
        } else if (state_->receive(one)) {
            all.push_back(nanoseconds(clock::now() - one.begin));
            begin(index);
        }
        return all.size() < connections;
    });
    return all;
}

} // namespace lab::io
#endif
