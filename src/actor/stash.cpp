// SPDX-License-Identifier: Apache-2.0
#include "sennit/actor/stash.hpp"

#include "sennit/sched/verbs.hpp"

namespace sennit::detail {

namespace {
constexpr unsigned before_others = 64; // messages in a row that come back; as many as in a turn
} // namespace

mail_list::~mail_list() {
    while (sched::mail* one = pop_front()) one->run(*one, nullptr);
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

void stashed_mail::keep(sched::mail& one) {
    if (kept.size() >= most) {
        one.run(one, nullptr);
        throw stash_full(most);
    }
    kept.push_back(one);
}

// Handlers may put more before what is left, and end the actor.
void stashed_mail::handle(actor_base& me) noexcept {
    bool ended = false;
    gone = &ended;
    for (unsigned count = 1; !me.ending_; ++count) {
        sched::mail* one = due.pop_front();
        if (!one) break;
        one->run(*one, &me);
        if (ended) return;
        if (count % before_others == 0) (void)sched::yield();
    }
    gone = nullptr;
    me.handled();
}

} // namespace sennit::detail
