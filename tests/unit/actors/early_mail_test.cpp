// SPDX-License-Identifier: Apache-2.0
// Messages that are sent to an actor while its constructor runs.
#include "sennit/actor.hpp"
#include "sennit/event.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using sennit::actor_ref;

struct syllable {
    int n;
};
struct spoken {
    using reply = int;
};
struct greeting {
    actor_ref<sennit::accepts<syllable>> from;
};

// Answers each greeting immediately with two syllables.
class greeter : public sennit::actor<greeter, greeting> {
public:
    explicit greeter(sennit::event& done) : done_(done) {}
    void on(greeting m) {
        m.from.tell(syllable{2});
        m.from.tell(syllable{3});
        done_.set();
    }

private:
    sennit::event& done_;
};

// In its constructor, sends a syllable to itself and its address to a greeter. The greeter answers
// before the constructor ends.
class early_bird : public sennit::actor<early_bird, syllable, spoken> {
public:
    early_bird(const actor_ref<greeter>& whom, sennit::event& done, bool throws) {
        self().tell(syllable{1});
        whom.tell(greeting{self()});
        done.wait();
        if (throws) throw std::runtime_error("thrown on purpose");
    }
    void on(syllable m) { seen_ = seen_ * 10 + m.n; }
    int on(spoken) { return seen_; }

private:
    int seen_ = 0;
};

struct early_messages : testing::Test {
    sennit::runtime runtime{{.workers = 2}};
    sennit::actor_group group{runtime};
    sennit::event done;
    actor_ref<greeter> whom = group.spawn<greeter>(done);
    sennit::dead_letter_handler silent = sennit::set_dead_letter_handler(nullptr);
    ~early_messages() override { sennit::set_dead_letter_handler(silent); }
};

TEST_F(early_messages, early_messages_are_handled_in_order_after_constructor_returned) {
    const auto before = sennit::dead_letters();
    auto one = group.spawn<early_bird>(whom, done, false);
    EXPECT_EQ(one.ask(spoken{}).get(), 123);
    EXPECT_EQ(sennit::dead_letters(), before);
}

TEST_F(early_messages, early_messages_are_dead_letters_when_constructor_throws) {
    const auto before = sennit::dead_letters();
    EXPECT_THROW((void)group.spawn<early_bird>(whom, done, true), std::runtime_error);
    EXPECT_EQ(sennit::dead_letters() - before, 3u);
}

} // namespace
