// SPDX-License-Identifier: Apache-2.0
// Messages that wait for their receiver outside a mailbox: stashed messages, and messages that came
// before the actor was made.
#pragma once

#include "sennit/detail/core/message_node.hpp"

#include <cstddef>

namespace sennit::detail {

// A list of messages in order. The destructor destroys the remaining messages as dead letters.
class message_list {
public:
    message_list() = default;
    ~message_list();
    message_list(const message_list&) = delete;
    message_list& operator=(const message_list&) = delete;
    void push_back(sched::message_node& one) noexcept;
    sched::message_node* pop_front() noexcept;
    void return_all(std::uint32_t slot) noexcept; // as dead letters to the actor that ended there
    void put_before(message_list& more) noexcept; // moves all of `more` to the front of this list
    std::size_t size() const noexcept { return size_; }

private:
    sched::message_node* first_ = nullptr;
    sched::message_node* last_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace sennit::detail
