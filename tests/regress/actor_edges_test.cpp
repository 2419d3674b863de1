// SPDX-License-Identifier: Apache-2.0
// Bugs in edge cases of actors that a review has found, with the smallest program of each.
#include "sennit/detail/base/sanitizers.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace actor_edges {
namespace {

using namespace std::chrono_literals;

struct number {
    int n;
};
struct ping {
    using reply = int;
};

class silence {
public:
    silence() : before_(sennit::set_dead_letter_handler(nullptr)) {}
    ~silence() { sennit::set_dead_letter_handler(before_); }

private:
    sennit::dead_letter_handler before_;
};

// An actor that waits in its first message.
struct records : sennit::actor<records, number, ping> {
    records(std::vector<int>& into, sennit::event& begun, sennit::event& goes_on)
        : into_(into), begun_(begun), goes_on_(goes_on) {}
    void on(number m) {
        into_.push_back(m.n);
        if (into_.size() != 1) return;
        begun_.set();
        goes_on_.wait();
    }
    int on(ping) { return static_cast<int>(into_.size()); }

private:
    std::vector<int>& into_;
    sennit::event &begun_, &goes_on_;
};

// Urgent messages that had come in a batch fell behind later urgent messages, if the batch left
// some messages unhandled.
struct steps {
    sennit::event begun, first_sent, taken, second_sent;
};
struct turns : sennit::actor<turns, number, ping> {
    turns(std::vector<int>& into, steps& by) : into_(into), by_(by) {}
    void on(number m) {
        into_.push_back(m.n);
        if (m.n == 0) {
            by_.begun.set();
            by_.first_sent.wait();
            // This message makes the mailbox take the messages that other workers have sent before.
            self().tell(number{-1});
            by_.taken.set();
            by_.second_sent.wait();
        }
        if (m.n != 100) return;
        // This time is longer than a batch may take.
        const auto until = std::chrono::steady_clock::now() + 1ms;
        while (std::chrono::steady_clock::now() < until) {
        }
    }
    int on(ping) { return static_cast<int>(into_.size()); }

private:
    std::vector<int>& into_;
    steps& by_;
};
TEST(regress, urgent_messages_stay_in_order_across_batches) {
    constexpr int usual = 400; // more than one batch handles
    std::vector<int> handled;
    steps by;
    sennit::runtime runtime({.workers = 1});
    sennit::actor_group group(runtime);
    const auto one = group.spawn<turns>(handled, by);
    runtime.run([&] {
        for (int i = 0; i < usual; ++i) one.tell(number{i});
    });
    by.begun.wait();
    one.tell_urgent(number{usual + 1});
    by.first_sent.set();
    by.taken.wait();
    one.tell_urgent(number{usual + 2});
    by.second_sent.set();
    while (one.ask(ping{}).get() != usual + 3) std::this_thread::yield();
    std::vector<int> urgent, rest;
    for (const int n : handled) (n > usual ? urgent : rest).push_back(n);
    EXPECT_EQ(urgent, (std::vector{usual + 1, usual + 2}));
    for (int i = 0; i < usual; ++i) EXPECT_EQ(rest[static_cast<std::size_t>(i)], i);
}

// Each urgent message walked past all waiting messages. With this many messages the program took
// hours.
TEST(regress, urgent_messages_do_not_walk_past_waiting_messages) {
    constexpr int many = 300'000;
    for (const bool from_a_worker : {true, false}) {
        std::vector<int> handled;
        sennit::event begun, goes_on;
        sennit::runtime runtime({.workers = 1});
        sennit::actor_group group(runtime);
        const auto one = group.spawn<records>(handled, begun, goes_on);
        one.tell(number{0});
        begun.wait();
        one.tell(number{many});
        const auto send = [&] {
            for (int i = 1; i < many; ++i) one.tell_urgent(number{i});
        };
        from_a_worker ? runtime.run(send) : send();
        goes_on.set();
        EXPECT_EQ(one.ask(ping{}).get(), many + 1);
        for (int i = 0; i <= many; ++i) ASSERT_EQ(handled[static_cast<std::size_t>(i)], i);
    }
}

// A reference to an ended actor read freed memory while the runtime ended.
struct idle : sennit::actor<idle, number> {
    void on(number) {}
};
TEST(regress, reference_to_an_ended_actor_outlives_the_runtime) {
    const silence during;
    std::atomic<std::uint64_t> last{0};
    std::atomic<bool> stop{false};
    std::thread uses([&] {
        while (!stop) {
            const sennit::actor_ref<idle> one(std::bit_cast<sennit::sched::address>(last.load()));
            EXPECT_FALSE(one.alive());
            one.tell(number{1});
        }
    });
    std::vector<sennit::actor_ref<idle>> all;
    for (int i = 0; i < 200; ++i) {
        sennit::runtime runtime({.workers = 1});
        sennit::actor_ref<idle> one;
        {
            sennit::actor_group group(runtime);
            one = group.spawn<idle>();
            EXPECT_TRUE(one.alive());
            for (const auto& gone : all) EXPECT_FALSE(gone.alive() || gone == one);
        }
        all.push_back(one);
        last = std::bit_cast<std::uint64_t>(one.address());
        std::this_thread::yield();
    }
    stop = true;
    uses.join();
}

// The runtime did not detect a cycle of questions that `forward` closes.
struct begin {
    using reply = int;
    std::chrono::nanoseconds limit;
};
struct asks : sennit::actor<asks, begin, ping> {
    explicit asks(sennit::actor_group& where);
    int on(ping) { return 1; }
    int on(begin m) {
        const auto answer = other_.ask(ping{}, m.limit);
        return answer ? 0 : static_cast<int>(answer.error());
    }

private:
    sennit::actor_ref<sennit::accepts<ping>> other_;
};
struct passes_on : sennit::actor<passes_on, ping> {
    explicit passes_on(sennit::actor_ref<sennit::accepts<ping>> to) : to_(to) {}
    void on(ping m, sennit::reply_to<int> answer) { forward(to_, m, std::move(answer)); }

private:
    sennit::actor_ref<sennit::accepts<ping>> to_;
};
asks::asks(sennit::actor_group& where)
    : other_(where.spawn<passes_on>(where.spawn<passes_on>(self()))) {}
TEST(regress, runtime_detects_a_cycle_that_forward_closes) {
    sennit::actor_group group;
    const auto one = group.spawn<asks>(group);
    for (const std::chrono::nanoseconds limit : {std::chrono::nanoseconds(1h), sennit::forever})
        EXPECT_EQ(one.ask(begin{limit}).get(), static_cast<int>(sennit::ask_error::cycle));
    EXPECT_EQ(one.ask(ping{}, 1h).value(), 1);
}

// A supervisor inside another supervisor was not told to end when its mailbox was full.
struct slow_to_begin : sennit::actor<slow_to_begin, number> {
    slow_to_begin(sennit::event& begun, sennit::event& goes_on) {
        begun.set();
        goes_on.wait();
    }
    void on(number) {}
};
TEST(regress, supervisor_with_a_full_mailbox_ends) {
    const silence during;
    sennit::event begun, goes_on;
    sennit::actor_group group;
    const sennit::child<idle> one, extra;
    const sennit::child<slow_to_begin> slow({}, std::ref(begun), std::ref(goes_on));
    const sennit::child<sennit::supervisor> part({.spawn = {.mailbox = 1}},
                                                 sennit::supervision{.stays = true}, one);
    const auto top = sennit::supervise(group, {}, part);
    (void)part.tell(sennit::add_child{slow});
    begun.wait();
    (void)part.tell(sennit::add_child{extra}); // takes the last slot
    auto ended = top.ask(sennit::end_supervision{});
    // By now the supervisor has told its child to end.
    EXPECT_THROW(top.ask(sennit::add_child{extra}).get(), sennit::ask_failed);
    goes_on.set();
    ended.get();
    group.join();
}

// A fiber_local showed the value of one actor to the next actor.
struct holds_local : sennit::actor<holds_local, number> {
    holds_local(std::vector<int>& seen, sennit::fiber_local<int>& local, sennit::event& done)
        : seen_(seen), local_(local), done_(done) {}
    void on(number m) {
        seen_.push_back(*local_);
        *local_ = m.n;
        if (m.n == 0) return done_.set();
        if (!next_) next_ = group().spawn<holds_local>(seen_, local_, done_);
        next_.tell(number{m.n - 1});
        if (m.n % 3 == 0) sennit::this_fiber::yield();
    }

private:
    std::vector<int>& seen_;
    sennit::fiber_local<int>& local_;
    sennit::event& done_;
    sennit::actor_ref<holds_local> next_;
};
TEST(regress, fiber_local_value_belongs_to_one_actor) {
    std::vector<int> seen;
    sennit::fiber_local<int> local;
    sennit::runtime runtime({.workers = 1});
    sennit::actor_group group(runtime);
    sennit::event done;
    group.spawn<holds_local>(seen, local, done).tell(number{20});
    done.wait();
    EXPECT_EQ(seen, std::vector<int>(21, 0));
}
struct finds_local : sennit::actor<finds_local, number, ping> {
    explicit finds_local(sennit::fiber_local<int>& local) : local_(local) {}
    void on(number m) {
        found_ += local_.has_value();
        *local_ = m.n;
    }
    int on(ping) { return found_; }

private:
    int found_ = 0;
    sennit::fiber_local<int>& local_;
};
TEST(regress, fiber_local_value_belongs_to_one_message) {
    sennit::fiber_local<int> local;
    sennit::actor_group group;
    const auto one = group.spawn<finds_local>(local);
    for (int i = 0; i < 1000; ++i) one.tell(number{i});
    EXPECT_EQ(one.ask(ping{}).get(), 0);
}

// The destructor of the value sends urgent messages to its own actor, which has more messages than
// a batch handles.
struct tells_at_its_end {
    sennit::actor_ref<sennit::accepts<number>> whom;
    int n = 0;
    ~tells_at_its_end() {
        if (!whom) return;
        sennit::this_fiber::yield();
        whom.tell_urgent(number{n});
    }
};
struct has_late_words : sennit::actor<has_late_words, number, ping> {
    explicit has_late_words(sennit::fiber_local<tells_at_its_end>& local) : local_(local) {}
    void on(number m) {
        seen_.push_back(m.n);
        if (m.n > 0) return;
        local_->whom = self();
        local_->n = 1000 - m.n;
    }
    int on(ping) { return static_cast<int>(seen_.size()); }

private:
    std::vector<int> seen_;
    sennit::fiber_local<tells_at_its_end>& local_;
};
TEST(regress, destructor_of_a_fiber_local_value_sends_messages) {
    sennit::fiber_local<tells_at_its_end> local;
    sennit::runtime runtime({.workers = 2});
    sennit::actor_group group(runtime);
    const auto one = group.spawn<has_late_words>(local);
    for (int i = 0; i < 1000; ++i) one.tell(number{i % 7 == 0 ? -i : i});
    // The actor receives one more message for each value.
    while (one.ask(ping{}).get() != 1000 + 143) std::this_thread::yield();
}

// The metrics counted dropped messages as handled.
TEST(regress, metrics_do_not_count_dropped_messages_as_handled) {
    const silence during;
    std::vector<int> handled;
    sennit::event begun, goes_on;
    sennit::actor_group group;
    const auto one = group.spawn<records>({.mailbox = 2, .overflow = sennit::overflow::drop_oldest},
                                          handled, begun, goes_on);
    one.tell(number{0});
    begun.wait();
    for (int i = 1; i <= 8; ++i) one.tell(number{i});
    goes_on.set();
    while (sennit::metrics_of(one)->waiting.value() != 0) std::this_thread::yield();
    EXPECT_EQ(one.ask(ping{}).get(), 3);
    EXPECT_EQ(handled, (std::vector{0, 7, 8}));
    EXPECT_EQ(sennit::metrics_of(one)->handled, 4u);
    EXPECT_EQ(group.handled(), 4u);
}

// A period that is not a number was accepted.
TEST(regress, timer_rejects_a_period_that_is_not_a_number) {
    sennit::actor_group group;
    const auto one = group.spawn<idle>();
    const std::chrono::duration<double> none(std::nan(""));
    EXPECT_THROW((void)sennit::tell_every(one, none, number{1}), std::invalid_argument);
    EXPECT_EQ(sennit::sched::deadline_in(none), 0);
}

// The error for an actor on a worker that does not exist called the actor a fiber.
TEST(regress, error_names_a_worker_that_does_not_exist) {
    sennit::runtime runtime({.workers = 2});
    sennit::actor_group group(runtime);
    try {
        (void)group.spawn<idle>({.initial_worker = 3});
        FAIL() << "the group spawned an actor on a worker that does not exist";
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string(error.what()),
                  "sennit: [SNT-013] there is no worker 3; the runtime was started with 2 workers, "
                  "whose numbers begin at 0");
    }
}

// Messages may hide their address.
struct hides {
    using reply = int;
    int n = 0;
    hides* operator&() = delete;
    const hides* operator&() const = delete;
};
struct hidden : sennit::actor<hidden, hides> {
    hidden* operator&() = delete;
    int on(const hides& m) { return m.n; }
};
struct open_hidden : sennit::open_actor<open_hidden> {
    open_hidden() {
        add_handler([](const hides& m) { return m.n; });
    }
};
TEST(regress, messages_and_actors_hide_their_address) {
    sennit::actor_group group;
    EXPECT_EQ(group.spawn<hidden>().ask(hides{1}).get(), 1);
    EXPECT_EQ(group.spawn<open_hidden>().ask(hides{2}).get(), 2);
    const sennit::any_ref any = group.spawn<hidden>();
    any.tell(hides{3});
    EXPECT_EQ(any.ask(hides{4}).get(), 4);
}

#ifndef SENNIT_THREAD_SANITIZER // which allows no new threads in a child of fork()
// In a child of fork an actor of a runtime from before was spawned, and its group waited for it for
// ever.
TEST(regress, group_from_before_fork_spawns_no_actor) {
    sennit::runtime runtime({.workers = 1});
    auto group = std::make_unique<sennit::actor_group>(runtime);
    (void)group->spawn<idle>();
    const pid_t child = ::fork();
    if (child == 0) {
        const auto refused = [](auto what) {
            try {
                what();
            } catch (const std::system_error& error) {
                return error.code() == std::errc::operation_not_permitted;
            }
            return false;
        };
        const bool spawn = refused([&] { (void)group->spawn<idle>(); });
        const bool join = refused([&] { group->join(); });
        group.reset();
        ::_exit(spawn && join ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

} // namespace
} // namespace actor_edges
