// SPDX-License-Identifier: Apache-2.0
#include "faces.hpp"

#include <sennit/sennit.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace faults::features {

namespace {

using namespace std::chrono_literals;

// too long for the buffer inside a std::string
std::string text() {
    return std::string(40, 'x');
}

} // namespace

bool fibers() {
    sennit::fiber first([kept = text()] { return kept.size(); });
    const std::size_t size = first.join<std::size_t>();
    sennit::event done;
    sennit::fiber([&done] { done.set(); }).detach();
    done.wait();
    sennit::fiber fails([] { throw std::bad_alloc(); });
    try {
        fails.join();
        return false;
    } catch (const std::bad_alloc&) {
        return size == 40;
    }
}

// No fiber is bound to a worker. A joiner may block that worker if there is no other stack to
// switch to.
bool fibers_with_attributes() {
    sennit::fiber named({.name = "named"}, [] { return 1; });
    sennit::fiber large({.stack_size = 256 << 10}, [] {
        volatile char room[128 << 10] = {};
        room[0] = 2;
        return static_cast<int>(room[0]);
    });
    sennit::fiber ordered({.priority = 4}, [] { return 4; });
    sennit::fiber migratable({.stack_size = 64 << 10, .migratable = true}, [] { return 8; });
    const bool is_named = named.name() == "named";
    return named.join<int>() + large.join<int>() + ordered.join<int>() + migratable.join<int>() ==
               15 &&
           is_named;
}

bool fibers_that_stop() {
    // The fiber makes the token, so the exception of that construction belongs to the fiber.
    sennit::fiber one([](std::stop_token stop) {
        while (!stop.stop_requested()) sennit::this_fiber::yield();
        return 7;
    });
    (void)one.request_stop();
    const bool has_stopped = one.join<int>() == 7 && one.get_stop_token().stop_requested();
    sennit::event done;
    sennit::fiber two([&done] { done.set(); });
    two.detach(); // the fiber is not detached if there is no memory for its stop state
    done.wait();
    return has_stopped && two.request_stop();
}

bool locks() {
    sennit::mutex lock;
    sennit::condition_variable changed;
    int turn = 0;
    {
        sennit::nursery all;
        all.start([&] {
            std::unique_lock guard(lock);
            changed.wait(guard, [&] { return turn == 1; });
            turn = 2;
        });
        {
            std::lock_guard guard(lock);
            turn = 1;
            changed.notify_all();
        }
        all.join();
    }
    std::unique_lock guard(lock);
    const bool late = !changed.wait_for(guard, 1us, [&] { return turn == 3; });
    guard.unlock();
    sennit::timed_mutex timed;
    std::unique_lock held(timed);
    bool had = true;
    sennit::nursery others;
    others.start([&] { had = std::unique_lock(timed, 1us).owns_lock(); });
    others.join();
    return turn == 2 && late && !had;
}

bool channels() {
    sennit::channel<std::string> few(2), none;
    int sum = 0;
    sennit::nursery all;
    const auto closing = [](auto& channel, int times) {
        try {
            for (int i = 0; i < times; ++i) (void)channel.push(text());
            channel.close();
            // The other side must learn of the error.
        } catch (const std::bad_alloc&) {
            channel.close();
            throw;
        }
    };
    all.start([&] { closing(few, 5); });
    while (auto one = few.pop()) sum += one->size() == 40;
    all.join();
    all.start([&] { closing(none, 1); });
    const auto last = none.pop();
    all.join();
    return sum == 5 && last == text();
}

bool a_growing_channel() {
    sennit::channel<int> all(sennit::channel<int>::unbounded);
    int told = 0;
    const auto take_all = [&] {
        int found = 0;
        for (int value = 0; all.try_pop(value) == sennit::channel_status::success; ++found)
            if (value != found) return -1;
        return found;
    };
    try {
        for (; told < 300; ++told) (void)all.push(told);
    } catch (const std::bad_alloc&) {
        // The channel holds each value whose push has reported success.
        if (take_all() != told) return false;
        throw;
    }
    return take_all() == 300;
}

bool selects() {
    sennit::channel<std::string> in, out(1);
    sennit::channel<int> grows(sennit::channel<int>::unbounded);
    std::string got;
    sennit::nursery all;
    all.start([&, given = text()]() mutable { (void)in.push(std::move(given)); });
    bool pushed = false, grown = false, late = false;
    while (!pushed || got.empty())
        sennit::select(
            sennit::when(got.empty(),
                         sennit::on_pop(in, [&](std::string value) { got = std::move(value); })),
            sennit::when(!pushed, sennit::on_push(out, text(), [&] { pushed = true; })));
    sennit::select(sennit::on_push(grows, 1, [&] { grown = true; }));
    sennit::select(sennit::on_pop(in, [](std::string) {}),
                   sennit::after(1us, [&] { late = true; }));
    all.join();
    return got == text() && grown && late && out.pop() == text();
}

bool futures() {
    sennit::promise<std::string> promise;
    auto length =
        promise.get_future().then([](sennit::future<std::string> of) { return of.get().size(); });
    promise.set_value(text());
    auto other = sennit::async([kept = text()] { return kept.size() + 1; });
    return length.get() + other.get() == 81;
}

bool all_and_any() {
    std::vector<sennit::future<int>> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(sennit::async([i] { return i; }));
    int sum = 0;
    auto all = sennit::when_all(parts.begin(), parts.end());
    for (auto& one : all.get()) sum += one.get();
    std::vector<sennit::future<int>> some;
    for (int i = 0; i < 2; ++i) some.push_back(sennit::async([] { return 1; }));
    auto any = sennit::when_any(some.begin(), some.end()).get();
    return sum == 3 && any.futures.at(any.index).get() == 1;
}

bool a_nursery() {
    std::atomic<int> ran{0};
    sennit::nursery all;
    for (int i = 0; i < 20; ++i) all.start([&ran, kept = text()] { ran += kept.size() == 40; });
    all.join();
    sennit::event never;
    all.start([&] { never.wait(); });
    all.cancel();
    try {
        all.join();
    } catch (const sennit::cancelled&) {
        return false; // the owner has cancelled the fiber
    }
    return ran == 20;
}

bool families() {
    const std::vector<int> input(10, 2);
    int sum = 0;
    for (const int n : sennit::map_concurrent(input, 2, [](int k) { return k; })) sum += n;
    for (const int n :
         sennit::as_completed(input, 2, [kept = text()](int k) { return k + (kept.size() != 40); }))
        sum += n;
    sum += sennit::race([] { return 1; }, [] { return 1; });
    sennit::nursery collecting({.limit = 2, .collect_errors = true});
    for (int i = 0; i < 3; ++i) collecting.start([] { throw 1; });
    try {
        collecting.join();
        return false;
    } catch (const sennit::exception_list& all) {
        return sum == 41 && all.size() == 3;
    }
}

bool shared_values() {
    sennit::lease_pool<std::string> pool(&text);
    std::size_t letters = pool.borrow()->size();
    {
        const auto one = pool.borrow(), two = pool.borrow();
        letters += one->size() + two->size();
    }
    sennit::counter count;
    count.add(3);
    sennit::broadcast<std::string> news(2);
    auto mine = news.subscribe();
    news.publish(text());
    letters += mine.pop()->size();
    sennit::watch<std::string> state(text());
    state.update([](const std::string& now) { return now + now; });
    letters += state.get()->size();
    sennit::single_flight<int, int> squares({.lifetime = 1h});
    for (int i = 0; i < 4; ++i)
        letters += static_cast<std::size_t>(squares.get(i % 2, [i] { return i; }));
    return letters == 242 && count.value() == 3;
}

bool timers() {
    sennit::this_fiber::sleep_for(10us);
    sennit::event never;
    try {
        sennit::with_timeout(10us, [&] { never.wait(); });
        return false;
    } catch (const sennit::timed_out&) {
        return !never.wait_for(10us);
    }
}

namespace {

struct add {
    int n;
    std::string kept;
};
struct total {
    using reply = int;
};
class counter : public sennit::actor<counter, add, total> {
public:
    void on(add m) { sum_ += m.kept.size() == 40 ? m.n : 0; }
    int on(total) { return sum_; }

private:
    int sum_ = 0;
};

} // namespace

bool actors() {
    sennit::actor_group all;
    const auto one = all.spawn<counter>();
    const sennit::spawn_options by_name{.name = "counter of the fault tests, by name"};
    const auto named = all.spawn<counter>(by_name);
    for (int i = 1; i <= 4; ++i) one.tell(add{i, text()});
    named.tell(add{5, text()});
    const int sum = one.ask(total{}).get() + named.ask(total{}).get();
    one.stop();
    while (one.alive()) sennit::this_fiber::yield();
    return sum == 15 && named.alive();
}

bool bounded_actors() {
    sennit::actor_group all;
    const sennit::spawn_options bounded{.mailbox = 1};
    const auto one = all.spawn<counter>(bounded);
    for (int i = 1; i <= 4; ++i)
        if (one.send(add{i, text()}) != sennit::send_status::sent) return false;
    for (;;) { // the mailbox has no room for a question while it holds the last message
        if (auto answer = one.ask(total{}, 10s)) return *answer == 10;
        sennit::this_fiber::yield();
    }
}

namespace {

struct more {};
struct opener : sennit::open_actor<opener> {
    opener() {
        add_handler(&opener::one_more);
        add_handler([this](const total&) { return sum; });
    }
    void one_more(const more&) {
        add_handler([this, kept = text()](const add& m) { sum += kept == m.kept ? m.n : 0; });
    }
    int sum = 0;
};

} // namespace

// A registration that fails ends the actor with that error, and changes nothing at a receiver.
bool open_actors() {
    sennit::actor_group all;
    sennit::receiver here;
    const auto one = all.spawn<opener>();
    for (int i = 1; i <= 3; ++i) {
        one.tell(more{});
        one.tell(add{i, text()});
    }
    int sum = 0;
    try {
        sum = one.ask(total{}).get();
    } catch (const sennit::ask_failed&) {
        all.join();
        return false;
    }
    int seen = 0;
    const auto which =
        here.add_handler([&, kept = text()](const add& m) { seen += kept == m.kept ? m.n : 0; });
    {
        sennit::catcher<add> caught(here);
        here.ref().tell(add{5, text()});
        if (here.wait() != 1 || caught.pop().message.n != 5) return false;
    }
    return here.remove_handler(which) && seen == 5 && sum == 1 + 2 * 2 + 3 * 3;
}

namespace {

struct cell : sennit::monitor {
    sennit::condition filled{*this};
    int value = 0;
    void put(int given) {
        auto in = sennit::enter<&cell::put>(*this);
        value = given;
        filled.signal();
    }
    int get() {
        auto in = sennit::enter<&cell::get>(*this);
        if (value == 0) filled.wait();
        return value;
    }
    int get_accepting() {
        auto in = sennit::enter<&cell::get_accepting>(*this);
        if (value == 0) sennit::waitfor(sennit::accept<&cell::put>(*this));
        return value;
    }
};

} // namespace

bool monitors() {
    cell one;
    sennit::nursery all;
    all.start([&] { one.put(3); });
    const int got = one.get();
    all.join();
    return got == 3;
}

bool accepted_calls() {
    cell one;
    sennit::nursery all;
    all.start([&] { one.put(3); });
    const int got = one.get_accepting();
    all.join();
    return got == 3;
}

bool coroutines() {
    sennit::coroutine<int, int> sum([kept = text()](auto& self, int value) -> int {
        for (int so_far = 0;;) value = self.suspend(so_far += value);
    });
    if (sum.resume(3) != 3 || sum.resume(4) != 7) return false;
    sennit::coroutine<int, int> unused([](auto& self, int value) -> int {
        for (;;) value = self.suspend(value);
    });
    return unused.resume(1) == 1;
}

namespace {
sennit::task<std::size_t> receives(sennit::channel<std::string>& from) {
    const std::optional<std::string> got = co_await from.async_pop();
    co_return got ? got->size() : 0;
}
sennit::task<std::size_t> awaits(sennit::channel<std::string>& from) {
    const std::size_t first = co_await receives(from);
    co_return first + co_await receives(from);
}
} // namespace

// Closes the channel on the way out, so that no task waits for values that a refusal has prevented.
bool tasks() {
    sennit::channel<std::string> texts(8); // Has room for all, should the tasks fail.
    struct closing {
        sennit::channel<std::string>& channel;
        std::vector<sennit::future<std::size_t>> all;
        ~closing() {
            channel.close();
            for (auto& each : all)
                if (each.valid()) each.wait();
        }
    } tasks{texts, {}};
    tasks.all.reserve(3); // A refused push_back would drop a future, and its task would run on.
    for (int i = 0; i < 3; ++i) tasks.all.push_back(sennit::spawn(awaits, std::ref(texts)));
    for (int i = 0; i < 6; ++i) texts.push(text());
    std::size_t letters = 0;
    for (auto& each : tasks.all) letters += each.get();
    const auto parts = [&texts]() -> sennit::task<std::size_t> {
        const auto [a, b] = co_await sennit::async_fork_join([&] { return receives(texts); },
                                                             [&] { return receives(texts); });
        co_return a + b;
    };
    texts.push(text());
    texts.push(text());
    letters += sennit::block_on(parts());
    return letters == 8 * 40;
}

bool task_graphs() {
    sennit::par::task_graph g;
    sennit::par::tokens few(1);
    std::atomic<int> leaves{0};
    auto first = g.add([kept = text()] { return static_cast<int>(kept.size()); }).name(text());
    auto last = first;
    for (int i = 0; i < 100; ++i) { // more ready nodes than a visit has slots
        g.add([&](int) { ++leaves; }, last);
        last = g.add([](int v) { return v + 1; }, last);
    }
    auto limited = g.add([](int v) { return v; }, sennit::par::uses(few), last);
    g.run();
    g.run_from(last);
    return limited.result() == 140 && leaves == 100;
}

bool pipelines() {
    int next = 0;
    int sum = 0;
    sennit::par::pipeline(
        4,
        [&]() -> std::optional<std::string> {
            if (next++ == 20) return std::nullopt;
            return text();
        },
        sennit::par::parallel([](std::string s) { return s.size(); }),
        sennit::par::in_order([&](std::size_t size) { sum += static_cast<int>(size); }));
    return sum == 800;
}

bool connections_that_wait() {
    namespace io = sennit::io;
    io::tcp_listener listener(io::endpoint("127.0.0.1:0"));
    const io::endpoint at = listener.local();
    std::error_code failed;
    std::string got;
    sennit::nursery both;
    both.start([&] {
        try {
            io::serve_when_readable(listener, {}, [kept = text()](io::tcp_stream& peer) {
                std::array<std::byte, 16> buffer{};
                const std::size_t n = peer.read_some(buffer);
                if (n == 0) return io::served::close;
                peer.write(std::span(buffer).first(n));
                return io::served::keep;
            });
        } catch (...) {
            listener.close(); // The client would wait for a server.
            throw;
        }
    });
    {
        io::tcp_stream peer = io::tcp_stream::connect(at, failed);
        for (int i = 0; i < 3 && !failed; ++i) {
            std::array<char, 1> answer{};
            peer.write(io::bytes_of("a"), failed);
            if (!failed) peer.read(std::as_writable_bytes(std::span(answer)), failed);
            if (!failed) got += answer[0];
        }
    }
    listener.close();
    both.join();
    return got == "aaa";
}

} // namespace faults::features
