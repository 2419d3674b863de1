// SPDX-License-Identifier: Apache-2.0
#include "sennit/actor/stash.hpp"

#include "sennit/detail/core/verbs.hpp"

namespace sennit::detail {

namespace {
// The number of returned messages that run before other tasks; as many as in a batch.
constexpr unsigned before_others = 64;
} // namespace

// Messages that were not handled become dead letters to the actor that stashed them.
stashed_messages::~stashed_messages() {
    if (gone) *gone = true;
    due.put_before(kept);
    due.return_all(whose.slot);
}

void stashed_messages::keep(sched::message_node& one, sched::address mine) {
    whose = mine;
    one.generation = mine.generation;
    if (kept.size() >= most) {
        one.failed(mine.slot, sched::delivery::full);
        one.run(one, nullptr);
        throw stash_full(most);
    }
    kept.push_back(one);
}

// Handlers may put more messages before the rest, and may end the actor.
void stashed_messages::handle(actor_base& me) noexcept {
    bool ended = false;
    gone = &ended;
    for (unsigned count = 1; !me.ending_; ++count) {
        sched::message_node* one = due.pop_front();
        if (!one) break;
        one->run(*one, &me);
        if (ended) return;
        if (count % before_others == 0) sched::yield();
    }
    gone = nullptr;
    me.detail_handled();
}

} // namespace sennit::detail
