// SPDX-License-Identifier: Apache-2.0
// Input and output while the system refuses the N-th call of one kind, for each N: the program gets
// the error or its answer, no descriptor is left open, and the next program works.
#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
#include <sennit/runtime.hpp>

#include <gtest/gtest.h>

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <system_error>
#include <tuple>

namespace {

enum class call { none, epoll_create, epoll_ctl, eventfd, socket, connect, accept, receive, send };

std::atomic<call> refused_call{call::none};
std::atomic<int> refused_with{0};
std::atomic<long> calls_left{0};
std::atomic<long> refusals{0};

bool refused(call what) {
    if (refused_call.load() != what || calls_left.fetch_sub(1) != 1) return false;
    ++refusals;
    errno = refused_with;
    return true;
}

} // namespace

// The linker sends the library's calls here.
extern "C" {
int __real_epoll_create1(int);
int __wrap_epoll_create1(int flags) {
    return refused(call::epoll_create) ? -1 : __real_epoll_create1(flags);
}
int __real_epoll_ctl(int, int, int, epoll_event*);
int __wrap_epoll_ctl(int set, int how, int descriptor, epoll_event* event) {
    return refused(call::epoll_ctl) ? -1 : __real_epoll_ctl(set, how, descriptor, event);
}
int __real_eventfd(unsigned, int);
int __wrap_eventfd(unsigned value, int flags) {
    return refused(call::eventfd) ? -1 : __real_eventfd(value, flags);
}
int __real_socket(int, int, int);
int __wrap_socket(int family, int type, int protocol) {
    return refused(call::socket) ? -1 : __real_socket(family, type, protocol);
}
int __real_connect(int, const sockaddr*, socklen_t);
int __wrap_connect(int socket, const sockaddr* to, socklen_t size) {
    return refused(call::connect) ? -1 : __real_connect(socket, to, size);
}
int __real_accept4(int, sockaddr*, socklen_t*, int);
int __wrap_accept4(int socket, sockaddr* from, socklen_t* size, int flags) {
    return refused(call::accept) ? -1 : __real_accept4(socket, from, size, flags);
}
ssize_t __real_recv(int, void*, size_t, int);
ssize_t __wrap_recv(int socket, void* into, size_t size, int flags) {
    return refused(call::receive) ? -1 : __real_recv(socket, into, size, flags);
}
ssize_t __real_send(int, const void*, size_t, int);
ssize_t __wrap_send(int socket, const void* from, size_t size, int flags) {
    return refused(call::send) ? -1 : __real_send(socket, from, size, flags);
}
}

namespace {

namespace io = sennit::io;

long open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

// A client and a server that exchange ten messages. Returns true if all of them are right.
bool talk() {
    sennit::runtime one({.workers = 1});
    return one.run([] {
        io::tcp_listener listener(io::endpoint("127.0.0.1:0"));
        std::string echoed;
        sennit::nursery both;
        both.start([&] {
            io::tcp_stream peer = listener.accept();
            std::array<std::byte, 16> buffer{};
            while (const std::size_t n = peer.read_some(buffer))
                peer.write(std::span(buffer).first(n));
        });
        both.start([&] {
            io::tcp_stream peer = io::tcp_stream::connect(listener.local());
            for (int i = 0; i < 10; ++i) {
                std::array<char, 2> answer{};
                peer.write("ab");
                peer.read(std::as_writable_bytes(std::span(answer)));
                echoed.append(answer.data(), answer.size());
            }
        });
        both.join();
        return echoed == "abababababababababab";
    });
}

// As `talk`, with a server whose connection waits without a stack. Throws the error of the server
// that ended the connection.
bool talk_when_readable() {
    sennit::runtime one({.workers = 1});
    return one.run([] {
        io::tcp_listener listener(io::endpoint("127.0.0.1:0"));
        std::error_code lost;
        std::string echoed;
        sennit::nursery both;
        both.start([&] {
            io::serve_when_readable(listener,
                                    {.on_error = [&](const io::error& why) { lost = why.code(); }},
                                    [](io::tcp_stream& peer) {
                                        std::array<std::byte, 16> buffer{};
                                        const std::size_t n = peer.read_some(buffer);
                                        if (n == 0) return io::served::close;
                                        peer.write(std::span(buffer).first(n));
                                        return io::served::keep;
                                    });
        });
        std::error_code failed;
        io::tcp_stream peer = io::tcp_stream::connect(listener.local(), failed);
        for (int i = 0; i < 10 && !failed; ++i) {
            std::array<char, 2> answer{};
            peer.write(io::bytes_of("ab"), failed);
            if (!failed) peer.read(std::as_writable_bytes(std::span(answer)), failed);
            if (!failed) echoed.append(answer.data(), answer.size());
        }
        peer.close();
        listener.close();
        both.join();
        if (lost || failed) throw std::system_error(lost ? lost : failed);
        return echoed == "abababababababababab";
    });
}

void refuse_each(bool (*talk)(), call what, int error, bool shows) {
    ASSERT_TRUE(talk()); // The default objects of the library have their descriptors now.
    const long before = open_descriptors();
    bool any_shown = false;
    for (long n = 1;; ++n) {
        refusals = 0;
        refused_with = error;
        calls_left = n;
        refused_call = what;
        bool shown = false;
        try {
            EXPECT_TRUE(talk()) << n;
        } catch (const std::system_error& refusal) {
            shown = true;
            EXPECT_EQ(refusal.code().value(), error) << n << ": " << refusal.what();
        }
        refused_call = call::none;
        any_shown = any_shown || shown;
        EXPECT_EQ(open_descriptors(), before) << n;
        if (refusals == 0) break;
    }
    EXPECT_EQ(any_shown, shows);
    EXPECT_TRUE(talk());
}

using refusal = std::tuple<const char*, call, int, bool>;
class io_refusals : public testing::TestWithParam<refusal> {};

TEST_P(io_refusals, each_call_leaves_nothing_open) {
    const auto& [name, what, error, shows] = GetParam();
    refuse_each(talk, what, error, shows);
}

TEST_P(io_refusals, each_call_for_a_connection_that_waits_leaves_nothing_open) {
    const auto& [name, what, error, shows] = GetParam();
    refuse_each(talk_when_readable, what, error, shows && what != call::accept); // It tries again.
}

INSTANTIATE_TEST_SUITE_P(, io_refusals,
                         testing::Values(refusal{"event_set", call::epoll_create, EMFILE, true},
                                         refusal{"watches", call::epoll_ctl, ENOSPC, true},
                                         refusal{"wake_descriptor", call::eventfd, ENFILE, true},
                                         refusal{"sockets", call::socket, EMFILE, true},
                                         refusal{"connections", call::connect, ENETUNREACH, true},
                                         refusal{"accepts", call::accept, EMFILE, true},
                                         refusal{"lost_accepts", call::accept, ECONNABORTED, false},
                                         refusal{"interrupted_accepts", call::accept, EINTR, false},
                                         refusal{"resets", call::receive, ECONNRESET, true},
                                         refusal{"interrupted_reads", call::receive, EINTR, false},
                                         refusal{"broken_writes", call::send, EPIPE, true},
                                         refusal{"interrupted_writes", call::send, EINTR, false}),
                         [](const testing::TestParamInfo<refusal>& one) {
                             return std::string(std::get<0>(one.param));
                         });

} // namespace
