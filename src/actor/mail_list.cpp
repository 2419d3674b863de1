// SPDX-License-Identifier: Apache-2.0
#include "sennit/actor/mail_list.hpp"

namespace sennit::detail {

mail_list::~mail_list() {
    while (sched::mail* one = pop_front()) one->run(*one, nullptr);
}

void mail_list::return_all(std::uint32_t slot) noexcept {
    while (sched::mail* one = pop_front()) {
        one->failed(slot, sched::delivery::dead);
        one->run(*one, nullptr);
    }
}

void mail_list::push_back(sched::mail& one) noexcept {
    one.next = nullptr;
    (first_ ? last_->next : first_) = &one;
    last_ = &one;
    ++size_;
}

sched::mail* mail_list::pop_front() noexcept {
    sched::mail* one = first_;
    if (!one) return nullptr;
    first_ = one->next;
    --size_;
    return one;
}

void mail_list::put_before(mail_list& more) noexcept {
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
