// SPDX-License-Identifier: Apache-2.0
// Compares the intrusive queue with a std::deque over random operations.
#include "sennit/detail/base/intrusive_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace {

struct element : sennit::base::list_node {};
using list = sennit::base::intrusive_queue<element>;
using model = std::deque<element*>;

void expect_same(const list& all, const model& expected) {
    EXPECT_EQ(all.empty(), expected.empty());
    EXPECT_EQ(all.front(), expected.empty() ? nullptr : expected.front());
    EXPECT_EQ(all.back(), expected.empty() ? nullptr : expected.back());
    model walked;
    for (element* one = all.front(); one && walked.size() <= expected.size();
         one = list::after(*one))
        walked.push_back(one);
    EXPECT_EQ(walked, expected);
}

class intrusive_queue : public testing::Test {
protected:
    element& fresh() {
        element& one = *free_.back();
        free_.pop_back();
        return one;
    }
    element* take(model& from, std::size_t at) {
        element* one = from[at];
        from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
        free_.push_back(one);
        return one;
    }

    static constexpr std::size_t count = 8;
    std::vector<element> elements_{count};
    std::vector<element*> free_ = [this] {
        std::vector<element*> all;
        for (element& one : elements_) all.push_back(&one);
        return all;
    }();
};

TEST_F(intrusive_queue, queue_behaves_like_deque) {
    std::mt19937 random(1);
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    list all, other;
    model expected, expected_other;
    for (int step = 0; step < 100'000 && !HasFailure(); ++step) {
        switch (below(8)) {
        case 0:
            if (free_.empty()) break;
            expected.push_back(&fresh());
            all.push_back(*expected.back());
            break;
        case 1:
            if (free_.empty()) break;
            expected.push_front(&fresh());
            all.push_front(*expected.front());
            break;
        case 2:
            EXPECT_EQ(all.pop_front(), expected.empty() ? nullptr : take(expected, 0));
            break;
        case 3:
            EXPECT_EQ(all.pop_back(),
                      expected.empty() ? nullptr : take(expected, expected.size() - 1));
            break;
        case 4:
            if (!expected.empty()) all.remove(*take(expected, below(expected.size())));
            break;
        case 5:
            if (free_.empty() || expected.empty()) break;
            expected.push_back(&fresh());
            EXPECT_EQ(&all.exchange_front(*expected.back()), take(expected, 0));
            break;
        case 6:
            if (free_.empty()) break;
            expected_other.push_back(&fresh());
            other.push_back(*expected_other.back());
            break;
        default:
            all.append(other);
            expected.insert(expected.end(), expected_other.begin(), expected_other.end());
            expected_other.clear();
        }
        expect_same(all, expected);
        expect_same(other, expected_other);
    }
}

} // namespace
