// SPDX-License-Identifier: Apache-2.0
#include "sennit/actor/dead_letter.hpp"

#include "actors/runtime/mailbox.hpp"
#include "actors/runtime/mailbox_table.hpp"
#include "core/worker/worker.hpp"
#include "sennit/actor/actor_group.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/runtime.hpp"

#include <cstdio>
#include <mutex>
#include <utility>

namespace sennit {

namespace {
constinit base::atomic<std::uint64_t> count{0};
constinit base::atomic<std::uint64_t> written{0};
constinit base::atomic<dead_letter_handler> handler{&write_dead_letter};

const char* describe(dead_letter_reason why) noexcept {
    switch (why) {
    case dead_letter_reason::ended:
        return "has ended";
    case dead_letter_reason::full:
        return "has no room";
    case dead_letter_reason::unhandled:
        return "has no handler for it";
    }
    return "";
}
} // namespace

// ---- fallback handlers --------------------------------------------------------------------------

struct fallback_handler::entry : base::list_node {
    entry(const void* whose, function&& given) : where(whose), what(std::move(given)) {}
    const void* where; // the core of a runtime, or a group
    function what;
    unsigned calls = 0; // calls under way
};

struct detail::fallbacks {
    using entry = fallback_handler::entry;
    static base::spin_lock lock;             // guards `all`, `leaving`, and `calls` of each entry
    static base::intrusive_queue<entry> all; // newest first
    static sched::wait_list leaving;

    static entry* begin(const void* where) noexcept {
        if (!where) return nullptr;
        std::lock_guard guard(lock);
        for (entry* one = all.front(); one; one = all.after(*one))
            if (one->where == where) {
                ++one->calls;
                return one;
            }
        return nullptr;
    }
    // False: no handler is registered there.
    static bool call(const void* where, const dead_letter& letter) noexcept {
        entry* one = begin(where);
        if (!one) return false;
        one->what(letter);
        sched::wake_ups woken;
        std::lock_guard guard(lock);
        if (--one->calls == 0) woken.take_all(leaving);
        return true;
    }
};

using detail::fallbacks;
constinit base::spin_lock fallbacks::lock;
static const base::atfork_lock hold_fallbacks(fallbacks::lock);
constinit base::intrusive_queue<fallbacks::entry> fallbacks::all;
constinit sched::wait_list fallbacks::leaving;

fallback_handler::fallback_handler(runtime& where, function what)
    : entry_(std::make_unique<entry>(&where.core(), std::move(what))) {
    std::lock_guard guard(fallbacks::lock);
    fallbacks::all.push_front(*entry_);
}
fallback_handler::fallback_handler(actor_group& where, function what)
    : entry_(std::make_unique<entry>(&where, std::move(what))) {
    std::lock_guard guard(fallbacks::lock);
    fallbacks::all.push_front(*entry_);
}
fallback_handler::~fallback_handler() {
    fallbacks::lock.lock();
    fallbacks::all.remove(*entry_);
    while (entry_->calls != 0) {
        (void)sched::block(
            fallbacks::leaving, fallbacks::lock,
            {.cancellable = false, .what = "fallback_handler::~fallback_handler", .on = this});
        fallbacks::lock.lock();
    }
    fallbacks::lock.unlock();
}

// ---- dead letters -------------------------------------------------------------------------------

std::uint64_t dead_letters() noexcept {
    return count.load();
}

dead_letter_handler set_dead_letter_handler(dead_letter_handler next) noexcept {
    return handler.exchange(next);
}

void write_dead_letter(const dead_letter& which) noexcept {
    const std::uint64_t number = written.fetch_add(1);
    if (number >= dead_letters_written) return;
    const char* last = number + 1 == dead_letters_written ? " (no more are shown)" : "";
    char receiver[80] = "to nobody";
    if (which.receiver)
        std::snprintf(receiver, sizeof receiver, "to actor %u.%u, which %s", which.receiver.slot,
                      which.receiver.generation, describe(which.why));
    if (which.sender)
        std::fprintf(stderr, "sennit: [SNT-517] dead letter: %s %s, sent by actor %u.%u%s\n",
                     which.message->name(), receiver, which.sender.slot, which.sender.generation,
                     last);
    else
        std::fprintf(stderr, "sennit: [SNT-517] dead letter: %s %s, not sent by an actor%s\n",
                     which.message->name(), receiver, last);
}

namespace {

void note(const void* group, const void* where, const dead_letter& letter) noexcept {
    count.fetch_add(1);
    if (fallbacks::call(group, letter) || fallbacks::call(where, letter)) return;
    if (const dead_letter_handler tell = handler.load()) tell(letter);
}

// The receiver's runtime; if the receiver has none, the sender's. Null: neither has a runtime.
const void* runtime_of(sched::address receiver) noexcept {
    if (receiver)
        if (const sched::mailbox* box = sched::mailbox_table::find(receiver.slot))
            if (const sched::runtime_core* its = box->runtime_or_null()) return its;
    return sched::current_runtime();
}

} // namespace

void detail::note_dead_letter(const sched::message_node& which, const std::type_info& message,
                              std::span<const std::byte> bytes) noexcept {
    const sched::address receiver = which.receiver();
    note(
        nullptr, runtime_of(receiver),
        {&message, which.sender, receiver,
         which.fate == sched::delivery::full ? dead_letter_reason::full : dead_letter_reason::ended,
         bytes});
}

void detail::note_unhandled(const actor_base& receiver, const dead_letter& what) noexcept {
    note(&receiver.group(), runtime_of(what.receiver), what);
}

} // namespace sennit
