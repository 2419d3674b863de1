// SPDX-License-Identifier: Apache-2.0
// Asio's servers of the family `io`: callbacks, as in the library's own echo server. Each thread
// runs a context of its own, and the connections go to the contexts in turn, as in the library's
// HTTP server 2. With SENNIT_LAB_CONTEXTS=one all threads run one context, as in HTTP server 3.
// The work of `io-mixed` runs inside the callback, and that of `io-mixed-aside` in a thread_pool of
// as many threads. Asio has no fork-join, hence no `io-fork`.
#include "io/server.hpp"
#include "program.hpp"

#include <asio.hpp>

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace lab::io;
using asio::ip::tcp;

class echo : public std::enable_shared_from_this<echo> {
public:
    explicit echo(tcp::socket from) : peer_(std::move(from)) {}
    void next() {
        peer_.async_read_some(asio::buffer(buffer_),
                              [self = shared_from_this()](std::error_code failed, std::size_t n) {
                                  if (!failed) self->reply(n);
                              });
    }

private:
    void reply(std::size_t n) {
        asio::async_write(peer_, asio::buffer(buffer_, n),
                          [self = shared_from_this()](std::error_code failed, std::size_t) {
                              if (!failed) self->next();
                          });
    }
    tcp::socket peer_;
    std::array<char, 4096> buffer_;
};

// excerpt limit
// Each read begins a new wait of the connection's timer, which ends the wait before it.
class limited_echo : public std::enable_shared_from_this<limited_echo> {
public:
    explicit limited_echo(tcp::socket from)
        : peer_(std::move(from)), limit_(peer_.get_executor()) {}
    void next() {
        limit_.expires_after(read_limit);
        limit_.async_wait([self = shared_from_this()](std::error_code ended) {
            if (!ended) self->peer_.close();
        });
        peer_.async_read_some(asio::buffer(buffer_),
                              [self = shared_from_this()](std::error_code failed, std::size_t n) {
                                  failed ? self->end() : self->reply(n);
                              });
    }

private:
    void reply(std::size_t n) {
        asio::async_write(peer_, asio::buffer(buffer_, n),
                          [self = shared_from_this()](std::error_code failed, std::size_t) {
                              failed ? self->end() : self->next();
                          });
    }
    void end() { limit_.cancel(); }
    tcp::socket peer_;
    asio::steady_timer limit_;
    std::array<char, 4096> buffer_;
};
// excerpt end

// excerpt answer
class mixed : public std::enable_shared_from_this<mixed> {
public:
    // Computes in the pool, if there is one.
    mixed(tcp::socket from, asio::thread_pool* aside) : peer_(std::move(from)), aside_(aside) {}
    void next() {
        asio::async_read(peer_, asio::buffer(request_),
                         [self = shared_from_this()](std::error_code failed, std::size_t) {
                             if (!failed) self->compute();
                         });
    }

private:
    void compute() {
        if (!aside_ || request_[0] == 0) {
            request_ = reply_of_mixed(request_);
            reply();
            return;
        }
        asio::post(*aside_, [self = shared_from_this()] {
            self->request_ = reply_of_mixed(self->request_);
            asio::post(self->peer_.get_executor(), [self] { self->reply(); });
        });
    }
    void reply() {
        asio::async_write(peer_, asio::buffer(request_),
                          [self = shared_from_this()](std::error_code failed, std::size_t) {
                              if (!failed) self->next();
                          });
    }
    tcp::socket peer_;
    asio::thread_pool* aside_;
    message request_{};
};
// excerpt end

// The contexts, and the threads that run them.
class contexts {
public:
    explicit contexts(unsigned threads) {
        const char* how = std::getenv("SENNIT_LAB_CONTEXTS");
        const bool shared = how && std::string_view(how) == "one";
        for (unsigned i = 0; i < (shared ? 1 : threads); ++i)
            all_.push_back(
                std::make_unique<asio::io_context>(shared ? static_cast<int>(threads) : 1));
        threads_ = threads;
    }
    asio::io_context& next() { return *all_[turn_++ % all_.size()]; }
    // Runs the contexts until the standard input ends.
    void run() {
        std::vector<std::jthread> running;
        for (unsigned i = 0; i < threads_; ++i)
            running.emplace_back([context = all_[i % all_.size()].get()] {
                const auto work = asio::make_work_guard(*context);
                context->run();
            });
        wait_for_end();
        for (const auto& one : all_) one->stop();
    }

private:
    std::vector<std::unique_ptr<asio::io_context>> all_;
    unsigned threads_;
    std::size_t turn_ = 0;
};

// excerpt accept
// Accepts connections for as long as the contexts run, and calls `begin(socket)` for each.
template <class F>
class acceptor {
public:
    acceptor(contexts& all, F begin)
        : all_(all), begin_(std::move(begin)),
          door_(all.next(), {asio::ip::address_v4::loopback(), 0}) {
        announce(door_.local_endpoint().port());
        next();
    }

private:
    void next() {
        door_.async_accept(all_.next(), [this](std::error_code failed, tcp::socket peer) {
            if (failed) return;
            peer.set_option(tcp::no_delay(true));
            begin_(std::move(peer));
            next();
        });
    }
    contexts& all_;
    F begin_;
    tcp::acceptor door_;
};
// excerpt end

bool serve(service which, unsigned threads) {
    if (which == service::fork || which == service::http || which == service::tls_echo)
        return false;
    contexts all(threads);
    if (which == service::echo) {
        acceptor door(all,
                      [](tcp::socket peer) { std::make_shared<echo>(std::move(peer))->next(); });
        all.run();
        return true;
    }
    if (which == service::limited_echo) {
        acceptor door(
            all, [](tcp::socket peer) { std::make_shared<limited_echo>(std::move(peer))->next(); });
        all.run();
        return true;
    }
    asio::thread_pool pool(which == service::mixed_aside ? threads : 0);
    asio::thread_pool* const aside = which == service::mixed_aside ? &pool : nullptr;
    acceptor door(all, [aside](tcp::socket peer) {
        std::make_shared<mixed>(std::move(peer), aside)->next();
    });
    all.run();
    return true;
}

} // namespace

int main(int argc, char** argv) {
    return lab::program<servers<&serve>>(argc, argv);
}
