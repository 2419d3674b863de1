// SPDX-License-Identifier: Apache-2.0
// A chat server. The room is an actor, and so is each member: the room never waits for a member
// that reads slowly.
//
//     chat_server [port]         then: nc localhost PORT
//
// The first line of a client is its name; each later line goes to all other members. `/who` lists
// the members, and `/quit` ends the connection.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <sennit/sennit.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace io = sennit::io;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t longest_line = 1000;

// Reads lines that end with \n or \r\n.
class line_reader {
public:
    explicit line_reader(io::tcp_stream& from) : from_(from) {}
    // Empty at the end of the stream, and after a line that is too long.
    std::optional<std::string> next() {
        for (;;) {
            if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
                std::string line = text_.substr(0, end);
                text_.erase(0, end + 1);
                if (line.ends_with('\r')) line.pop_back();
                return line.size() > longest_line ? std::nullopt : std::optional(line);
            }
            std::array<char, 1024> some;
            const std::size_t n = from_.read_some(std::as_writable_bytes(std::span(some)));
            if (n == 0 || text_.size() > longest_line) return {};
            text_.append(some.data(), n);
        }
    }

private:
    io::tcp_stream& from_;
    std::string text_;
};

struct show {
    std::string text;
};

// Writes to one client. A client that takes nothing for 5 s is cut off.
class member : public sennit::actor<member, show> {
public:
    explicit member(std::shared_ptr<io::tcp_stream> peer) : peer_(std::move(peer)) {}
    void on(const show& what) {
        std::error_code failed;
        peer_->write(io::bytes_of(what.text + '\n'), failed);
        if (failed) peer_->close(); // Ends the reader, which leaves the room.
    }

private:
    std::shared_ptr<io::tcp_stream> peer_;
};

struct join {
    using reply = bool; // False: the name is taken.
    std::string name;
    sennit::actor_ref<member> who;
};
struct say {
    std::string name, text;
};
struct list {
    std::string name;
};
struct leave {
    std::string name;
};

class room : public sennit::actor<room, join, say, list, leave> {
public:
    bool on(const join& what) {
        if (members_.contains(what.name)) return false;
        tell_others(what.name, "* " + what.name + " has joined");
        members_.emplace(what.name, what.who);
        tell_one(what.name, "* welcome, " + what.name);
        return true;
    }
    void on(const say& what) { tell_others(what.name, what.name + ": " + what.text); }
    void on(const list& what) {
        std::string names = "*";
        for (const auto& [name, who] : members_) names += ' ' + name;
        tell_one(what.name, names);
    }
    void on(const leave& what) {
        members_.erase(what.name);
        tell_others(what.name, "* " + what.name + " has left");
    }

private:
    void tell_one(const std::string& name, std::string text) {
        if (const auto found = members_.find(name); found != members_.end())
            found->second.tell(show{std::move(text)});
    }
    void tell_others(const std::string& but, const std::string& text) {
        for (const auto& [name, who] : members_)
            if (name != but) who.tell(show{text});
    }

    std::map<std::string, sennit::actor_ref<member>> members_;
};

void converse(sennit::actor_group& actors, const sennit::actor_ref<room>& all,
              std::shared_ptr<io::tcp_stream> peer) {
    line_reader lines(*peer);
    const std::optional<std::string> name = lines.next();
    if (!name || name->empty()) return;
    const sennit::actor_ref<member> me = actors.spawn<member>(peer);
    if (!all.ask(join{*name, me}).get()) {
        peer->write("* the name is taken\n");
        me.stop();
        return;
    }
    try {
        while (const std::optional<std::string> line = lines.next()) {
            if (*line == "/quit") break;
            if (*line == "/who")
                all.tell(list{*name});
            else
                all.tell(say{*name, *line});
        }
    } catch (const io::error&) { // A reset, or a member that was cut off.
    }
    all.tell(leave{*name});
    me.stop();
}

} // namespace

int main(int argc, char** argv) {
    const std::string port = argc > 1 ? argv[1] : "0";
    sennit::run([&] {
        io::signals stop{SIGINT, SIGTERM};
        io::tcp_listener door("localhost", port);
        std::printf("listening on port %u\n", static_cast<unsigned>(door.local().port()));
        std::fflush(stdout);
        sennit::actor_group actors;
        const sennit::actor_ref<room> all = actors.spawn<room>();
        sennit::nursery server;
        server.start([&] {
            io::serve(door, {.most_clients = 1000, .drain = 1s}, [&](io::tcp_stream& peer) {
                auto shared = std::make_shared<io::tcp_stream>(std::move(peer));
                converse(actors, all, std::move(shared));
            });
        });
        stop.wait();
        door.close();
        server.join();
    });
    std::printf("ended\n");
}
