// SPDX-License-Identifier: Apache-2.0
// A case of select that waits for a descriptor: the steps U1 to U7 of io_record.hpp, with the wait
// of the select in the middle. It makes no system call under a lock.
// Tested by tests/sim/scenarios/io_select.cpp and tests/unit/io.
#include "sennit/io/select.hpp"

#include "io/access.hpp"

namespace sennit::io::detail {

using sched::io_direction;
using sched::io_record;
using sched::io_wake;

namespace {

io_direction direction_of(bool for_writing) noexcept {
    return for_writing ? io_direction::write : io_direction::read;
}
io_record& record_of(const handle& on) noexcept {
    return *handle_access::record(on);
}

} // namespace

handle_case::handle_case(const handle& on, bool for_writing) noexcept
    : on_(&on), for_writing_(for_writing), wait_{io_wake::ready} {
    asks_system = true;
}

handle_case::handle_case(handle_case&& unused) noexcept
    : select_case(unused), on_(unused.on_), for_writing_(unused.for_writing_),
      wait_{io_wake::ready} {}

handle_case::~handle_case() {
    if (in_use_) record_of(*on_).end_use();
}

// U1 to U4.
void handle_case::prepare() {
    wait_.result = io_wake::ready;
    failed_.clear();
    immediate_ = true;
    io_record* const record = handle_access::record(*on_);
    if (!in_use_) in_use_ = record && record->begin_use();
    if (!in_use_) {
        failed_ = std::make_error_code(std::errc::bad_file_descriptor);
        return;
    }
    const io_direction direction = direction_of(for_writing_);
    seen_ = record->tick(direction);
    if (sys::is_ready(record->descriptor(), for_writing_)) return;
    immediate_ = false;
    std::error_code refused;
    if (record->prepare_entry(direction, refused)) return;
    immediate_ = true;
    // The system watches no regular file, which is always ready.
    if (refused != std::errc::operation_not_permitted) failed_ = refused;
}

bool handle_case::enlist(sched::wait_entry& entry) noexcept {
    entry.data = &wait_;
    return record_of(*on_).enter(direction_of(for_writing_), seen_, waits_since_, entry);
}

void handle_case::unlist(sched::wait_entry& entry) noexcept {
    record_of(*on_).leave(direction_of(for_writing_), entry);
}

// The case was chosen. U7 comes first: a further waiter asks for itself.
bool handle_case::must_repeat() {
    if (failed_) return false;
    if (wait_.result == io_wake::ready_and_more)
        record_of(*on_).pass_on(direction_of(for_writing_));
    if (wait_.result != io_wake::closed && wait_.result != io_wake::canceled) return !take();
    failed_ = std::make_error_code(std::errc::operation_canceled);
    return false;
}

bool handle_case::take() {
    return sys::is_ready(record_of(*on_).descriptor(), for_writing_);
}

} // namespace sennit::io::detail
