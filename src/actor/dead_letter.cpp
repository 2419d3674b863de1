// SPDX-License-Identifier: Apache-2.0
#include "sennit/actor/dead_letter.hpp"

#include "sennit/base/atomic.hpp"

#include <cstdio>

namespace sennit {

namespace {
constinit base::atomic<std::uint64_t> count{0};
constinit base::atomic<std::uint64_t> written{0};
constinit base::atomic<dead_letter_handler> handler{&write_dead_letter};
} // namespace

std::uint64_t dead_letters() noexcept {
    return count.load();
}

dead_letter_handler set_dead_letter_handler(dead_letter_handler next) noexcept {
    return handler.exchange(next);
}

void write_dead_letter(const dead_letter& which) noexcept {
    const std::uint64_t number = written.fetch_add(1);
    if (number >= dead_letters_written) return;
    if (which.sender)
        std::fprintf(stderr, "sennit: dead letter: %s, sent by actor %u.%u%s\n", which.message->name(),
                     which.sender.slot, which.sender.generation,
                     number + 1 == dead_letters_written ? " (no more are shown)" : "");
    else
        std::fprintf(stderr, "sennit: dead letter: %s, not sent by an actor%s\n", which.message->name(),
                     number + 1 == dead_letters_written ? " (no more are shown)" : "");
}

void detail::note_dead_letter(const sched::mail& which, const std::type_info& message) noexcept {
    count.fetch_add(1);
    if (const dead_letter_handler tell = handler.load()) tell({&message, which.sender});
}

} // namespace sennit
