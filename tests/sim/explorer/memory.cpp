// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

namespace sennit::sim {

std::size_t memory::slot_of(const void* address) const noexcept {
    const std::size_t mask = table_.size() - 1;
    std::size_t i =
        (reinterpret_cast<std::uintptr_t>(address) >> 2) * 0x9E3779B97F4A7C15u >> 20 & mask;
    while (table_[i].generation == generation_ && words_[table_[i].number].address != address)
        i = (i + 1) & mask;
    return i;
}

void memory::grow() {
    const std::size_t size = table_.empty() ? 1024 : table_.size() * 2;
    table_.assign(size, {});
    words_.resize(size / 2);
    for (std::uint32_t n = 0; n < count_; ++n)
        table_[slot_of(words_[n].address)] = {generation_, n};
}

word& memory::find_or_insert(const void* address, bool& is_new) {
    if (count_ == words_.size()) grow();
    entry& at = table_[slot_of(address)];
    is_new = at.generation != generation_;
    if (is_new) {
        at = {generation_, count_};
        words_[count_].address = address;
        words_[count_].number = count_;
        ++count_;
    }
    return words_[at.number];
}

void memory::start(word& fresh, std::uint64_t value) noexcept {
    fresh.stores = 1;
    fresh.life = lives_++;
    fresh.made_at = 0;
    fresh.made_by = 0;
    fresh.dead = false;
    fresh.made_again = false;
    fresh.store(0) = word_store{.value = value, .initial = true};
}

word& memory::at(const void* address, std::uint64_t value) {
    bool is_new;
    word& found = find_or_insert(address, is_new);
    if (is_new) start(found, value);
    return found;
}

void memory::construct(const void* address, std::uint64_t value, unsigned thread, instant time) {
    bool is_new;
    word& made = find_or_insert(address, is_new);
    start(made, value);
    made.made_again = !is_new;
    made.made_by = static_cast<std::uint8_t>(thread);
    made.made_at = time;
}

word& memory::destroy(const void* address) {
    bool is_new;
    word& gone = find_or_insert(address, is_new);
    if (is_new) start(gone, 0);
    gone.dead = true;
    return gone;
}

word* memory::find(const void* address) noexcept {
    if (table_.empty()) return nullptr;
    const entry& at = table_[slot_of(address)];
    return at.generation == generation_ ? &words_[at.number] : nullptr;
}

unsigned memory::readable(word& from, unsigned thread, const clock& known, order with) noexcept {
    const unsigned kept = from.stores < history ? from.stores : history;
    for (unsigned age = 0; age + 1 < kept; ++age) {
        const word_store& one = from.store(from.stores - 1 - age);
        if (one.initial || (with == order::seq_cst && one.seq_cst)) return age + 1;
        if (one.seen.at[thread] != not_yet || known.knows_one_of(one.seen)) return age + 1;
    }
    return kept;
}

std::uint64_t memory::read(word& from, unsigned age, unsigned thread, clock& known,
                           order with) noexcept {
    word_store& one = from.store(from.stores - 1 - age);
    if (one.seen.at[thread] == not_yet) one.seen.at[thread] = ++known.at[thread];
    if (acquires(with)) known.join(one.carries);
    return one.value;
}

void memory::write(word& to, std::uint64_t value, unsigned thread, clock& known, order with,
                   bool continues_release_sequence) noexcept {
    clock carries{};
    if (releases(with)) carries = known;
    if (continues_release_sequence) carries.join(to.newest().carries);
    const instant now = ++known.at[thread];
    if (releases(with)) carries.at[thread] = now;
    word_store& fresh = to.store(to.stores++);
    fresh = word_store{.value = value, .carries = carries, .seq_cst = with == order::seq_cst};
    fresh.seen.at[thread] = now;
}

} // namespace sennit::sim
