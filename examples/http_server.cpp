// SPDX-License-Identifier: Apache-2.0
// A server of HTTP/1.1: keep-alive, pipelining, bodies in chunks, static files.
//
//     http_server [port [folder]]          then: curl http://localhost:PORT/hello
//
// GET /hello answers a line, POST /echo the body; any other GET or HEAD answers a file of the
// folder. A connection that waits for its next request holds no stack. The limits: 10,000
// connections, 60 s between two requests, 10 s for the rest of a request that has begun, 8 KiB of
// header, 1 MiB of body. SIGTERM ends the server when the requests under way have their answers.
#include "http_request.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sennit/sennit.hpp>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace io = sennit::io;
using namespace std::chrono_literals;

namespace {

const char* reason_of(int status) {
    switch (status) {
    case 200:
        return "OK";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 413:
        return "Content Too Large";
    case 431:
        return "Request Header Fields Too Large";
    default:
        return "Bad Request";
    }
}

std::string head(int status, const char* type, std::uint64_t size, const http::request& of,
                 bool keep) {
    std::string text = "HTTP/1.1 " + std::to_string(status) + ' ' + reason_of(status) +
                       "\r\nContent-Type: " + type +
                       "\r\nContent-Length: " + std::to_string(size) + "\r\n";
    if (status == 405) text += "Allow: GET, HEAD, POST\r\n";
    if (!keep)
        text += "Connection: close\r\n";
    else if (of.is_old)
        text += "Connection: keep-alive\r\n";
    return text + "\r\n";
}

std::string page(int status, std::string_view body, const http::request& of, bool keep) {
    std::string text = head(status, "text/plain", body.size(), of, keep);
    if (of.method != "HEAD") text += body;
    return text;
}

const char* type_of(std::string_view path) {
    if (path.ends_with(".html")) return "text/html";
    if (path.ends_with(".css")) return "text/css";
    if (path.ends_with(".js")) return "text/javascript";
    if (path.ends_with(".png")) return "image/png";
    if (path.ends_with(".txt")) return "text/plain";
    return "application/octet-stream";
}

// A regular file of the folder. Paths that could lead out of it have none.
std::optional<io::file> file_for(const std::string& folder, std::string_view target) {
    const std::string_view path = target.substr(0, target.find('?'));
    if (folder.empty() || !path.starts_with('/') || path.find("..") != path.npos ||
        path.find('%') != path.npos)
        return {};
    std::string name = folder + std::string(path == "/" ? "/index.html" : path);
    const bool is_file = sennit::blocking([&] {
        std::error_code failed;
        return std::filesystem::is_regular_file(name, failed);
    });
    if (!is_file) return {};
    try {
        return io::file(std::move(name));
    } catch (const io::error&) {
        return {};
    }
}

// One connection, while it is active.
class conversation {
public:
    conversation(io::tcp_stream& peer, const std::string& folder, const std::stop_token& stop)
        : peer_(peer), folder_(folder), stop_(stop) {}

    // Answers the requests that have come. Returns when the next request has not begun.
    io::served run() {
        std::array<char, 16384> buffer;
        http::request next;
        try {
            do {
                const std::size_t n = read_more(buffer);
                if (n == 0) return io::served::close;
                std::string_view text(buffer.data(), n);
                while (parser_.take(text, next)) {
                    const bool keep = next.keep_alive && !stop_.stop_requested();
                    answer(next, keep);
                    if (!keep) return finish();
                }
                if (parser_.inside() && next.wants_continue) {
                    next.wants_continue = false;
                    answers_ += "HTTP/1.1 100 Continue\r\n\r\n";
                }
                flush();
            } while (parser_.inside());
            return io::served::keep;
        } catch (const http::bad_request& wrong) {
            answers_ += page(wrong.status, std::string(wrong.what()) + '\n', {}, false);
            return finish();
        }
    }

private:
    std::size_t read_more(std::span<char> into) {
        const auto bytes = std::as_writable_bytes(into);
        if (!parser_.inside()) return peer_.read_some(bytes);
        if (!begun_) begun_ = std::chrono::steady_clock::now();
        try {
            return sennit::with_deadline(*begun_ + 10s, [&] { return peer_.read_some(bytes); });
        } catch (const sennit::timed_out&) {
            throw http::bad_request(408, "the request has not come in time");
        }
    }

    void answer(const http::request& one, bool keep) {
        begun_.reset();
        const bool reads = one.method == "GET" || one.method == "HEAD";
        if (one.method == "POST" && one.target == "/echo") {
            answers_ += page(200, one.body, one, keep);
        } else if (!reads) {
            answers_ += page(405, "this server reads files and echoes\n", one, keep);
        } else if (one.target == "/hello") {
            answers_ += page(200, "hello\n", one, keep);
        } else if (const auto file = file_for(folder_, one.target)) {
            const std::uint64_t size = file->size();
            answers_ += head(200, type_of(file->path()), size, one, keep);
            if (one.method == "HEAD") return;
            flush();
            if (io::copy(*file, peer_, 0, size) != size) peer_.close(); // It has become shorter.
        } else {
            answers_ += page(404, "there is no such file\n", one, keep);
        }
        if (answers_.size() > 65536) flush();
    }

    void flush() {
        peer_.write(answers_);
        answers_.clear();
    }

    // The client gets its answers also if it still sends: closing now would reset the connection.
    io::served finish() {
        flush();
        peer_.shutdown_write();
        peer_.timeout(1s);
        std::array<std::byte, 16384> rest;
        std::error_code failed;
        for (int i = 0; i < 100 && peer_.read_some(rest, failed) != 0; ++i) {
        }
        return io::served::close;
    }

    io::tcp_stream& peer_;
    const std::string& folder_;
    const std::stop_token& stop_;
    http::parser parser_;
    std::string answers_;
    std::optional<std::chrono::steady_clock::time_point> begun_; // The request under way.
};

} // namespace

int main(int argc, char** argv) {
    const std::string port = argc > 1 ? argv[1] : "0";
    const std::string folder = argc > 2 ? argv[2] : "";
    sennit::run([&] {
        io::signals signals{SIGINT, SIGTERM};
        io::tcp_listener door("localhost", port);
        std::printf("listening on port %u\n", static_cast<unsigned>(door.local().port()));
        std::fflush(stdout);
        std::stop_source stop;
        const std::stop_token token = stop.get_token();
        sennit::nursery server;
        server.start([&] {
            io::serve_when_readable(
                door, {.most_clients = 10'000, .idle = 60s, .drain = 10s, .stop = token},
                [&](io::tcp_stream& peer) { return conversation(peer, folder, token).run(); });
        });
        signals.wait();
        stop.request_stop();
        server.join();
    });
    std::printf("ended\n");
}
