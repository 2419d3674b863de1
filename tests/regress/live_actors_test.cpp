// SPDX-License-Identifier: Apache-2.0
// A tree of actors in which each waits for the answers of its children is grown depth first by any
// number of workers: few actors live at a time.
#include "slow_tests.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

namespace live_actors {
namespace {

// A sanitizer slows the tree, but not the clock: each tick lets a global poll begin one of the
// oldest new actors. So a slow build grows a smaller tree.
constexpr std::int64_t leaves = tests_are_slow ? 10'000 : 100'000;

struct census {
    std::atomic<std::int64_t> alive{0}, most{0};
    void add() {
        const std::int64_t now = ++alive;
        for (std::int64_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
    }
};

struct grow {
    std::int64_t first, size;
};
struct sum_of {
    std::int64_t value;
};
using receiver = sennit::actor_ref<sennit::accepts<sum_of>>;

class node : public sennit::actor<node, grow, sum_of> {
public:
    node(receiver above, census& all) : above_(above), all_(all) { all_.add(); }
    ~node() { --all_.alive; }
    void on(grow m) {
        if (m.size == 1) {
            above_.tell(sum_of{m.first});
            return stop();
        }
        const std::int64_t part = m.size / 10;
        for (std::int64_t i = 0; i < 10; ++i)
            group().spawn<node>(receiver(self()), all_).tell(grow{m.first + i * part, part});
    }
    void on(sum_of m) {
        sum_ += m.value;
        if (++answers_ < 10) return;
        above_.tell(sum_of{sum_});
        stop();
    }

private:
    receiver above_;
    census& all_;
    std::int64_t sum_ = 0;
    int answers_ = 0;
};

class root : public sennit::actor<root, sum_of> {
public:
    explicit root(sennit::channel<std::int64_t>& answer) : answer_(answer) {}
    void on(sum_of m) { answer_.push(m.value); }

private:
    sennit::channel<std::int64_t>& answer_;
};

// 111,111 actors in six levels, where the build is not slow. Most seen: 105, 167, 154 and 228.
TEST(live_actors, of_a_tree_stay_near_its_depth) {
    for (const unsigned workers : {1u, 2u, 3u, 8u}) {
        SCOPED_TRACE(testing::Message() << workers << " workers");
        census all;
        sennit::channel<std::int64_t> answer(1);
        sennit::runtime runtime({.workers = workers});
        {
            sennit::actor_group actors(runtime);
            const auto top = actors.spawn<root>(answer);
            runtime.run([&] { actors.spawn<node>(receiver(top), all).tell(grow{0, leaves}); });
            EXPECT_EQ(*answer.pop(), leaves * (leaves - 1) / 2);
        }
        EXPECT_EQ(all.alive, 0);
        EXPECT_LE(all.most, 400 + 200 * static_cast<std::int64_t>(workers));
        RecordProperty("most_" + std::to_string(workers), static_cast<int>(all.most));
    }
}

} // namespace
} // namespace live_actors
