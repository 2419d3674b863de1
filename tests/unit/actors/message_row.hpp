// SPDX-License-Identifier: Apache-2.0
// Numbered messages for tests of the parts of a mailbox. The messages carry no data, and no test
// runs them.
#pragma once

#include "actors/runtime/inbox_list.hpp"

#include <deque>
#include <vector>

namespace mailbox_tests {

using row_of_numbers = std::vector<int>;

struct numbered_message : sennit::sched::message_node {
    explicit numbered_message(int n) noexcept : message_node(nullptr), number(n) {}
    int number;
};

inline int number_of(const sennit::sched::message_node* one) {
    return static_cast<const numbered_message*>(one)->number;
}

// Makes messages, and keeps them until the end of the test.
class message_row {
public:
    sennit::sched::message_node& usual(int number) { return made_.emplace_back(number); }
    sennit::sched::message_node& urgent(int number) {
        sennit::sched::message_node& one = usual(number);
        one.urgent = true;
        return one;
    }

private:
    std::deque<numbered_message> made_;
};

inline row_of_numbers numbers_in(const sennit::sched::inbox_list& list) {
    row_of_numbers all;
    for (const sennit::sched::message_node* one = list.first; one; one = one->next)
        all.push_back(number_of(one));
    return all;
}

} // namespace mailbox_tests
