// SPDX-License-Identifier: Apache-2.0
#include "actors/runtime/mailbox_owner.hpp"

#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/one_shot.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

// The task that an owner runs for a batch that continues elsewhere and was refused the lock.
struct mailbox_owner::request : runnable {
    request(mailbox_owner& which, const worker& owner) noexcept
        : runnable(&request::give), of(which) {
        affinity = owner.affinity();
    }
    static void give(runnable* self) noexcept {
        auto& me = *static_cast<request*>(self);
        this_worker()->queue().inside([&]() noexcept { me.of.give_to(nullptr); });
        me.done.finish();
    }
    mailbox_owner& of;
    one_shot done;
};

// Takes over from the worker that ran the beginning of the batch, or from none, in transit.
bool mailbox_owner::acquire_slow(worker& me) noexcept {
    for (;;) {
        worker* const owner = owner_.load();
        if (owner == &me) return true;
        if (!owner) {
            owner_.store(&me);
            return true;
        }
        const auto let = owner->queue().with_remote_lock([&]() noexcept { owner_.store(&me); });
        if (let) return true;
        if (let.refused && !SENNIT_MUTANT("owner is asked to hand over")) {
            request wanted(*this, *owner);
            runtime().post(wanted);
            wanted.done.wait("its actor's worker");
            return false;
        }
        yield_thread();
    }
}

} // namespace sennit::sched
