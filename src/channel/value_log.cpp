// SPDX-License-Identifier: Apache-2.0
#include "sennit/channel/detail/value_log.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"

#include <mutex>
#include <utility>

namespace sennit::detail {

value_log::value_log(std::size_t capacity) : slots_(capacity) {
    SENNIT_CHECK(capacity > 0, "[SNT-082] a broadcast was made with a capacity of 0, so that no "
                               "value could wait for a subscriber; pass 1 or more");
}

value_log::~value_log() {
    SENNIT_CHECK(readers_ == 0, "[SNT-083] a broadcast or watch was destroyed while a subscriber "
                                "or observer of it lives; destroy these objects first");
}

std::size_t value_log::publish(value newest) noexcept {
    value replaced; // destroyed after the lock is released, because that runs user code
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    if (closed_) return 0;
    replaced = std::exchange(slots_[published_ % slots_.size()], std::move(newest));
    ++published_;
    woken.take_all(waiting_);
    return readers_;
}

void value_log::close() noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    closed_ = true;
    woken.take_all(waiting_);
}

bool value_log::closed() const noexcept {
    std::lock_guard guard(lock_);
    return closed_;
}

value_log::value value_log::newest(std::uint64_t* number) const noexcept {
    std::lock_guard guard(lock_);
    if (number) *number = published_;
    return published_ == 0 ? nullptr : slots_[(published_ - 1) % slots_.size()];
}

std::uint64_t value_log::add_reader() noexcept {
    std::lock_guard guard(lock_);
    ++readers_;
    return published_;
}

void value_log::remove_reader() noexcept {
    std::lock_guard guard(lock_);
    --readers_;
}

std::size_t value_log::readers() const noexcept {
    std::lock_guard guard(lock_);
    return readers_;
}

bool value_log::has(std::uint64_t next) const noexcept {
    std::lock_guard guard(lock_);
    return next < published_;
}

channel_status value_log::read(std::uint64_t& next, value& to, std::uint64_t& missed,
                               std::int64_t deadline_ns) {
    for (;;) {
        lock_.lock();
        if (next < published_) {
            const std::uint64_t oldest =
                published_ > slots_.size() ? published_ - slots_.size() : 0;
            missed = next < oldest ? oldest - next : 0;
            next += missed;
            to = slots_[next++ % slots_.size()]; // `to` is empty, so no value is destroyed here
            lock_.unlock();
            return channel_status::success;
        }
        if (closed_ || deadline_ns == 0) {
            const bool over = closed_;
            lock_.unlock();
            return over ? channel_status::closed : channel_status::empty;
        }
        const auto why = sched::block(
            waiting_, lock_, {.deadline_ns = deadline_ns, .what = "broadcast", .on = this});
        if (why == sched::wake_reason::cancelled) throw cancelled();
        if (why == sched::wake_reason::timed_out) return channel_status::timeout;
    }
}

} // namespace sennit::detail
