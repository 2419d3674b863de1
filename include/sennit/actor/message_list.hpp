// SPDX-License-Identifier: Apache-2.0
// Mail that waits for its receiver outside of a mailbox: what is stashed, what came before a birth.
#pragma once

#include "sennit/detail/core/message_node.hpp"

#include <cstddef>

namespace sennit::detail {

// Mail in order. Its end returns what is left to nobody.
class message_list {
public:
    message_list() = default;
    ~message_list();
    message_list(const message_list&) = delete;
    message_list& operator=(const message_list&) = delete;
    void push_back(sched::message_node& one) noexcept;
    sched::message_node* pop_front() noexcept;
    void return_all(std::uint32_t slot) noexcept; // all of it was for who has ended there
    void put_before(message_list& more) noexcept; // `more` comes first here, and is empty then
    std::size_t size() const noexcept { return size_; }

private:
    sched::message_node* first_ = nullptr;
    sched::message_node* last_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace sennit::detail
