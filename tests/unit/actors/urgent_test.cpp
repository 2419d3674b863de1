// SPDX-License-Identifier: Apache-2.0
// Urgent messages: src/actors/runtime/urgent_order.hpp.
#include "until.hpp"

#include <vector>

namespace urgent_tests {
namespace {

using actor_tests::held;
using sennit::overflow;
using sennit::send_status;

struct piece {
    int n;
};
struct done {
    using reply = void;
};
struct piled : sennit::actor<piled, piece, held, done> {
    explicit piled(std::vector<int>& into) : into_(into) {}
    void on(piece m) { into_.push_back(m.n); }
    void on(const held& m) { m.wait(); }
    void on(done) {}

private:
    std::vector<int>& into_;
};

struct urgent : actor_tests::with_actors {
    std::vector<int> handled;
};

TEST_F(urgent, urgent_messages_go_first_in_their_own_order_from_any_sender) {
    const auto one = group.spawn<piled>(handled);
    const held gate;
    one.tell(gate);
    gate.begun->wait();
    std::vector<int> expected;
    for (int round = 0; round < 3; ++round) { // a thread and a worker send
        for (int i = 0; i < 100; ++i) one.tell_urgent(piece{1000 * round + i});
        runtime.run([&] {
            for (int i = 100; i < 200; ++i) one.tell_urgent(piece{1000 * round + i});
            one.tell(piece{-round - 1});
        });
        for (int i = 0; i < 200; ++i) expected.push_back(1000 * round + i);
    }
    for (int round = 0; round < 3; ++round) expected.push_back(-round - 1);
    gate.until->set();
    one.ask(done{}).get();
    EXPECT_EQ(handled, expected);
}

TEST_F(urgent, drop_oldest_does_not_drop_urgent_messages) {
    const auto one = group.spawn<piled>({.mailbox = 2, .overflow = overflow::drop_oldest}, handled);
    const held gate;
    one.tell(gate);
    gate.begun->wait();
    for (const int n : {1, 2}) EXPECT_EQ(one.try_tell(piece{n}), send_status::sent);
    one.tell_urgent(piece{11});
    for (const int n : {3, 4, 5}) EXPECT_EQ(one.try_tell(piece{n}), send_status::sent);
    one.tell_urgent(piece{12});
    one.tell_urgent(piece{13});
    EXPECT_EQ(one.try_tell(piece{6}), send_status::full); // four times its bound are queued
    one.tell_urgent(piece{14});                           // dropped, too
    gate.until->set();
    actor_tests::until([&] { return sennit::metrics_of(one)->waiting == 0u; });
    one.ask(done{}).get();
    EXPECT_EQ(handled, (std::vector{11, 12, 13, 4, 5}));
}

} // namespace
} // namespace urgent_tests
