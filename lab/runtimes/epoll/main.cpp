// SPDX-License-Identifier: Apache-2.0
// The floor of the family `io`: hand-written loops over epoll, level-triggered, one thread and one
// set for each worker. The first thread accepts, and gives the connections to the sets in turn. A
// connection stays on its thread. Work runs inside the loop, without a fork. With
// SENNIT_LAB_EPOLL=edges the connections of `io-echo` are edge-triggered.
#include "io/server.hpp"
#include "program.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using namespace lab::io;

void require(bool holds, const char* operation) {
    if (!holds) throw std::system_error(errno, std::generic_category(), operation);
}

struct peer {
    int socket;
    std::size_t filled = 0; // Bytes of `request`.
    message request{};
    std::chrono::steady_clock::time_point active{}; // The last time, where reads have a limit.
    std::list<peer*>::iterator place{};
    std::unique_ptr<std::string> rest{}; // The beginning of a request of HTTP.
};

// excerpt limit
// The connections of a thread by the time of their last activity, the oldest first. All limits have
// one length, so the first connection has the earliest deadline.
class deadlines {
public:
    // Each round of the loop reads the clock once.
    void begin_round() { now_ = std::chrono::steady_clock::now(); }
    void add(peer& one) {
        one.active = now_;
        one.place = all_.insert(all_.end(), &one);
    }
    void touch(peer& one) {
        one.active = now_;
        all_.splice(all_.end(), all_, one.place);
    }
    void remove(peer& one) { all_.erase(one.place); }
    // The time that epoll_wait may take, in ms; -1: for ever.
    int timeout() const {
        if (all_.empty()) return -1;
        const auto left = all_.front()->active + read_limit - now_;
        return static_cast<int>(
            std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(left).count()));
    }
    // The first connection whose read has taken too long; null: none.
    peer* expired() const {
        return all_.empty() || all_.front()->active + read_limit > now_ ? nullptr : all_.front();
    }

private:
    std::list<peer*> all_;
    std::chrono::steady_clock::time_point now_;
};
// excerpt end

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

void watch(int set, int descriptor, void* as, std::uint32_t events = EPOLLIN) {
    epoll_event wanted{};
    wanted.events = events;
    wanted.data.ptr = as;
    require(::epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &wanted) == 0, "epoll_ctl");
}

// A client has one request under way, so the socket has room for the reply.
void reply(int socket, const void* bytes, std::size_t size) {
    require(::send(socket, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size), "send");
}

// Each returns false if the connection has ended.
bool echo(peer& from) {
    std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t n = ::recv(from.socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (n <= 0) return n < 0 && errno == EAGAIN;
        reply(from.socket, buffer.data(), static_cast<std::size_t>(n));
        // A short read has emptied the socket.
        if (static_cast<std::size_t>(n) < buffer.size()) return true;
    }
}

// excerpt answer
template <message (*Reply)(message)>
bool answer(peer& from) {
    char* into = reinterpret_cast<char*>(from.request.data()); // SAFETY: bytes of plain words.
    const ssize_t n =
        ::recv(from.socket, into + from.filled, sizeof(message) - from.filled, MSG_DONTWAIT);
    if (n <= 0) return n < 0 && errno == EAGAIN;
    from.filled += static_cast<std::size_t>(n);
    if (from.filled < sizeof(message)) return true;
    from.filled = 0;
    const message answered = Reply(from.request);
    reply(from.socket, answered.data(), sizeof answered);
    return true;
}
// excerpt end

// excerpt http
// Any request gets the reply of GET /hello: nothing of it is parsed but its end. Requests have no
// body.
bool http(peer& from) {
    constexpr std::string_view end = "\r\n\r\n";
    constexpr std::string_view hello = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                       "Content-Length: 6\r\n\r\nhello\n";
    std::array<char, 16384> buffer;
    const ssize_t n = ::recv(from.socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n <= 0) return n < 0 && errno == EAGAIN;
    std::string_view text(buffer.data(), static_cast<std::size_t>(n));
    if (from.rest) text = from.rest->append(text);
    std::string replies;
    for (std::size_t at = text.find(end); at != text.npos; at = text.find(end)) {
        replies += hello;
        text.remove_prefix(at + end.size());
    }
    if (text.empty())
        from.rest.reset();
    else
        from.rest = std::make_unique<std::string>(text);
    if (!replies.empty()) reply(from.socket, replies.data(), replies.size());
    return true;
}
// excerpt end

struct server {
    int listener;
    std::vector<int> sets; // One for each thread.
    bool (*handle)(peer&);
    std::uint32_t events;     // Of a connection.
    bool limits;              // Whether reads have a limit.
    std::size_t accepted = 0; // Of the first thread alone.

    // excerpt accept
    // All connections that have come.
    void accept() {
        for (int socket = 0;;) {
            socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket >= 0)
                begin(socket);
            else if (errno != ECONNABORTED)
                return require(errno == EAGAIN, "accept4");
        }
    }
    void begin(int socket) {
        const int on = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(sets[accepted++ % sets.size()], socket, std::make_unique<peer>(socket).release(),
              events);
    }
    // excerpt end
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
                if (!handle(*from)) end(from);
            }
        }
    }
    // `loop` with a limit for each read. A connection counts from its first event on.
    void loop_with_limits(std::size_t mine) {
        std::array<epoll_event, 256> events;
        for (deadlines by_age;;) {
            const int timeout = by_age.timeout();
            const int n = ::epoll_wait(sets[mine], events.data(), events.size(), timeout);
            by_age.begin_round();
            for (int i = 0; i < n; ++i) {
                void* const what = events[static_cast<std::size_t>(i)].data.ptr;
                if (what == nullptr) return;
                if (what == this) {
                    accept();
                    continue;
                }
                auto* const from = static_cast<peer*>(what);
                if (from->active == decltype(from->active)())
                    by_age.add(*from);
                else
                    by_age.touch(*from);
                if (handle(*from)) continue;
                by_age.remove(*from);
                end(from);
            }
            while (peer* const late = by_age.expired()) {
                by_age.remove(*late);
                end(late);
            }
        }
    }
    void run(std::size_t mine) { limits ? loop_with_limits(mine) : loop(mine); }
    static void end(peer* one) {
        ::close(one->socket);
        delete one;
    }
};

bool serve(service which, unsigned threads) {
    if (which == service::mixed_aside || which == service::tls_echo) return false;
    const char* how = std::getenv("SENNIT_LAB_EPOLL");
    const bool limits = which == service::limited_echo;
    const bool edges = which == service::echo && how && std::string_view(how) == "edges";
    server all{.listener = listening(),
               .sets = {},
               .handle = which == service::echo || limits ? &echo
                         : which == service::http         ? &http
                         : which == service::mixed        ? &answer<reply_of_mixed>
                                                          : &answer<reply_of_fork>,
               .events = edges ? EPOLLIN | EPOLLET : EPOLLIN,
               .limits = limits};
    for (unsigned i = 0; i < threads; ++i) {
        all.sets.push_back(::epoll_create1(EPOLL_CLOEXEC));
        watch(all.sets.back(), STDIN_FILENO, nullptr);
    }
    watch(all.sets[0], all.listener, &all);
    std::vector<std::jthread> rest;
    for (std::size_t i = 1; i < threads; ++i) rest.emplace_back([&all, i] { all.run(i); });
    all.run(0);
    return true;
}

} // namespace

int main(int argc, char** argv) {
    return lab::program<servers<&serve>>(argc, argv);
}
