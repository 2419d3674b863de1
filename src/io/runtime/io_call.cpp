// SPDX-License-Identifier: Apache-2.0
#include "io/runtime/io_call.hpp"

#include "core/worker/worker.hpp"
#include "io/runtime/io_poller.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sys/mutant.hpp"
#include "sys/socket.hpp"

#include <algorithm>

namespace sennit::sched {

namespace {

std::error_code error_of(std::ptrdiff_t result) noexcept {
    return {static_cast<int>(-result), std::generic_category()};
}

} // namespace

std::ptrdiff_t with_blocking(std::ptrdiff_t result) noexcept {
    return sys::would_block(result) ? io_would_block : result;
}

bool io_use::attempt(const io_operation& what, io_result& result) noexcept {
    if (!open_) {
        result.error = std::make_error_code(std::errc::bad_file_descriptor);
        return true;
    }
    for (;;) {
        seen_ = record_.tick(what.direction); // U2
        if (what.full != 0 && record_.known_drained(seen_)) return false;
        const std::ptrdiff_t n = what.call(record_.descriptor(), what.argument); // U3
        if (n == io_would_block) return false;
        if (sys::interrupted(n)) continue;
        if (n < 0)
            result.error = error_of(n);
        else
            result.count = n;
        if (n > 0 && static_cast<std::size_t>(n) < what.full) record_.note_drained(seen_);
        return finish(what);
    }
}

// U7, and a turn for other strands after reads of a stream that did not wait, and where other
// calls have not waited many times. A server would otherwise serve many requests of one fast client
// while the other clients wait.
bool io_use::finish(const io_operation& what) noexcept {
    if (more_ && !SENNIT_MUTANT("readiness is passed on")) record_.pass_on(what.direction);
    if (waited_) return true;
    const std::uint32_t calls = record_.count_immediate(what.direction);
    const bool many = calls % io_record::calls_to_a_turn == 0;
    // The first read of a connection often finds its request. For a thread that is no worker, a
    // yield is a system call.
    yields_ = many || (what.full != 0 && calls > 1 && this_worker());
    return true;
}

namespace {

// Lets other strands run that are ready, or whose events have come. A yield would leave the strand
// behind all strands that are woken meanwhile: under load it would wait for a global poll. This
// strand has data as they have, so it goes behind those that are ready now. New work must not wait
// for it, and goes before a strand that yields. Not inline: strands that wait are deeper in their
// stacks by the frame of io_run.
[[gnu::noinline]] void end_turn() noexcept {
    worker* const me = this_worker();
    if (!me) return yield();
    event_source* const source = me->runtime().active_events();
    if (source && !source->has_poller()) static_cast<io_poller*>(source)->deliver_if_due();
    if (me->queue().empty() || me->queue().oldest_spawned()) return yield();
    waiter who;
    const auto again = [](void*, waiter& left) noexcept {
        wake(left);
        return true;
    };
    if (!suspend(again, nullptr, who)) yield();
}

} // namespace

io_record::request io_use::request_of(const io_operation& what) noexcept {
    const std::int64_t limit = record_.limit_ns();
    const std::int64_t deadline = limit == never ? never : now_ns() + limit;
    return {.direction = what.direction,
            .seen = seen_,
            .waits_since = waits_since_,
            .deadline_ns = deadline < 0 ? never : deadline,
            .what = what.what};
}

bool io_use::after_wait(io_wake how, std::error_code refused, io_result& result) noexcept {
    waited_ = true;
    switch (how) {
    case io_wake::ready_and_more:
        more_ = true;
        return false;
    case io_wake::ready:
        return false;
    case io_wake::canceled:
    case io_wake::closed:
        result.error = std::make_error_code(std::errc::operation_canceled);
        return true;
    case io_wake::timed_out:
        result.error = std::make_error_code(std::errc::timed_out);
        return true;
    case io_wake::scope_canceled:
        result.scope_canceled = true;
        return true;
    case io_wake::refused:
        result.error = refused;
        return true;
    }
    return true;
}

io_result io_run(io_record& on, const io_operation& what) {
    io_result result;
    io_use use(on);
    while (!use.attempt(what, result)) {
        std::error_code refused;
        const io_wake how = on.wait(use.request_of(what), refused);
        if (use.after_wait(how, refused, result)) break;
    }
    if (use.yields()) end_turn();
    return result;
}

io_operation receive_from_socket(io_bytes& bytes) noexcept {
    return {.direction = io_direction::read,
            .what = "data on a socket",
            .call =
                [](int from, void* argument) noexcept {
                    const auto& to = *static_cast<io_bytes*>(argument);
                    return with_blocking(sys::receive(from, to.into, to.size));
                },
            .argument = &bytes,
            .full = bytes.size};
}

io_operation send_to_socket(io_bytes& bytes) noexcept {
    return {.direction = io_direction::write,
            .what = "space on a socket",
            .call =
                [](int to, void* argument) noexcept {
                    const auto& from = *static_cast<io_bytes*>(argument);
                    return with_blocking(sys::send(to, from.into, from.size));
                },
            .argument = &bytes};
}

io_operation read_from_pipe(io_bytes& bytes) noexcept {
    return {.direction = io_direction::read,
            .what = "data in a pipe",
            .call =
                [](int from, void* argument) noexcept {
                    const auto& to = *static_cast<io_bytes*>(argument);
                    return with_blocking(sys::read_descriptor(from, to.into, to.size));
                },
            .argument = &bytes};
}

io_operation write_to_pipe(io_bytes& bytes) noexcept {
    return {.direction = io_direction::write,
            .what = "space in a pipe",
            .call =
                [](int to, void* argument) noexcept {
                    const auto& from = *static_cast<io_bytes*>(argument);
                    return with_blocking(sys::write_descriptor(to, from.into, from.size));
                },
            .argument = &bytes};
}

} // namespace sennit::sched
