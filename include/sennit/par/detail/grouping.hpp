// SPDX-License-Identifier: Apache-2.0
// The engine of collect_reduce and group_by: one value for each key of a range.
//
// First each worker collects its elements in a table, and joins merge the tables. If there are more
// than `few_groups` keys, merging would cost more than it gains, and the tables would leave the
// cache. The engine then begins again: it distributes the indices of the elements by the hash of
// their keys to buckets that fit into the cache, and collects each bucket on its own. The number of
// keys decides, so the result does not depend on the division of the work.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/par/detail/distribution.hpp"
#include "sennit/par/detail/lazy_loop.hpp"
#include "sennit/par/sort.hpp"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace sennit::par::detail {

inline std::uint32_t spread_hash(std::size_t hash) noexcept {
    std::uint64_t value = hash;
    value = (value ^ (value >> 32)) * 0x9E3779B97F4A7C15u;
    return static_cast<std::uint32_t>(value >> 32);
}

// Groups in the order of their first elements, found by hash. `Rule` has the types `key_type` and
// `value_type`.
template <class Rule>
class group_table {
public:
    using group = std::pair<typename Rule::key_type, typename Rule::value_type>;

    std::size_t size() const noexcept { return groups_.size(); }
    std::vector<group> take() && { return std::move(groups_); }

    // Adds a value: `add(old)` changes the value of the key's group, `make()` returns the value of
    // a new group.
    template <class K, class Add, class Make>
    void add(std::uint32_t hash, K&& key, const Rule& rule, const Add& add_to, const Make& make) {
        if (2 * groups_.size() >= places_.size()) grow();
        const std::size_t mask = places_.size() - 1;
        std::size_t at = hash & mask;
        for (; places_[at] != 0; at = (at + 1) & mask) {
            const std::size_t found = places_[at] - 1;
            if constexpr (!std::is_arithmetic_v<typename Rule::key_type>)
                if (hashes_[found] != hash) continue;
            if (rule.equal(std::as_const(groups_[found].first), key))
                return add_to(groups_[found].second);
        }
        groups_.emplace_back(std::forward<K>(key), make());
        hashes_.push_back(hash);
        places_[at] = groups_.size();
    }
    // Adds the groups of the elements behind those of this table.
    void join(group_table high, const Rule& rule) {
        for (std::size_t i = 0; i != high.size(); ++i) {
            auto& [key, value] = high.groups_[i];
            add(
                high.hashes_[i], std::move(key), rule,
                [&](auto& old) { rule.join(old, std::move(value)); },
                [&] { return std::move(value); });
        }
    }

private:
    void grow() {
        std::vector<std::size_t> places(std::max<std::size_t>(64, 4 * places_.size()));
        const std::size_t mask = places.size() - 1;
        for (std::size_t i = 0; i != groups_.size(); ++i) {
            std::size_t at = hashes_[i] & mask;
            while (places[at] != 0) at = (at + 1) & mask;
            places[at] = i + 1;
        }
        places_ = std::move(places);
    }

    std::vector<group> groups_;
    std::vector<std::uint32_t> hashes_;
    std::vector<std::size_t> places_; // the number of a group plus one, or 0
};

inline constexpr std::size_t few_groups = 2048;

// Collects the elements at `first`; gives up above `few_groups` keys.
template <class I, class Rule>
struct few_groups_work {
    using value_type = group_table<Rule>;
    static constexpr bool never_throws = false;

    I first;
    const Rule* rule;
    base::atomic<bool>* many;

    void run(std::optional<value_type>& table, std::size_t from, std::size_t to) const {
        if (!table) table.emplace();
        constexpr std::size_t part = 256;
        for (I at = advanced(first, from); from != to;) {
            if (many->load_rlx()) return; // A hint, which saves work.
            for (const std::size_t end = from + std::min(part, to - from); from != end;
                 ++from, (void)++at)
                add_element(*table, at, *rule);
            if (table->size() > few_groups) many->store(true);
        }
    }
    value_type join(value_type low, value_type high) const {
        if (many->load_rlx()) return low; // A hint, as above.
        low.join(std::move(high), *rule);
        if (low.size() > few_groups) many->store(true);
        return low;
    }

    static void add_element(value_type& table, const I& at, const Rule& rule) {
        auto&& key = rule.key(*at);
        const std::uint32_t hash = spread_hash(rule.hash(std::as_const(key)));
        table.add(
            hash, std::forward<decltype(key)>(key), rule, [&](auto& old) { rule.add(old, *at); },
            [&] { return rule.make(*at); });
    }
};

// What is distributed: a copy of a small element, otherwise its index. An index leads to a place
// that is in no cache.
template <class I>
inline constexpr bool carries_element =
    std::is_trivially_copyable_v<std::iter_value_t<I>> && sizeof(std::iter_value_t<I>) <= 32 &&
    std::is_lvalue_reference_v<std::iter_reference_t<I>> &&
    std::same_as<std::remove_cvref_t<std::iter_reference_t<I>>, std::iter_value_t<I>>;

template <class I, bool Carries = carries_element<I>>
struct hashed_element {
    std::uint32_t hash;
    std::iter_value_t<I> element;

    hashed_element(std::uint32_t h, const I& at, std::size_t) : hash(h), element(*at) {}
    std::iter_reference_t<I> get(const I&) noexcept { return element; }
};
template <class I>
struct hashed_element<I, false> {
    std::uint32_t hash;
    std::size_t index;

    hashed_element(std::uint32_t h, const I&, std::size_t i) noexcept : hash(h), index(i) {}
    std::iter_reference_t<I> get(const I& first) const { return *advanced(first, index); }
};

template <class I, class Rule>
std::vector<typename group_table<Rule>::group> collect_many(const with& options, I first,
                                                            std::size_t n, const Rule& rule) {
    using record = hashed_element<I>;
    const sort_room<record> records(n);
    const sort_room<record> more(n);
    const std::size_t buckets = std::clamp<std::size_t>(std::bit_ceil(n / 8192 + 1), 16, 4096);
    distribution parts(n, buckets);
    if (!records.get() || !more.get() || parts.refused()) throw std::bad_alloc();
    record* const all = records.get();
    run_chunks(options, n, [all, first, &rule](std::size_t from, std::size_t to) {
        for (I at = advanced(first, from); from != to; ++from, (void)++at)
            std::construct_at(all + from, spread_hash(rule.hash(rule.key(*at))), at, from);
    });
    loop_control loop(options);
    std::vector<std::vector<typename group_table<Rule>::group>> found(buckets);
    // The tables use the low bits.
    const int shift = 32 - std::countr_zero(buckets);
    const auto bucket_of = [all, shift](std::size_t i) noexcept {
        return static_cast<std::size_t>(all[i].hash >> shift);
    };
    run_sort([&] {
        parts.count(loop, bucket_of);
        parts.scatter(loop, bucket_of,
                      [all, to = more.get()](std::size_t i, std::size_t place) noexcept {
                          std::construct_at(to + place, all[i]);
                      });
        for_parts(loop, 0, buckets, [&](std::size_t bucket) {
            if (loop.in_scope() && loop.dropped(0)) throw sennit::cancelled();
            group_table<Rule> table;
            record* const end = more.get() + parts.end(bucket);
            for (record* at = more.get() + parts.begin(bucket); at != end; ++at) {
                auto&& element = at->get(first);
                table.add(
                    at->hash, rule.key(std::forward<decltype(element)>(element)), rule,
                    [&](auto& old) { rule.add(old, std::forward<decltype(element)>(element)); },
                    [&] { return rule.make(std::forward<decltype(element)>(element)); });
            }
            found[bucket] = std::move(table).take();
        });
    });
    std::vector<typename group_table<Rule>::group> result;
    std::size_t groups = 0;
    for (const auto& part : found) groups += part.size();
    result.reserve(groups);
    for (auto& part : found) {
        for (auto& one : part) result.push_back(std::move(one));
        std::exchange(part, {});
    }
    return result;
}

// `rule.key(*i)`, `rule.hash(key)` and `rule.equal(a, b)` define the groups; `rule.make(*i)`
// returns the value of a group of one element, `rule.add(value, *i)` adds an element behind, and
// `rule.join(low, high)` adds the value of later elements.
template <class I, class Rule>
std::vector<typename group_table<Rule>::group> collect_groups(const with& options, I first,
                                                              std::size_t n, const Rule& rule) {
    base::atomic<bool> many{false};
    auto few = run_loop(few_groups_work<I, Rule>{first, &rule, &many}, {}, n, options);
    if (!few) return {};
    if (!many.load()) return std::move(*few).take();
    few.reset();
    return collect_many(options, first, n, rule);
}

} // namespace sennit::par::detail
