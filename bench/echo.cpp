// SPDX-License-Identifier: Apache-2.0
// An echo server under a closed loop of clients: requests per second, latency, and the processor
// time of the server for a request.
//
//     bench_echo [CONNECTIONS...]     (default: 1 16 256)
//
// The floors are hand-written loops over epoll, level-triggered and edge-triggered, in one thread,
// and in two threads that have half of the connections each. ", 0" marks a server with a
// search_time of 0; "readable" is serve_when_readable. Each server runs in a process of its own,
// whose time getrusage reports. The clients are one thread over epoll in this process: each
// connection sends 64 bytes, waits for them, and sends again. The servers take turns, three rounds;
// the best round of each counts.
#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
#include <sennit/runtime.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t message = 64;
constexpr double seconds = 0.7;
using clock_type = std::chrono::steady_clock;

int listening(std::uint16_t& port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
        ::listen(listener, 4096) != 0)
        std::abort();
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
    port = ntohs(at.sin_port);
    return listener;
}

void no_delay(int socket) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void watch(int set, int descriptor, std::uint32_t how) {
    epoll_event one{};
    one.events = how;
    one.data.fd = descriptor;
    ::epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &one);
}

// A loop over `sets[mine]`. New connections go to the sets in turn. Ends when `control` is
// readable.
void floor_loop(const std::vector<int>& sets, std::size_t mine, int listener, int control,
                bool edges) {
    std::array<epoll_event, 64> events;
    std::array<char, 4096> buffer;
    std::size_t accepted = 0;
    for (;;) {
        const int n = ::epoll_wait(sets[mine], events.data(), 64, -1);
        for (int i = 0; i < n; ++i) {
            const int one = events[static_cast<std::size_t>(i)].data.fd;
            if (one == control) return;
            if (one == listener) {
                const int peer = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
                if (peer < 0) continue;
                no_delay(peer);
                watch(sets[accepted++ % sets.size()], peer, edges ? EPOLLIN | EPOLLET : EPOLLIN);
                continue;
            }
            for (;;) {
                const ssize_t got = ::recv(one, buffer.data(), buffer.size(), MSG_DONTWAIT);
                if (got > 0) {
                    (void)!::send(one, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
                    // A short read has emptied the socket.
                    if (static_cast<std::size_t>(got) < buffer.size()) break;
                } else {
                    if (got == 0) ::close(one);
                    break;
                }
            }
        }
    }
}

// The first thread accepts.
void floor_server(int listener, int control, std::size_t threads, bool edges) {
    ::fcntl(listener, F_SETFL, O_NONBLOCK);
    std::vector<int> sets;
    for (std::size_t i = 0; i < threads; ++i) {
        sets.push_back(::epoll_create1(0));
        watch(sets.back(), control, EPOLLIN);
    }
    watch(sets[0], listener, EPOLLIN);
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i)
        others.emplace_back([&, i] { floor_loop(sets, i, listener, control, edges); });
    floor_loop(sets, 0, listener, control, edges);
}

void sennit_server(int control, int tell_port, unsigned workers, bool searches, bool readable) {
    namespace io = sennit::io;
    sennit::runtime_options options{.workers = workers};
    if (!searches) options.search_time = {};
    sennit::runtime server(std::move(options));
    server.run([&] {
        io::tcp_listener listener(io::endpoint("127.0.0.1:0"));
        const std::uint16_t port = listener.local().port();
        (void)!::write(tell_port, &port, sizeof port);
        sennit::nursery all;
        all.start([&] {
            if (readable)
                return io::serve_when_readable(listener, {}, [](io::tcp_stream& peer) {
                    std::array<std::byte, 4096> buffer;
                    const std::size_t n = peer.read_some(buffer);
                    if (n == 0) return io::served::close;
                    peer.write(std::span(buffer).first(n));
                    return io::served::keep;
                });
            io::serve(listener, {}, [](io::tcp_stream& peer) {
                std::array<std::byte, 4096> buffer;
                while (const std::size_t n = peer.read_some(buffer))
                    peer.write(std::span(buffer).first(n));
            });
        });
        io::borrowed(control).wait_readable();
        listener.close();
        all.join();
    });
}

struct result {
    double per_second = 0;
    double server_us = 0; // Processor time of the server for a request.
    double p50_us = 0;
    double p99_us = 0;
};

struct load {
    double requests = 0;
    std::vector<float> latencies_us;
};

load drive(std::uint16_t port, std::size_t connections) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    struct client {
        int socket = -1;
        std::size_t left = message;
        clock_type::time_point sent;
    };
    std::vector<client> clients(connections);
    const int set = ::epoll_create1(0);
    std::array<char, message> buffer{};
    for (std::size_t i = 0; i < connections; ++i) {
        client& one = clients[i];
        one.socket = ::socket(AF_INET, SOCK_STREAM, 0);
        if (::connect(one.socket, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) std::abort();
        no_delay(one.socket);
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = i;
        ::epoll_ctl(set, EPOLL_CTL_ADD, one.socket, &event);
    }
    load done;
    done.latencies_us.reserve(1'000'000);
    const auto begin = clock_type::now();
    const auto end = begin + std::chrono::duration_cast<clock_type::duration>(
                                 std::chrono::duration<double>(seconds));
    for (client& one : clients) {
        one.sent = clock_type::now();
        (void)!::send(one.socket, buffer.data(), message, 0);
    }
    std::array<epoll_event, 64> events;
    for (auto now = begin; now < end;) {
        const int n = ::epoll_wait(set, events.data(), 64, 100);
        now = clock_type::now();
        for (int i = 0; i < n; ++i) {
            client& one = clients[events[static_cast<std::size_t>(i)].data.u64];
            const ssize_t got = ::recv(one.socket, buffer.data(), one.left, MSG_DONTWAIT);
            if (got <= 0) continue;
            one.left -= static_cast<std::size_t>(got);
            if (one.left != 0) continue;
            now = clock_type::now();
            done.latencies_us.push_back(
                std::chrono::duration<float, std::micro>(now - one.sent).count());
            one.left = message;
            one.sent = now;
            (void)!::send(one.socket, buffer.data(), message, 0);
        }
    }
    done.requests = static_cast<double>(done.latencies_us.size());
    for (client& one : clients) ::close(one.socket);
    ::close(set);
    return done;
}

struct server_kind {
    const char* name;
    bool is_floor;
    bool edges;
    unsigned threads;
    bool searches = true; // Workers look for work before they park.
    bool readable = false;
};
constexpr std::array<server_kind, 9> kinds{{{"epoll LT", true, false, 1},
                                            {"epoll ET", true, true, 1},
                                            {"epoll LT 2", true, false, 2},
                                            {"sennit 1", false, false, 1},
                                            {"sennit 2", false, false, 2},
                                            {"readable 1", false, false, 1, true, true},
                                            {"readable 2", false, false, 2, true, true},
                                            {"sennit 1, 0", false, false, 1, false},
                                            {"sennit 2, 0", false, false, 2, false}}};

result measure(const server_kind& kind, std::size_t connections) {
    int control[2], port_pipe[2];
    if (::pipe(control) != 0 || ::pipe(port_pipe) != 0) std::abort();
    const pid_t server = ::fork();
    if (server == 0) {
        ::close(control[1]);
        if (kind.is_floor) {
            std::uint16_t port = 0;
            const int listener = listening(port);
            (void)!::write(port_pipe[1], &port, sizeof port);
            floor_server(listener, control[0], kind.threads, kind.edges);
        } else {
            sennit_server(control[0], port_pipe[1], kind.threads, kind.searches,
                          kind.readable);
        }
        std::_Exit(0);
    }
    std::uint16_t port = 0;
    if (::read(port_pipe[0], &port, sizeof port) != sizeof port) std::abort();
    load done = drive(port, connections);
    ::close(control[1]);
    rusage used{};
    int status = 0;
    ::wait4(server, &status, 0, &used);
    for (const int one : {control[0], port_pipe[0], port_pipe[1]}) ::close(one);
    std::sort(done.latencies_us.begin(), done.latencies_us.end());
    const auto at = [&](double part) {
        return done.latencies_us.empty()
                   ? 0.0
                   : done.latencies_us[static_cast<std::size_t>(
                         part * static_cast<double>(done.latencies_us.size() - 1))];
    };
    const auto us = [](timeval t) { return 1e6 * static_cast<double>(t.tv_sec) +
                                           static_cast<double>(t.tv_usec); };
    return {done.requests / seconds, (us(used.ru_utime) + us(used.ru_stime)) / done.requests,
            at(0.5), at(0.99)};
}

} // namespace

int main(int count, char** arguments) {
    std::vector<std::size_t> connections;
    for (int i = 1; i < count; ++i) connections.push_back(std::stoul(arguments[i]));
    if (connections.empty()) connections = {1, 16, 256};
    std::printf("%-11s %11s %10s %10s %8s %8s\n", "server", "connections", "1000/s", "CPU us",
                "p50 us", "p99 us");
    for (const std::size_t n : connections) {
        std::array<result, kinds.size()> best{};
        for (int round = 0; round < 3; ++round)
            for (std::size_t kind = 0; kind < kinds.size(); ++kind)
                if (const result one = measure(kinds[kind], n);
                    one.per_second > best[kind].per_second)
                    best[kind] = one;
        for (std::size_t kind = 0; kind < kinds.size(); ++kind)
            std::printf("%-11s %11zu %10.1f %10.2f %8.1f %8.1f\n", kinds[kind].name, n,
                        best[kind].per_second / 1000, best[kind].server_us, best[kind].p50_us,
                        best[kind].p99_us);
    }
}
