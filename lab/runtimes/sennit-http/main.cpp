// SPDX-License-Identifier: Apache-2.0
// Sennit's servers of the family `http`: the parser of examples/http_server.cpp in io::serve, a
// fiber for each connection. With SENNIT_LAB_SERVE=readable: io::serve_when_readable, as in the
// example, a fiber for each batch of requests.
#include "../../../examples/http_request.hpp"
#include "../sennit/serve_until_told.hpp"
#include "io/server.hpp"
#include "program.hpp"

#include <sennit/io.hpp>
#include <sennit/nursery.hpp>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace lab::io;
namespace net = sennit::io;

// excerpt http
std::string page(int status, std::string_view reason, std::string_view body, bool keep) {
    std::string text = "HTTP/1.1 " + std::to_string(status) + ' ';
    text += reason;
    text += "\r\nContent-Type: text/plain\r\nContent-Length: ";
    text += std::to_string(body.size());
    text += keep ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
    text += body;
    return text;
}

void answer(const http::request& one, std::string& answers) {
    if (one.method == "GET" && one.target == "/hello")
        answers += page(200, "OK", "hello\n", one.keep_alive);
    else
        answers += page(404, "Not Found", "there is no such page\n", one.keep_alive);
}

// Answers the requests that have come. Returns when the next request has not begun.
net::served serve_requests(net::tcp_stream& peer) {
    std::array<char, 16384> buffer;
    http::parser parser;
    http::request next;
    std::string answers;
    try {
        do {
            const std::size_t n = peer.read_some(std::as_writable_bytes(std::span(buffer)));
            if (n == 0) return net::served::close;
            std::string_view text(buffer.data(), n);
            bool keep = true;
            while (keep && parser.take(text, next)) {
                answer(next, answers);
                keep = next.keep_alive;
            }
            peer.write(answers);
            if (!keep) return net::served::close;
            answers.clear();
        } while (parser.inside());
        return net::served::keep;
    } catch (const http::bad_request& wrong) {
        peer.write(answers + page(wrong.status, "Bad Request", wrong.what(), false));
        return net::served::close;
    }
}
// excerpt end

void accept_from(net::tcp_listener& door) {
    const char* const how = std::getenv("SENNIT_LAB_SERVE");
    if (how && std::string_view(how) == "readable")
        net::serve_when_readable(door, {}, serve_requests);
    else
        net::serve(door, {}, [](net::tcp_stream& peer) {
            while (serve_requests(peer) == net::served::keep) {
            }
        });
}

bool serve(service which, unsigned threads) {
    if (which != service::http) return false;
    serve_until_told(threads, [](net::tcp_listener& door, sennit::nursery& clients) {
        clients.start([&] { accept_from(door); });
    });
    return true;
}

} // namespace

int main(int argc, char** argv) {
    return lab::program<servers<&serve>>(argc, argv);
}
