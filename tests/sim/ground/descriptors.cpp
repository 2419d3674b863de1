// SPDX-License-Identifier: Apache-2.0
// The simulated kernel: an event set is a word of edges, one bit a descriptor, a level that `wake`
// raises, and a word that sleepers in `wait` watch.
#include "ground/descriptors.hpp"

#include "sys/event_set.hpp"
#include "sys/futex.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace sennit::sim {

namespace {

struct set_state {
    base::atomic<std::uint32_t> version{0};
    base::atomic<std::uint32_t> edges{0};
    base::atomic<std::uint32_t> level{0};
};

constexpr std::size_t most = 8;
std::array<descriptor*, most> descriptors{};
std::array<set_state*, most> sets{};

template <class T>
int first_free(const std::array<T*, most>& from) noexcept {
    std::size_t i = 0;
    while (from[i]) ++i;
    return static_cast<int>(i);
}

set_state& set_at(int number) noexcept {
    return *sets[static_cast<std::size_t>(number)];
}

void change(set_state& set) noexcept {
    set.version.fetch_add(1);
    sys::futex_wake(set.version, 8);
}

void raise_edge(int set, int descriptor) noexcept {
    set_at(set).edges.fetch_or(1u << descriptor);
    change(set_at(set));
}

} // namespace

void reset_descriptors() noexcept {
    descriptors.fill(nullptr);
    sets.fill(nullptr);
}

descriptor::descriptor() : number_(first_free(descriptors)) {
    descriptors[static_cast<std::size_t>(number_)] = this;
}
descriptor::~descriptor() {
    descriptors[static_cast<std::size_t>(number_)] = nullptr;
}

void descriptor::put() noexcept {
    units_.fetch_add(1);
    announce();
}
void descriptor::hang_up() noexcept {
    ended_.store(1);
    announce();
}
void descriptor::announce() noexcept {
    if (const std::uint32_t set = set_.load(); set != 0)
        raise_edge(static_cast<int>(set) - 1, number_);
}
bool descriptor::take() noexcept {
    std::uint32_t seen = units_.load();
    while (seen != 0)
        if (units_.cas(seen, seen - 1)) return true;
    return false;
}
std::uint32_t descriptor::ready_for(std::uint32_t what) const noexcept {
    std::uint32_t now = sys::event_set::out;
    if (units_.load() != 0) now |= sys::event_set::in;
    if (ended()) now |= sys::event_set::in | sys::event_set::peer_closed;
    return now & what;
}
void descriptor::watch(int set, std::uint32_t what, std::uint64_t tag) noexcept {
    tag_.store(tag);
    what_.store(what);
    set_.store(static_cast<std::uint32_t>(set) + 1);
    if (ready_for(what) != 0) raise_edge(set, number_);
}

} // namespace sennit::sim

namespace sennit::sys {

using namespace sim;

bool is_ready(int which, bool for_writing) noexcept {
    return descriptors[static_cast<std::size_t>(which)]->ready_for(
               for_writing ? event_set::out : event_set::in) != 0;
}

event_set::event_set() : set_(first_free(sets)) {
    sets[static_cast<std::size_t>(set_)] = new set_state;
}
event_set::~event_set() {
    delete std::exchange(sets[static_cast<std::size_t>(set_)], nullptr);
}

std::error_code event_set::add(int which, std::uint32_t what, std::uint64_t tag) noexcept {
    descriptors[static_cast<std::size_t>(which)]->watch(set_, what, tag);
    return {};
}
std::error_code event_set::modify(int which, std::uint32_t what, std::uint64_t tag) noexcept {
    return add(which, what, tag);
}
void event_set::remove(int) noexcept {}

unsigned event_set::wait(descriptor_event* into, unsigned, std::int64_t deadline_ns,
                         bool takes_wake) noexcept {
    set_state& me = set_at(set_);
    for (;;) {
        const std::uint32_t version = me.version.load();
        const std::uint32_t edges = me.edges.exchange(0);
        const bool woken = (takes_wake ? me.level.exchange(0) : me.level.load()) != 0;
        unsigned count = 0;
        for (std::size_t i = 0; i < most; ++i) {
            if ((edges >> i & 1) == 0 || !descriptors[i]) continue;
            const descriptor& one = *descriptors[i];
            if (const std::uint32_t now = one.ready_for(one.what()); now != 0)
                into[count++] = {one.tag(), now};
        }
        if (count != 0 || woken || deadline_ns == 0) return count;
        if (!futex_wait_until(me.version, version, deadline_ns)) return 0;
    }
}

void event_set::wake() noexcept {
    set_at(set_).level.store(1);
    change(set_at(set_));
}

bool event_set::ready() noexcept {
    return set_at(set_).edges.load() != 0 || set_at(set_).level.load() != 0;
}

} // namespace sennit::sys
