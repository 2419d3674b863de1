// SPDX-License-Identifier: Apache-2.0
#include "places.hpp"

#include "ground/ground.hpp"

#include <string_view>
#include <utility>

namespace sennit::sim {

places::entry& places::add(const void* key, std::uint32_t word, place at) {
    explorers_own guard;
    if (2 * ++count_ > table_.size()) {
        std::vector<entry> old = std::exchange(table_, std::vector<entry>(2 * table_.size()));
        for (const entry& one : old)
            if (one.key) table_[slot_of(one.key, one.word)] = one;
    }
    entry& made = table_[slot_of(key, word)];
    made.key = key;
    made.word = word;
    if (preempt_in_) {
        const std::string_view file = base_name(at), list = preempt_in_;
        made.in_list = false;
        for (std::size_t i = list.find(file); i != list.npos; i = list.find(file, i + 1))
            made.in_list |= (i == 0 || list[i - 1] == ' ') &&
                            (i + file.size() == list.size() || list[i + file.size()] == ' ');
    }
    return made;
}

bool places::learn() {
    bool grown = false;
    for (const touched_at& one : touches_) {
        const seen_by& all = touched_[one.what];
        const auto others = static_cast<std::uint8_t>(
            (one.writes ? all.readers | all.writers : all.writers) & ~one.by);
        if (others == 0) continue;
        entry& at = table_[slot_of(one.key, one.word)];
        grown |= !at.shared;
        at.shared = true;
    }
    return grown;
}

} // namespace sennit::sim
