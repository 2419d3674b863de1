// SPDX-License-Identifier: Apache-2.0
#include "sennit/actor/router.hpp"

namespace sennit::detail {

namespace {

// The weight of a member for a key; the member with the greatest weight gets the key. The finalizer
// of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t weight(std::uint64_t member, std::uint64_t hash) noexcept {
    std::uint64_t z = hash + member * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

} // namespace

void member_list::add(sched::address whom, std::shared_ptr<child_cell> of) {
    std::lock_guard guard(lock_);
    members_.push_back({++numbers_, whom, std::move(of)});
}

bool member_list::remove(sched::address whom, const child_cell* of) {
    std::lock_guard guard(lock_);
    clear();
    return std::erase_if(members_, [&](const member& one) {
               return one.who == whom && one.of.get() == of;
           }) != 0;
}

void member_list::clear() {
    std::erase_if(members_, [](const member& one) { return !one.of && ended(one.who); });
}

std::size_t member_list::size() {
    std::lock_guard guard(lock_);
    clear();
    return members_.size();
}

sched::address member_list::pick() {
    std::lock_guard guard(lock_);
    clear();
    const std::size_t count = members_.size();
    if (count == 0) return {};
    const std::size_t start =
        how_ == routing::random ? sched::random_below(static_cast<std::uint32_t>(count)) : next_++;
    sched::address best;
    std::uint32_t least = UINT32_MAX;
    for (std::size_t i = 0; i < count; ++i) {
        const sched::address one = members_[(start + i) % count].now();
        if (!sched::alive(one)) continue; // a supervisor restarts it, or its constructor runs
        if (how_ != routing::least_full) return one;
        const std::uint32_t waiting = waiting_in(one).value_or(0);
        if (best && waiting >= least) continue;
        best = one;
        least = waiting;
    }
    return best;
}

sched::address member_list::pick_for(std::uint64_t hash) {
    std::lock_guard guard(lock_);
    clear();
    const member* best = nullptr;
    std::uint64_t most = 0;
    for (const member& one : members_) {
        const std::uint64_t here = weight(one.number, hash);
        if (best && here <= most) continue;
        best = &one;
        most = here;
    }
    return best ? best->now() : sched::address();
}

std::vector<sched::address> member_list::all() {
    std::lock_guard guard(lock_);
    clear();
    std::vector<sched::address> found;
    for (const member& one : members_)
        if (sched::alive(one.now())) found.push_back(one.now());
    return found;
}

} // namespace sennit::detail
