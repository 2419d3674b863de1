// SPDX-License-Identifier: Apache-2.0
// The floor of the family `tls`: a hand-written loop over epoll for each worker, level-triggered,
// and OpenSSL on the sockets themselves. The first thread accepts, and gives the connections to the
// sets in turn. The certificate is made at the start.
#include "../../../tests/tls/certificates.hpp"
#include "io/server.hpp"
#include "program.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using namespace lab::io;

void require(bool holds, const char* operation) {
    if (!holds) throw std::system_error(errno, std::generic_category(), operation);
}
void require_tls(bool holds, const char* operation) {
    if (!holds) throw std::runtime_error(std::string(operation) + ": OpenSSL refuses");
}

template <class T, auto Free>
struct freed_by {
    void operator()(T* one) const noexcept { Free(one); }
};
using context = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX, &SSL_CTX_free>>;

context server_context() {
    const certificates::pair own = certificates::authority().sign("127.0.0.1");
    context made(SSL_CTX_new(TLS_server_method()));
    require_tls(made != nullptr, "SSL_CTX_new");
    const auto pem = [](const std::string& text) {
        return std::unique_ptr<BIO, freed_by<BIO, &BIO_free>>(
            BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    };
    const std::unique_ptr<X509, freed_by<X509, &X509_free>> certificate(
        PEM_read_bio_X509(pem(own.certificate).get(), nullptr, nullptr, nullptr));
    const std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY, &EVP_PKEY_free>> key(
        PEM_read_bio_PrivateKey(pem(own.key).get(), nullptr, nullptr, nullptr));
    require_tls(SSL_CTX_use_certificate(made.get(), certificate.get()) == 1 &&
                    SSL_CTX_use_PrivateKey(made.get(), key.get()) == 1 &&
                    SSL_CTX_set_min_proto_version(made.get(), TLS1_3_VERSION) == 1,
                "the certificate");
    SSL_CTX_set_read_ahead(made.get(), 1); // One system call for a record.
    return made;
}

struct peer {
    int socket;
    std::unique_ptr<SSL, freed_by<SSL, &SSL_free>> ssl;
    ~peer() { ::close(socket); }
};

// excerpt tls
// Returns false if the connection has ended.
bool echo(peer& from) {
    SSL* const ssl = from.ssl.get();
    if (!SSL_is_init_finished(ssl)) {
        const int result = SSL_accept(ssl);
        if (result != 1) return SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ;
    }
    std::array<char, 4096> buffer;
    do {
        const int n = SSL_read(ssl, buffer.data(), buffer.size());
        if (n <= 0) return SSL_get_error(ssl, n) == SSL_ERROR_WANT_READ;
        // A client has one request under way, so the socket has room for the reply.
        if (SSL_write(ssl, buffer.data(), n) != n) return false;
    } while (SSL_has_pending(ssl) == 1);
    return true;
}
// excerpt end

void watch(int set, int descriptor, void* as) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.ptr = as;
    require(::epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &wanted) == 0, "epoll_ctl");
}

struct server {
    int listener;
    context with;
    std::vector<int> sets;    // One for each thread.
    std::size_t accepted = 0; // Of the first thread alone.

    void accept() {
        for (;;) {
            const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (socket >= 0)
                begin(socket);
            else if (errno != ECONNABORTED)
                return require(errno == EAGAIN, "accept4");
        }
    }
    void begin(int socket) {
        const int on = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        auto fresh = std::make_unique<peer>(socket, nullptr);
        fresh->ssl.reset(SSL_new(with.get()));
        require_tls(fresh->ssl && SSL_set_fd(fresh->ssl.get(), socket) == 1, "SSL_new");
        SSL_set_accept_state(fresh->ssl.get());
        watch(sets[accepted++ % sets.size()], socket, fresh.release());
    }
    // Runs until the standard input ends.
    void loop(std::size_t mine) {
        std::array<epoll_event, 256> events;
        for (;;) {
            const int n = ::epoll_wait(sets[mine], events.data(), events.size(), -1);
            for (int i = 0; i < n; ++i) {
                void* const what = events[static_cast<std::size_t>(i)].data.ptr;
                if (what == nullptr) return;
                if (what == this) {
                    accept();
                    continue;
                }
                auto* const from = static_cast<peer*>(what);
                if (echo(*from)) continue;
                ERR_clear_error();
                delete from;
            }
        }
    }
};

int listening() {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(::bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0, "bind");
    require(::listen(listener, 4096) == 0, "listen");
    socklen_t size = sizeof at;
    require(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) == 0, "getsockname");
    announce(ntohs(at.sin_port));
    return listener;
}

bool serve(service which, unsigned threads) {
    if (which != service::tls_echo) return false;
    // OpenSSL writes to sockets whose client has gone.
    require(std::signal(SIGPIPE, SIG_IGN) != SIG_ERR, "signal");
    context with = server_context();
    server all{.listener = listening(), .with = std::move(with), .sets = {}};
    for (unsigned i = 0; i < threads; ++i) {
        all.sets.push_back(::epoll_create1(EPOLL_CLOEXEC));
        watch(all.sets.back(), STDIN_FILENO, nullptr);
    }
    watch(all.sets[0], all.listener, &all);
    std::vector<std::jthread> rest;
    for (std::size_t i = 1; i < threads; ++i) rest.emplace_back([&all, i] { all.loop(i); });
    all.loop(0);
    return true;
}

} // namespace

int main(int argc, char** argv) {
    return lab::program<servers<&serve>>(argc, argv);
}
