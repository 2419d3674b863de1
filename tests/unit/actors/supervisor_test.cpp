// SPDX-License-Identifier: Apache-2.0
// Supervisors and their reaction to children that fail. The tests supply the clock that measures
// the span `within`.
#include "until.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace supervisor_tests {
namespace {

using namespace std::chrono_literals;
using actor_tests::until;
using sennit::child;
using sennit::restart;
using sennit::strategy;
using sennit::supervision;
using sennit::supervisor;

// A log of events in order: "+a" when the actor of child a is constructed, "-a" when it is
// destroyed.
class journal {
public:
    void note(const std::string& what) {
        std::lock_guard guard(lock_);
        text_ += what + " ";
    }
    std::string text() const {
        std::lock_guard guard(lock_);
        return text_;
    }
    std::string take() {
        std::lock_guard guard(lock_);
        return std::exchange(text_, "");
    }
    void await(const std::string& end) {
        until([&] { return text().ends_with(end); });
    }

private:
    mutable std::mutex lock_;
    std::string text_;
};

struct go_wrong {};
struct finish {};
struct age { // asks for the number of these questions so far
    using reply = int;
};

// While `bad_starts` is positive, each construction of the servant decrements it and throws.
struct trouble {
    std::atomic<int> bad_starts{0};
    std::atomic<int> living{0};
};

class servant : public sennit::actor<servant, go_wrong, finish, age> {
public:
    servant(std::string name, std::shared_ptr<journal> into,
            std::shared_ptr<trouble> luck = nullptr)
        : name_(std::move(name)), journal_(std::move(into)), trouble_(std::move(luck)) {
        if (trouble_ && trouble_->bad_starts > 0) {
            --trouble_->bad_starts;
            throw std::runtime_error("does not start");
        }
        journal_->note("+" + name_);
    }
    ~servant() { journal_->note("-" + name_); }
    void on(go_wrong) { throw std::runtime_error("thrown on purpose"); }
    void on(finish) { stop(); }
    int on(age) { return ++age_; }

private:
    std::string name_;
    std::shared_ptr<journal> journal_;
    std::shared_ptr<trouble> trouble_;
    int age_ = 0;
};

struct observed { // asks for the end that the observer has learned of
    using reply = sennit::down;
};
struct observe_supervisor {
    using reply = void;
    sennit::actor_ref<supervisor> whom;
};
class observer : public sennit::actor<observer, observe_supervisor, observed, sennit::down> {
public:
    void on(observe_supervisor m) { watch(m.whom); }
    void on(const sennit::down& m) {
        seen_ = m;
        if (wanted_) wanted_.set(m);
    }
    void on(observed, sennit::reply_to<sennit::down> answer) {
        if (seen_.who)
            answer.set(seen_);
        else
            wanted_ = std::move(answer);
    }

private:
    sennit::down seen_;
    sennit::reply_to<sennit::down> wanted_;
};

struct supervisors : actor_tests::with_actors {
    std::shared_ptr<journal> log = std::make_shared<journal>();
    child<servant> a{sennit::child_options{}, "a", log};
    child<servant> b{sennit::child_options{}, "b", log};
    child<servant> c{sennit::child_options{}, "c", log};
    child<servant> some(restart kind, const char* name, std::shared_ptr<trouble> luck = nullptr) {
        return child<servant>({.restart = kind, .spawn = {.name = name}}, name, log,
                              std::move(luck));
    }
    void end(const sennit::actor_ref<supervisor>& top) {
        top.ask(sennit::end_supervision{}).get();
        group.join();
    }
    sennit::actor_ref<observer> observe(const sennit::actor_ref<supervisor>& whom) {
        auto one = group.spawn<observer>();
        one.ask(observe_supervisor{whom}).get();
        return one;
    }
};

TEST_F(supervisors, children_start_in_order_and_end_in_reverse_order) {
    EXPECT_FALSE(a.ref());
    auto top = sennit::supervise(group, {}, a, b, c);
    EXPECT_EQ(log->text(), "+a +b +c ");
    EXPECT_TRUE(a.ref().alive() && b.ref().alive() && c.ref().alive());
    end(top);
    EXPECT_EQ(log->text(), "+a +b +c -c -b -a ");
    EXPECT_FALSE(a.ref());
}

TEST_F(supervisors, one_for_one_restarts_failed_child_with_new_state) {
    auto top = sennit::supervise(group, {}, a, b);
    EXPECT_EQ(b.ask(age{}).get(), 1);
    EXPECT_EQ(b.ask(age{}).get(), 2);
    const auto stale = b.ref();
    b.tell(go_wrong{});
    log->await("-b +b ");
    until([&] { return b.restarts() == 1; });
    EXPECT_EQ(b.ask(age{}).get(), 1);
    EXPECT_NE(b.ref(), stale);
    EXPECT_EQ(stale.try_tell(finish{}), sennit::send_status::dead)
        << "a stale reference never reaches the restarted actor";
    EXPECT_EQ(a.restarts(), 0u);
    EXPECT_EQ(log->take(), "+a +b -b +b ");
    end(top);
}

TEST_F(supervisors, one_for_all_restarts_all_children_in_order) {
    auto top = sennit::supervise(group, {.strategy = strategy::one_for_all}, a, b, c);
    b.tell(go_wrong{});
    log->await("-b -c -a +a +b +c ");
    end(top);
}

TEST_F(supervisors, rest_for_one_restarts_failed_child_and_later_children) {
    auto top = sennit::supervise(group, {.strategy = strategy::rest_for_one}, a, b, c);
    b.tell(go_wrong{});
    log->await("+a +b +c -b -c +b +c ");
    until([&] { return c.restarts() == 1; });
    c.tell(go_wrong{});
    log->await("+b +c -c +c ");
    EXPECT_EQ(a.restarts(), 0u);
    end(top);
}

TEST_F(supervisors, supervisor_restarts_permanent_child_after_any_end) {
    auto top = sennit::supervise(group, {}, a);
    a.tell(finish{});
    log->await("+a -a +a ");
    until([&] { return a.restarts() == 1; });
    a.ref().kill();
    log->await("+a -a +a -a +a ");
    end(top);
}

TEST_F(supervisors, supervisor_restarts_transient_child_after_error_only) {
    auto t = some(restart::transient, "t");
    auto top = sennit::supervise(group, {.stays = true}, t);
    t.tell(go_wrong{});
    log->await("+t -t +t ");
    until([&] { return t.restarts() == 1; });
    t.tell(finish{});
    until([&] { return !t.ref(); });
    EXPECT_TRUE(top.alive());
    end(top);
    EXPECT_EQ(log->text(), "+t -t +t -t ");
}

TEST_F(supervisors, failed_temporary_child_is_not_restarted_and_ends_no_other_child) {
    auto t = some(restart::temporary, "t");
    auto top = sennit::supervise(group, {.strategy = strategy::one_for_all}, t, a);
    t.tell(go_wrong{});
    until([&] { return !t.ref(); });
    EXPECT_EQ(a.ask(age{}).get(), 1);
    EXPECT_EQ(a.restarts(), 0u);
    end(top);
    EXPECT_EQ(log->text(), "+t +a -t -a ");
}

TEST_F(supervisors, temporary_child_that_another_failure_ends_is_not_restarted) {
    auto t = some(restart::temporary, "t");
    auto top = sennit::supervise(group, {.strategy = strategy::one_for_all}, t, a);
    a.tell(go_wrong{});
    log->await("+t +a -a -t +a ");
    EXPECT_FALSE(t.ref());
    end(top);
}

TEST_F(supervisors, supervisor_ends_with_its_last_child) {
    auto t = some(restart::transient, "t");
    auto u = some(restart::temporary, "u");
    sennit::supervise(group, {}, t, u);
    t.tell(finish{});
    u.tell(finish{});
    group.join();
    EXPECT_EQ(group.size(), 0u);
}

// ---- too many restarts

std::atomic<std::int64_t> seconds{0};
std::chrono::steady_clock::time_point given_time() noexcept {
    return std::chrono::steady_clock::time_point(std::chrono::seconds(seconds.load()));
}

TEST_F(supervisors, too_many_restarts_within_the_span_end_supervisor_with_restarts_exceeded) {
    auto f = some(restart::permanent, "f");
    auto top = sennit::supervise(group, {.restarts = 2, .within = 10s, .now = &given_time}, a, f);
    auto who = observe(top);
    std::uint64_t done = 0;
    const auto fail = [&] {
        f.tell(go_wrong{});
        ++done;
        until([&] { return f.restarts() == done; });
    };
    seconds = 100;
    fail();
    seconds = 105;
    fail();
    seconds = 111; // the restart at 100 s is out of the span
    fail();
    seconds = 116; // the restart at 105 s is out of the span, too
    fail();
    seconds = 120; // the restarts at 111 s and 116 s are in the span
    f.tell(go_wrong{});
    const sennit::down end = who.ask(observed{}).get();
    EXPECT_EQ(end.who, top.address());
    EXPECT_EQ(end.why, sennit::exit_reason::error);
    try {
        std::rethrow_exception(end.error);
    } catch (const sennit::restarts_exceeded& e) {
        EXPECT_STREQ(e.what(),
                     "sennit: [SNT-505] a supervisor gave up after more than 2 restarts within "
                     "supervision::within, the last one of f");
        EXPECT_THROW(std::rethrow_exception(e.cause()), std::runtime_error);
    }
    EXPECT_EQ(log->text().substr(0, 6), "+a +f ");
    EXPECT_TRUE(log->text().ends_with("-f -a ")) << "the children ended before their supervisor";
    who.stop();
    group.join(); // the observer received the error: join does not throw it
}

TEST_F(supervisors, join_throws_restarts_exceeded_of_unwatched_supervisor) {
    sennit::supervise(group, {.restarts = 0}, a, b);
    a.tell(go_wrong{});
    EXPECT_THROW(group.join(), sennit::restarts_exceeded);
    EXPECT_TRUE(log->text().ends_with("-a -b "));
}

TEST_F(supervisors, throwing_constructor_at_restart_counts_as_restart) {
    auto luck = std::make_shared<trouble>();
    auto f = some(restart::permanent, "f", luck);
    sennit::supervise(group, {.restarts = 5}, f);
    luck->bad_starts = 3;
    f.tell(go_wrong{}); // four restarts, three of which fail
    until([&] { return f.restarts() == 1; });
    luck->bad_starts = 100;
    f.tell(go_wrong{});
    EXPECT_THROW(group.join(), sennit::restarts_exceeded);
    EXPECT_EQ(luck->bad_starts, 99) << "the supervisor tried a fifth restart, and no sixth";
}

TEST_F(supervisors, supervisor_ends_and_retries_children_whose_restart_fails) {
    auto luck = std::make_shared<trouble>();
    auto f = some(restart::permanent, "f", luck);
    auto top =
        sennit::supervise(group, {.strategy = strategy::one_for_all, .restarts = 5}, a, f, b);
    luck->bad_starts = 1;
    b.tell(go_wrong{});
    log->await("+a +f +b -b -f -a +a -a +a +f +b ");
    end(top);
}

// ---- waiting before a restart

TEST(backoff, delay_doubles_up_to_the_maximum_and_jitter_shortens_it) {
    const sennit::backoff plain{.first = 10ms, .most = 65ms};
    EXPECT_EQ(plain.delay(1, 0.7), 10ms);
    EXPECT_EQ(plain.delay(2, 0.7), 20ms);
    EXPECT_EQ(plain.delay(3, 0.7), 40ms);
    EXPECT_EQ(plain.delay(4, 0.7), 65ms);
    EXPECT_EQ(plain.delay(4'000'000'000, 0.7), 65ms);
    const sennit::backoff random{.first = 100ms, .most = 1s, .jitter = 0.5};
    EXPECT_EQ(random.delay(1, 0), 100ms);
    EXPECT_EQ(random.delay(1, 1), 50ms);
    EXPECT_EQ(random.delay(5, 0.5), 750ms);
    EXPECT_EQ(sennit::backoff().delay(7, 0.5), 0ms);
}

TEST_F(supervisors, restart_waits_longer_after_each_failure_in_a_row) {
    auto top = sennit::supervise(
        group,
        {.restarts = 10, .within = 1h, .backoff = {.first = 2ms, .most = 4ms}, .now = &given_time},
        a);
    for (const auto& least : {2ms, 4ms, 4ms}) {
        const auto before = a.restarts();
        const auto begin = std::chrono::steady_clock::now();
        a.tell(go_wrong{});
        until([&] { return a.restarts() == before + 1; });
        EXPECT_GE(std::chrono::steady_clock::now() - begin, least);
    }
    end(top);
}

TEST_F(supervisors, supervisor_that_waits_before_a_restart_can_be_ended) {
    auto top = sennit::supervise(group, {.backoff = {.first = 1h, .most = 2h}}, a, b);
    a.tell(go_wrong{});
    until([&] { return !a.ref(); });
    EXPECT_EQ(a.try_tell(finish{}), sennit::send_status::dead);
    end(top);
    EXPECT_EQ(log->text(), "+a +b -a -b ");
}

TEST_F(supervisors, supervise_refuses_options_out_of_range) {
    EXPECT_THROW(sennit::supervise(group, {.backoff = {.jitter = 1.5}}, a), std::invalid_argument);
    EXPECT_THROW(sennit::supervise(group, {.backoff = {.first = 2s, .most = 1s}}, a),
                 std::invalid_argument);
    EXPECT_THROW(sennit::supervise(group, {.within = -1s}, a), std::invalid_argument);
    EXPECT_EQ(log->text(), "");
}

// ---- start and end

TEST_F(supervisors, supervise_throws_exception_of_first_start) {
    auto luck = std::make_shared<trouble>();
    luck->bad_starts = 1;
    auto f = some(restart::permanent, "f", luck);
    EXPECT_THROW(sennit::supervise(group, {}, a, f, b), std::runtime_error);
    EXPECT_EQ(log->text(), "+a -a ");
    group.join();
    auto top = sennit::supervise(group, {}, a, f, b); // the failed start has released the children
    end(top);
}

TEST_F(supervisors, child_has_one_supervisor_at_a_time) {
    auto top = sennit::supervise(group, {}, a);
    EXPECT_THROW(sennit::supervise(group, {}, b, a), std::logic_error);
    EXPECT_TRUE(a.ref().alive());
    end(top);
    EXPECT_EQ(log->text(), "+a +b -b -a ");
}

TEST_F(supervisors, add_child_starts_child_under_running_supervisor) {
    auto luck = std::make_shared<trouble>();
    luck->bad_starts = 1;
    auto top = sennit::supervise(group, {.strategy = strategy::rest_for_one}, a);
    top.ask(sennit::add_child{b}).get();
    EXPECT_THROW(top.ask(sennit::add_child{some(restart::permanent, "f", luck)}).get(),
                 std::runtime_error);
    EXPECT_EQ(b.ask(age{}).get(), 1);
    a.tell(go_wrong{});
    log->await("+a +b -a -b +a +b ");
    end(top);
}

TEST_F(supervisors, killed_supervisor_ends_its_children) {
    auto top = sennit::supervise(group, {}, a, b);
    top.kill();
    group.join();
    EXPECT_EQ(group.size(), 0u);
    EXPECT_EQ(log->text().size(), std::string("+a +b -a -b ").size());
}

TEST_F(supervisors, supervisor_restarts_no_child_when_the_group_ends) {
    for (int i = 0; i < 20; ++i) {
        log->take();
        {
            sennit::actor_group inner(runtime);
            sennit::supervise(inner, {.strategy = strategy::one_for_all}, a, b, c);
        }
        const std::string text = log->text();
        EXPECT_EQ(text.substr(0, 9), "+a +b +c ");
        EXPECT_EQ(text.find('+', 9), std::string::npos) << text;
    }
}

TEST_F(supervisors, supervisor_may_be_a_child) {
    child<supervisor> inner({}, supervision{.strategy = strategy::one_for_all, .restarts = 1}, b,
                            c);
    auto top = sennit::supervise(group, {.strategy = strategy::rest_for_one}, a, inner);
    EXPECT_EQ(log->text(), "+a +b +c ");
    b.tell(go_wrong{});
    log->await("-b -c +b +c ");
    until([&] { return c.restarts() == 1; });
    c.tell(go_wrong{}); // exceeds the inner supervisor's limit: the outer one restarts it
    log->await("+b +c -c -b +b +c ");
    until([&] { return inner.restarts() == 1; });
    EXPECT_EQ(b.ask(age{}).get(), 1);
    EXPECT_EQ(a.restarts(), 0u);
    a.tell(go_wrong{}); // ends the inner supervisor in order, then restarts all
    log->await("-a -c -b +a +b +c ");
    end(top);
    EXPECT_TRUE(log->text().ends_with("-c -b -a "));
}

// ---- races

struct counted_life : sennit::actor<counted_life, go_wrong, finish> {
    explicit counted_life(std::shared_ptr<trouble> all) : lives(std::move(all)) {
        EXPECT_EQ(lives->living.fetch_add(1), 0) << "two actors of one child live";
    }
    ~counted_life() { --lives->living; }
    void on(go_wrong) { throw std::runtime_error("thrown on purpose"); }
    void on(finish) { stop(); }
    std::shared_ptr<trouble> lives;
};

TEST_F(supervisors, one_actor_of_each_child_lives_at_a_time_and_no_child_is_lost) {
    for (const auto how : {strategy::one_for_one, strategy::one_for_all, strategy::rest_for_one}) {
        std::array<std::shared_ptr<trouble>, 3> lives;
        std::vector<child<counted_life>> children;
        for (auto& one : lives) {
            one = std::make_shared<trouble>();
            children.emplace_back(sennit::child_options{}, one);
        }
        auto top = sennit::supervise(group, {.strategy = how, .restarts = 1'000'000}, children[0],
                                     children[1], children[2]);
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < 3; ++t)
            threads.emplace_back([&, t] {
                for (std::size_t i = 0; i < 100; ++i) {
                    const auto& one = children[(i + t) % 3];
                    switch (i % 3) {
                    case 0:
                        one.tell(go_wrong{});
                        break;
                    case 1:
                        one.tell(finish{});
                        break;
                    default:
                        one.ref().kill();
                    }
                }
            });
        for (auto& one : threads) one.join();
        until([&] {
            for (const auto& one : children)
                if (!one.ref().alive()) return false;
            return true;
        });
        end(top);
        for (const auto& one : lives) EXPECT_EQ(one->living, 0);
    }
}

// The child fails so soon after its start that its supervisor has had no time to act on the start.
TEST_F(supervisors, supervisor_misses_no_end_however_early) {
    struct shortlived_child : sennit::actor<shortlived_child, go_wrong> {
        explicit shortlived_child(std::shared_ptr<trouble> of) : left(std::move(of)) {
            if (--left->bad_starts > 0) sennit::tell_after(self(), 0s, go_wrong{});
        }
        void on(go_wrong) { throw std::runtime_error("thrown on purpose"); }
        std::shared_ptr<trouble> left;
    };
    auto left = std::make_shared<trouble>();
    left->bad_starts = 50;
    child<shortlived_child> one({.restart = restart::transient}, left);
    auto top = sennit::supervise(group, {.restarts = 100, .within = 1h}, one);
    until([&] { return one.restarts() == 49; });
    EXPECT_TRUE(one.ref().alive());
    end(top);
}

} // namespace
} // namespace supervisor_tests
