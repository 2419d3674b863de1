// SPDX-License-Identifier: Apache-2.0
// The cost of connections that wait between their requests: memory of the process for each, and
// wake-ups while no request comes.
//
//     bench_idle_connections [CONNECTIONS [SECONDS]]     (default: 10000 2)
//
// The memory is read when each connection has had one answer. It is RssAnon of /proc, which does
// not contain the kernel's memory. Wake-ups are the voluntary context switches of all threads of
// the server while all connections wait for SECONDS. The server is a process of its own with two
// workers. The third server has a limit of an hour.
#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
#include <sennit/runtime.hpp>

#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace io = sennit::io;

enum class kind { serve, readable, readable_with_limit };

// A figure of a status file of /proc; 0: it has none.
long long figure(const std::string& path, const std::string& name) {
    std::ifstream from(path);
    for (std::string line; std::getline(from, line);)
        if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1));
    return 0;
}

long long anonymous_memory(pid_t of) {
    return figure("/proc/" + std::to_string(of) + "/status", "RssAnon") * 1024;
}

long long wake_ups(pid_t of) {
    long long all = 0;
    for (const auto& each :
         std::filesystem::directory_iterator("/proc/" + std::to_string(of) + "/task"))
        all += figure(each.path() / "status", "voluntary_ctxt_switches");
    return all;
}

void server(kind which, int control, int tell_port) {
    sennit::runtime two({.workers = 2});
    two.run([&] {
        io::tcp_listener listener(io::endpoint("127.0.0.1:0"));
        const std::uint16_t port = listener.local().port();
        (void)!::write(tell_port, &port, sizeof port);
        sennit::nursery all;
        all.start([&] {
            if (which == kind::serve) {
                io::serve(listener, {}, [](io::tcp_stream& peer) {
                    std::array<std::byte, 256> buffer;
                    while (const std::size_t n = peer.read_some(buffer))
                        peer.write(std::span(buffer).first(n));
                });
                return;
            }
            io::serve_options options;
            if (which == kind::readable_with_limit) options.idle = std::chrono::hours(1);
            io::serve_when_readable(listener, options, [](io::tcp_stream& peer) {
                std::array<std::byte, 256> buffer;
                const std::size_t n = peer.read_some(buffer);
                if (n == 0) return io::served::close;
                peer.write(std::span(buffer).first(n));
                return io::served::keep;
            });
        });
        io::borrowed(control).wait_readable();
        listener.close();
        all.cancel();
    });
}

void measure(const char* name, kind which, std::size_t connections, int seconds) {
    int control[2], port_pipe[2];
    if (::pipe(control) != 0 || ::pipe(port_pipe) != 0) std::abort();
    const pid_t process = ::fork();
    if (process == 0) {
        ::close(control[1]);
        server(which, control[0], port_pipe[1]);
        std::_Exit(0);
    }
    std::uint16_t port = 0;
    if (::read(port_pipe[0], &port, sizeof port) != sizeof port) std::abort();
    std::vector<int> sockets;
    const auto open = [&](std::size_t count) {
        while (sockets.size() < count) {
            sockaddr_in at{};
            at.sin_family = AF_INET;
            at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            at.sin_port = htons(port);
            const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            char byte = 'x';
            if (one < 0 || ::connect(one, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
                ::send(one, &byte, 1, 0) != 1 || ::recv(one, &byte, 1, 0) != 1) {
                std::perror("bench_idle_connections: connection");
                std::exit(1);
            }
            sockets.push_back(one);
        }
    };
    open(100); // The first connections make objects that stay.
    const std::size_t first = sockets.size();
    const long long before = anonymous_memory(process);
    open(connections + first);
    const long long after = anonymous_memory(process);
    std::this_thread::sleep_for(std::chrono::milliseconds(300)); // The workers park.
    const long long woken = wake_ups(process);
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    std::printf("%-28s %11zu %14.1f %10lld\n", name, connections,
                static_cast<double>(after - before) / static_cast<double>(connections),
                wake_ups(process) - woken);
    for (const int one : sockets) ::close(one);
    for (const int one : control) ::close(one);
    for (const int one : port_pipe) ::close(one);
    int status = 0;
    ::waitpid(process, &status, 0);
}

} // namespace

int main(int count, char** arguments) {
    const std::size_t connections = count > 1 ? std::stoul(arguments[1]) : 10'000;
    const int seconds = count > 2 ? std::stoi(arguments[2]) : 2;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    std::printf("%-28s %11s %14s %10s\n", "server", "connections", "bytes for each", "wake-ups");
    measure("serve", kind::serve, connections, seconds);
    measure("serve_when_readable", kind::readable, connections, seconds);
    measure("serve_when_readable, limit", kind::readable_with_limit, connections, seconds);
}
