// SPDX-License-Identifier: Apache-2.0
#include "http_load.hpp"

#include "connections.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace lab::io {

namespace {

constexpr std::string_view request = "GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
constexpr std::string_view status_line = "HTTP/1.1 200 ", body = "hello\n";
constexpr std::string_view end_of_head = "\r\n\r\n";

[[noreturn]] void wrong(const std::string& reason) {
    throw std::runtime_error("the server sent a wrong reply: " + reason);
}

bool equal_names(std::string_view a, std::string_view lower) noexcept {
    return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) noexcept {
        return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
    });
}

// The value of Content-Length in the head of a reply, which ends with an empty line.
std::size_t content_length(std::string_view head) {
    while (!head.empty()) {
        const std::string_view line = head.substr(0, head.find("\r\n"));
        head.remove_prefix(line.size() + 2);
        const std::size_t colon = line.find(':');
        if (colon == line.npos || !equal_names(line.substr(0, colon), "content-length")) continue;
        std::string_view value = line.substr(colon + 1);
        value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
        std::size_t length = 0;
        const auto [rest, failed] =
            std::from_chars(value.data(), value.data() + value.size(), length);
        if (failed == std::errc()) return length;
    }
    wrong("its head has no Content-Length");
}

// Takes a whole reply from the front of `text`, and checks it. False: more must come.
bool take_reply(std::string_view& text) {
    const std::size_t head = text.find(end_of_head);
    if (head == text.npos) return false;
    if (!text.starts_with(status_line))
        wrong("it begins with '" + std::string(text.substr(0, text.find_first_of("\r\n"))) + "'");
    const std::size_t length = content_length(text.substr(0, head + 2));
    const std::size_t whole = head + end_of_head.size() + length;
    if (text.size() < whole) return false;
    if (text.substr(head + end_of_head.size(), length) != body)
        wrong("its body is not the expected one");
    text.remove_prefix(whole);
    return true;
}

struct http_connection {
    int socket = -1;
    std::size_t replies_left = 0; // Of the requests that were sent at once.
    clock::time_point begin;
    std::string received;
};

class http_run {
public:
    http_run(const http_load& load, std::uint16_t port) : load_(load), left_(load.requests) {
        set_ = ::epoll_create1(EPOLL_CLOEXEC);
        if (set_ < 0) refuse("epoll_create1");
        for (std::size_t i = 0; i < load.depth; ++i) batch_ += request;
        all_.resize(load.connections);
        for (std::size_t i = 0; i < all_.size(); ++i) {
            all_[i].socket = connect_to_server(port, i);
            epoll_event wanted{};
            wanted.events = EPOLLIN;
            wanted.data.u64 = i;
            if (::epoll_ctl(set_, EPOLL_CTL_ADD, all_[i].socket, &wanted) != 0) refuse("epoll_ctl");
        }
        times_.reserve(load.requests);
    }
    ~http_run() {
        for (const http_connection& one : all_)
            if (one.socket >= 0) ::close(one.socket);
        if (set_ >= 0) ::close(set_);
    }
    http_run(const http_run&) = delete;
    http_run& operator=(const http_run&) = delete;

    times run() {
        for (http_connection& one : all_) send(one);
        std::array<epoll_event, 256> events;
        while (times_.size() < load_.requests) {
            const int n = ::epoll_wait(set_, events.data(), events.size(), -1);
            if (n < 0 && errno != EINTR) refuse("epoll_wait");
            for (int i = 0; i < n; ++i) receive(all_[events[static_cast<std::size_t>(i)].data.u64]);
        }
        return std::move(times_);
    }

private:
    void send(http_connection& on) {
        const std::size_t count = std::min<std::uint64_t>(left_, load_.depth);
        if (count == 0) return;
        left_ -= count;
        on.replies_left = count;
        on.begin = clock::now();
        const std::size_t size = count * request.size();
        const ssize_t n = ::send(on.socket, batch_.data(), size, MSG_NOSIGNAL);
        if (n < 0) refuse("sending a request");
        // No other request is under way, so the socket has room.
        if (static_cast<std::size_t>(n) != size)
            throw std::runtime_error("the system took " + std::to_string(n) + " bytes of requests");
    }
    void receive(http_connection& on) {
        std::array<char, 16384> buffer;
        const ssize_t n = ::recv(on.socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (n < 0) refuse("receiving a reply");
        if (n == 0) throw std::runtime_error("the server closed a connection before its reply");
        std::string_view text(buffer.data(), static_cast<std::size_t>(n));
        if (!on.received.empty()) text = on.received.append(text);
        const clock::time_point now = clock::now();
        while (on.replies_left != 0 && take_reply(text)) {
            --on.replies_left;
            times_.push_back(nanoseconds(now - on.begin));
        }
        if (on.replies_left == 0 && !text.empty()) wrong("it has more bytes than replies");
        on.received = std::string(text);
        if (on.replies_left == 0) send(on);
    }

    const http_load& load_;
    std::uint64_t left_; // Requests that were not sent.
    std::string batch_;
    std::vector<http_connection> all_;
    int set_ = -1;
    times times_;
};

} // namespace

times http_load::run(std::uint16_t port) const {
    return http_run(*this, port).run();
}

} // namespace lab::io
