// SPDX-License-Identifier: Apache-2.0
// A cache that redis-cli and redis-benchmark understand: RESP2, inline and multibulk requests,
// pipelining. Commands: PING, ECHO, GET, SET [EX s], DEL, EXISTS, INCR, EXPIRE, TTL, QUIT.
//
//     resp_cache [port]          then: redis-cli -p PORT set key value
//
// One fiber a connection. It reads as much as there is, answers all whole requests, and writes the
// answers at once. The keys are spread over shards, each with a mutex.
#include "resp_request.hpp"

#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <sennit/sennit.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace io = sennit::io;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace {

std::string integer(long long n) {
    return ':' + std::to_string(n) + "\r\n";
}
std::string bulk(std::string_view text) {
    return '$' + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
const std::string none = "$-1\r\n", ok = "+OK\r\n";
const std::string not_integer = "-ERR value is not an integer or out of range\r\n";

class cache {
    struct entry {
        std::string value;
        steady::time_point ends = steady::time_point::max();
    };
    struct shard {
        sennit::mutex mutex;
        std::unordered_map<std::string, entry> entries;
    };

    // Calls `with(shard, entry)` under the shard's lock; the entry is null if the key has none.
    template <class F>
    auto with(std::string_view key, F function) {
        shard& in = shards_[std::hash<std::string_view>()(key) % shards_.size()];
        const std::lock_guard guard(in.mutex);
        auto found = in.entries.find(std::string(key));
        if (found != in.entries.end() && found->second.ends <= steady::now()) {
            in.entries.erase(found);
            found = in.entries.end();
        }
        return function(in, found == in.entries.end() ? nullptr : &found->second);
    }
    std::string set(const std::vector<std::string_view>& words) {
        entry fresh{std::string(words[2])};
        if (words.size() == 5) {
            const auto seconds = resp::number(words[4]);
            if (words[3] != "EX" && words[3] != "ex") return "-ERR syntax error\r\n";
            if (!seconds || *seconds <= 0 || *seconds > 1'000'000'000) return not_integer;
            fresh.ends = steady::now() + std::chrono::seconds(*seconds);
        }
        return with(words[1], [&](shard& in, entry*) {
            in.entries[std::string(words[1])] = std::move(fresh);
            return ok;
        });
    }

    std::array<shard, 64> shards_;

public:
    std::string answer(const std::vector<std::string_view>& words) {
        std::string name(words[0]);
        for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        const std::size_t n = words.size();
        if (name == "PING" && n <= 2) return n == 2 ? bulk(words[1]) : "+PONG\r\n";
        if (name == "ECHO" && n == 2) return bulk(words[1]);
        if (name == "COMMAND" || name == "CONFIG") return "*0\r\n"; // The tools ask at their start.
        if ((name == "DEL" || name == "EXISTS") && n >= 2) {
            long long found = 0;
            for (std::size_t i = 1; i < n; ++i)
                found += with(words[i], [&](shard& in, entry* old) {
                    if (old && name == "DEL") in.entries.erase(std::string(words[i]));
                    return old != nullptr;
                });
            return integer(found);
        }
        if (name == "GET" && n == 2)
            return with(words[1], [](shard&, entry* old) { return old ? bulk(old->value) : none; });
        if (name == "SET" && (n == 3 || n == 5)) return set(words);
        if (name == "INCR" && n == 2)
            return with(words[1], [&](shard& in, entry* old) {
                const auto value = old ? resp::number(old->value) : 0;
                if (!value || *value == INT64_MAX) return not_integer;
                entry& one = old ? *old : in.entries[std::string(words[1])];
                one.value = std::to_string(*value + 1);
                return integer(*value + 1);
            });
        if (name == "EXPIRE" && n == 3) {
            const auto seconds = resp::number(words[2]);
            if (!seconds || *seconds > 1'000'000'000) return not_integer;
            return with(words[1], [&](shard& in, entry* old) {
                if (old) old->ends = steady::now() + std::chrono::seconds(*seconds);
                if (old && *seconds <= 0) in.entries.erase(std::string(words[1]));
                return integer(old != nullptr);
            });
        }
        if (name == "TTL" && n == 2)
            return with(words[1], [](shard&, entry* old) {
                if (!old) return integer(-2);
                if (old->ends == steady::time_point::max()) return integer(-1);
                return integer(std::chrono::ceil<std::chrono::seconds>(old->ends - steady::now())
                                   .count());
            });
        return "-ERR unknown command '" + std::string(words[0].substr(0, 64)) +
               "', or a wrong number of arguments\r\n";
    }
};

void converse(cache& data, io::tcp_stream& peer) {
    std::string text, answers;
    std::vector<std::string_view> words;
    std::array<char, 16384> some;
    while (const std::size_t n = peer.read_some(std::as_writable_bytes(std::span(some)))) {
        text.append(some.data(), n);
        std::size_t at = 0;
        bool quit = false;
        try {
            while (!quit && resp::take_request(text, at, words)) {
                if (words.empty()) continue;
                quit = words[0] == "QUIT" || words[0] == "quit";
                answers += quit ? ok : data.answer(words);
            }
            if (text.size() - at > 2 * resp::most_bytes)
                throw resp::protocol_error("the request is too large");
        } catch (const resp::protocol_error& wrong) {
            answers += "-ERR Protocol error: " + std::string(wrong.what()) + "\r\n";
            quit = true;
        }
        text.erase(0, at);
        peer.write(answers);
        answers.clear();
        if (quit) return;
    }
}

} // namespace

int main(int argc, char** argv) {
    const std::string port = argc > 1 ? argv[1] : "0";
    sennit::run([&] {
        cache data;
        io::signals stop{SIGINT, SIGTERM};
        io::tcp_listener door("localhost", port);
        std::printf("listening on port %u\n", static_cast<unsigned>(door.local().port()));
        std::fflush(stdout);
        sennit::nursery server;
        server.start([&] {
            io::serve(door, {.most_clients = 10'000, .idle = 300s, .drain = 1s},
                      [&](io::tcp_stream& peer) { converse(data, peer); });
        });
        stop.wait();
        door.close();
        server.join();
    });
    std::printf("ended\n");
}
