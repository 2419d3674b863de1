// SPDX-License-Identifier: Apache-2.0
// Connections by name: a race among the addresses (RFC 8305, section 5).
#include "sennit/async_select.hpp"
#include "sennit/channel.hpp"
#include "sennit/io/tcp.hpp"
#include "sennit/nursery.hpp"
#include "sennit/task.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace sennit::io {

namespace {

struct outcome {
    std::size_t number;
    tcp_stream made;
    std::error_code failed;
};

// `results` has room for the outcomes of all attempts. A connection that is not received is closed
// with the channel.
task<void> attempt(endpoint to, std::size_t number, channel<outcome>& results) {
    outcome mine{number, {}, {}};
    try {
        mine.made = co_await tcp_stream::async_connect(to);
    } catch (const std::system_error& lost) { // Of the connection, or of the poller.
        mine.failed = lost.code();
    } catch (const std::bad_alloc&) {
        mine.failed = std::make_error_code(std::errc::not_enough_memory);
    }
    (void)results.try_push(std::move(mine));
}

std::string text_of(std::span<const endpoint> tried, std::span<const std::error_code> errors) {
    std::string text;
    for (std::size_t i = 0; i < tried.size(); ++i) {
        if (i != 0) text += "; ";
        text += tried[i].to_string() + ' ' + errors[i].message();
    }
    return text;
}

// `name` stands before the addresses in the text of the error.
task<tcp_stream> race(std::vector<endpoint> to, connect_options how, std::string name) {
    std::vector<std::error_code> errors(to.size());
    channel<outcome> results(std::max<std::size_t>(to.size(), 1));
    tcp_stream winner;
    nursery attempts;
    std::size_t begun = 0, failed = 0;
    while (failed < to.size() && !winner.is_open()) {
        if (begun < to.size()) {
            attempts.start(attempt(to[begun], begun, results));
            ++begun;
        }
        const auto take = [&](outcome one) {
            winner = std::move(one.made);
            errors[one.number] = one.failed;
            ++failed;
        };
        (void)co_await async_select(on_pop(results, take),
                                    when(begun < to.size(), after(how.attempt_delay, [] {})));
    }
    attempts.cancel();
    co_await attempts.async_join();
    if (winner.is_open()) co_return winner;
    if (errors.empty()) errors.push_back(std::make_error_code(std::errc::invalid_argument));
    throw error(errors.front(), "connect", name + text_of(to, errors));
}

// The families alternate, beginning with that of the first address (RFC 8305, section 4).
std::vector<endpoint> alternate(const std::vector<endpoint>& found) {
    const auto is_like_first = [&](const endpoint& one) {
        return (one.to_string().front() == '[') == (found.front().to_string().front() == '[');
    };
    std::vector<endpoint> first, second, all;
    for (const endpoint& one : found) (is_like_first(one) ? first : second).push_back(one);
    for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
        if (i < first.size()) all.push_back(first[i]);
        if (i < second.size()) all.push_back(second[i]);
    }
    return all;
}

} // namespace

task<tcp_stream> tcp_stream::async_connect_first(std::vector<endpoint> to, connect_options how) {
    return race(std::move(to), how, {});
}
tcp_stream tcp_stream::connect_first(std::span<const endpoint> to, const connect_options& how) {
    return block_on(async_connect_first({to.begin(), to.end()}, how));
}

task<tcp_stream> tcp_stream::async_connect(std::string host, std::string service,
                                           connect_options how) {
    const std::vector<endpoint> found =
        co_await async_resolve(host, service, {.family = how.family});
    co_return co_await race(alternate(found), how, host + ", service " + service + ": ");
}
tcp_stream tcp_stream::connect(const std::string& host, const std::string& service,
                               const connect_options& how) {
    return block_on(async_connect(host, service, how));
}
tcp_stream tcp_stream::connect(const std::string& host, std::uint16_t port,
                               const connect_options& how) {
    return connect(host, std::to_string(port), how);
}
tcp_stream tcp_stream::connect(const std::string& host, const std::string& service,
                               const connect_options& how, std::error_code& failed) {
    failed.clear();
    try {
        return connect(host, service, how);
    } catch (const error& lost) {
        failed = lost.code();
        return {};
    }
}

tcp_listener::tcp_listener(std::uint16_t port, const listen_options& how) {
    const std::string number = std::to_string(port);
    try {
        *this = tcp_listener(endpoint("[::]:" + number), how);
    } catch (const error& lost) {
        if (lost.code() != std::errc::address_family_not_supported &&
            lost.code() != std::errc::address_not_available)
            throw;
        *this = tcp_listener(endpoint("0.0.0.0:" + number), how);
    }
}

tcp_listener::tcp_listener(const std::string& host, const std::string& service,
                           const listen_options& how) {
    const std::vector<endpoint> found = resolve(host, service, {.passive = true});
    for (std::size_t i = 0; !is_open(); ++i) try {
            *this = tcp_listener(found[i], how);
        } catch (const error&) {
            if (i + 1 == found.size()) throw;
        }
}

} // namespace sennit::io
