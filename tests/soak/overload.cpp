// SPDX-License-Identifier: Apache-2.0
// Overload: senders that are faster than the receiver, under each mailbox policy. With a bound, the
// mailbox never holds more messages, dropped messages are counted as dropped, and resident memory
// is flat. Without a bound the mailbox grows, and no message is lost.
//
//   overload --messages N     each policy until its senders have sent N
//   overload --seconds S      each policy for S seconds
//
// The program prints one line for each policy. Exit status 0: all promises held; 1: a promise was
// broken; 2: bad input.
#include "resident.hpp"

#include <sennit/sennit.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
constexpr std::uint32_t room = 256;
constexpr unsigned senders = 4;
constexpr std::uint64_t work = 200; // the steps of a handler, which make it slower than a sender
constexpr long slack_kib = 8 * 1024;

// The number of existing messages: in the mailbox, on their way to it, being handled or being
// dropped.
std::atomic<std::int64_t> alive{0}, max_alive{0};

class load {
public:
    explicit load(std::uint64_t seed) noexcept : seed_(seed), counts_(true) {
        const std::int64_t now = ++alive;
        std::int64_t most = max_alive.load();
        while (now > most && !max_alive.compare_exchange_weak(most, now)) {
        }
    }
    load(load&& other) noexcept
        : seed_(other.seed_), counts_(std::exchange(other.counts_, false)) {}
    ~load() {
        if (counts_) --alive;
    }
    std::uint64_t seed() const noexcept { return seed_; }

private:
    std::uint64_t seed_;
    bool counts_;
};
struct done {
    using reply = std::uint64_t;
};

class slow : public sennit::actor<slow, load, done> {
public:
    void on(load m) {
        std::uint64_t value = m.seed();
        for (std::uint64_t i = 0; i < work; ++i)
            value = (value ^ value >> 33) * 6364136223846793005u + 1;
        mixed_ = mixed_ + value;
        ++handled_;
    }
    std::uint64_t on(done) { return handled_; }

private:
    std::uint64_t handled_ = 0;
    volatile std::uint64_t mixed_ = 0;
};

struct policy {
    const char* name;
    std::uint32_t room; // 0: no bound
    sennit::overflow overflow;
    bool waits;      // the senders wait for room
    bool tells_full; // the sender of a dropped message learns of it
};
constexpr policy policies[] = {
    {"none", 0, sennit::overflow::suspend, false, false},
    {"suspend", room, sennit::overflow::suspend, true, true},
    {"fail", room, sennit::overflow::fail, false, true},
    {"drop_newest", room, sennit::overflow::drop_newest, false, false},
    {"drop_oldest", room, sennit::overflow::drop_oldest, false, false},
};

struct limits {
    std::uint64_t messages = 0; // the messages of all senders; 0: `time` is the limit
    std::chrono::duration<double> time{0};
};

bool run(const policy& how, const limits& until) {
    sennit::runtime runtime({.workers = 2});
    sennit::actor_group group(runtime);
    auto to = group.spawn<slow>({.mailbox = how.room, .overflow = how.overflow});
    max_alive = alive.load();
    const auto dead_before = sennit::dead_letters();
    std::atomic<std::uint64_t> sent{0}, accepted{0};
    std::atomic<std::uint64_t> begun{0};
    std::atomic<long> warm{0};
    long most = 0;
    const auto start = clock_type::now();
    const auto over = [&](std::uint64_t mine) {
        return until.messages != 0 ? mine >= until.messages / senders
                                   : clock_type::now() - start >= until.time;
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < senders; ++i)
        threads.emplace_back([&] {
            std::uint64_t mine = 0, taken = 0;
            for (; !over(mine); ++mine) {
                // Without a bound only memory limits how far the receiver falls behind: a million
                // messages at most here.
                while (how.room == 0 && alive.load() > 1'000'000) std::this_thread::yield();
                const auto status = how.waits ? to.send(load(mine)) : to.try_tell(load(mine));
                taken += status == sennit::send_status::sent;
                if (mine == 10'000) warm = resident_kib();
            }
            sent += mine;
            accepted += taken;
            ++begun;
        });
    while (begun != senders) {
        if (const long first = warm; first != 0) most = std::max(most, resident_kib() - first);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    for (std::thread& one : threads) one.join();
    // The question waits behind all sent messages. If there is no room for it, it is asked again.
    std::uint64_t handled = 0;
    for (bool answered = false; !answered;) try {
            handled = to.ask(done{}).get();
            answered = true;
        } catch (const sennit::ask_failed&) {
            std::this_thread::yield();
        }
    const std::uint64_t dead = sennit::dead_letters() - dead_before;
    group.stop();
    group.join();
    const std::int64_t held = max_alive.load();
    const std::int64_t bound =
        std::int64_t{how.room} * (how.overflow == sennit::overflow::drop_oldest ? 4 : 1);
    const bool bounded =
        how.room == 0 ||
        held <= bound + 2 * senders + 2; // each sender holds one message, and so does a batch
    const bool counted = how.tells_full ? handled == accepted : handled <= sent;
    const bool lossless = !(how.room == 0 || how.waits) || handled == sent;
    const bool flat =
        how.room == 0 || memory_is_shadowed || until.messages != 0 || most <= slack_kib;
    const bool nothing_left = alive.load() == 0;
    std::printf("%-12s sent %llu, handled %llu, dead letters %llu, at most %lld at once, %+ld "
                "KiB%s%s%s%s%s\n",
                how.name, static_cast<unsigned long long>(sent.load()),
                static_cast<unsigned long long>(handled), static_cast<unsigned long long>(dead),
                static_cast<long long>(held), most, bounded ? "" : "; MORE THAN THE BOUND",
                counted ? "" : "; WRONGLY COUNTED", lossless ? "" : "; LOST",
                flat ? "" : "; MEMORY GROWS", nothing_left ? "" : "; LEFT ALIVE");
    std::fflush(stdout);
    return bounded && counted && lossless && flat && nothing_left;
}

} // namespace

int main(int argc, char** argv) {
    limits until;
    const std::string what = argc == 3 ? argv[1] : "";
    char* end = nullptr;
    const double value = argc == 3 ? std::strtod(argv[2], &end) : 0;
    if ((what != "--messages" && what != "--seconds") || !end || *end || !(value > 0)) {
        std::fputs("usage: overload --messages N | --seconds S\n", stderr);
        return 2;
    }
    if (what == "--messages")
        until.messages = std::max<std::uint64_t>(senders, static_cast<std::uint64_t>(value));
    else
        until.time = std::chrono::duration<double>(value);
    sennit::set_dead_letter_handler(nullptr);
    bool right = true;
    for (const policy& one : policies) right = run(one, until) && right;
    return right ? 0 : 1;
}
