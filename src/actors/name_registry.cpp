// SPDX-License-Identifier: Apache-2.0
#include "sennit/actor/name_registry.hpp"

#include "sennit/actor/actor_metrics.hpp"

#include <algorithm>
#include <mutex>

namespace sennit {

bool name_registry::put(std::string_view name, const holder& whom) {
    std::lock_guard guard(lock_);
    if (detail::ended(whom.who)) return true;
    if (const auto found = holders_.find(name); found != holders_.end()) {
        if (found->second.who != whom.who && !detail::ended(found->second.who)) return false;
        found->second = whom;
        return true;
    }
    if (holders_.size() >= clear_at_) {
        std::erase_if(holders_, [](const auto& one) { return detail::ended(one.second.who); });
        clear_at_ = std::max<std::size_t>(64, 2 * holders_.size());
    }
    holders_.emplace(name, whom);
    return true;
}

name_registry::holder name_registry::find(std::string_view name) const {
    std::lock_guard guard(lock_);
    const auto found = holders_.find(name);
    if (found == holders_.end() || !sched::alive(found->second.who)) return {};
    return found->second;
}

bool name_registry::remove(std::string_view name) {
    std::lock_guard guard(lock_);
    const auto found = holders_.find(name);
    if (found == holders_.end()) return false;
    const bool lived = !detail::ended(found->second.who);
    holders_.erase(found);
    return lived;
}

std::vector<std::string> name_registry::names() const {
    std::vector<std::string> all;
    {
        std::lock_guard guard(lock_);
        for (const auto& [name, whom] : holders_)
            if (sched::alive(whom.who)) all.push_back(name);
    }
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace sennit
