// SPDX-License-Identifier: Apache-2.0
#include "sennit/actor/message_list.hpp"

namespace sennit::detail {

message_list::~message_list() {
    while (sched::message_node* one = pop_front()) one->run(*one, nullptr);
}

void message_list::return_all(std::uint32_t slot) noexcept {
    while (sched::message_node* one = pop_front()) {
        one->failed(slot, sched::delivery::dead);
        one->run(*one, nullptr);
    }
}

void message_list::push_back(sched::message_node& one) noexcept {
    one.next = nullptr;
    (first_ ? last_->next : first_) = &one;
    last_ = &one;
    ++size_;
}

sched::message_node* message_list::pop_front() noexcept {
    sched::message_node* one = first_;
    if (!one) return nullptr;
    first_ = one->next;
    --size_;
    return one;
}

void message_list::put_before(message_list& more) noexcept {
    if (!more.first_) return;
    if (first_)
        more.last_->next = first_;
    else
        last_ = more.last_;
    first_ = more.first_;
    size_ += more.size_;
    more.first_ = more.last_ = nullptr;
    more.size_ = 0;
}

} // namespace sennit::detail
