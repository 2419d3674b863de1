// SPDX-License-Identifier: Apache-2.0
// par::collect_reduce, group_by: reduce, or collect, the elements of each key, in parallel.
//
//     auto sums = sennit::par::collect_reduce(orders, &order::customer, &order::price);
//     for (const auto& [customer, sum] : sums) …
//     auto lists = sennit::par::group_by(orders, &order::customer);
//
// Use them where a loop would fill a std::unordered_map. For keys that are small numbers,
// `par::histogram` counts faster.
//
// Guarantees. Values of a key are reduced in the order of their elements; the operation must be
// associative. The order of the keys is unspecified; it depends on the elements and on the hash
// only, not on the workers. The callables are called by several workers at the same time, and up to
// three times for an element.
//
// Exceptions: one of the exceptions of the callables, and std::bad_alloc. The elements only are
// read. Cancellation as for `par::for_each`. Cost. Up to 2048 keys: a table for each worker that
// joins in. More keys: two arrays of hashes with copies of the elements (trivially copyable ones of
// at most 32 bytes) or with their indices (16 bytes an element), and a table for each bucket of
// about 8,000 elements. All elements of a key are then reduced by one worker.
#pragma once

#include "sennit/par/detail/call_forms.hpp"
#include "sennit/par/detail/fold.hpp"
#include "sennit/par/detail/grouping.hpp"

#include <functional>

namespace sennit::par {

namespace detail {

template <class I, class Key>
using group_key = std::remove_cvref_t<projected_t<I, Key>>;

template <class I, class Key, class Hash>
struct group_rule {
    using key_type = group_key<I, Key>;

    shared_callable<Key> key_of;
    shared_callable<Hash> hash_of;

    decltype(auto) key(std::iter_reference_t<I> element) const {
        return std::invoke(key_of.call, static_cast<std::iter_reference_t<I>>(element));
    }
    std::size_t hash(const key_type& key) const { return std::invoke(hash_of.call, key); }
    bool equal(const key_type& a, const key_type& b) const { return static_cast<bool>(a == b); }
};

template <class I, class Key, class Hash, class Value, class Op>
struct reduce_rule : group_rule<I, Key, Hash> {
    using value_type = std::remove_cvref_t<projected_t<I, Value>>;

    shared_callable<Value> value;
    shared_callable<Op> op;

    value_type make(std::iter_reference_t<I> element) const {
        return value_type(std::invoke(value.call, static_cast<std::iter_reference_t<I>>(element)));
    }
    void add(value_type& old, std::iter_reference_t<I> element) const {
        join(old, make(static_cast<std::iter_reference_t<I>>(element)));
    }
    void join(value_type& low, value_type high) const {
        low = static_cast<value_type>(std::invoke(op.call, std::move(low), std::move(high)));
    }
};

template <class I, class Key, class Hash>
struct list_rule : group_rule<I, Key, Hash> {
    using value_type = std::vector<std::iter_value_t<I>>;

    value_type make(std::iter_reference_t<I> element) const {
        value_type list;
        list.push_back(static_cast<std::iter_reference_t<I>>(element));
        return list;
    }
    void add(value_type& list, std::iter_reference_t<I> element) const {
        list.push_back(static_cast<std::iter_reference_t<I>>(element));
    }
    void join(value_type& low, value_type high) const {
        for (auto& element : high) low.push_back(std::move(element));
    }
};

template <class I, class Key, class Hash>
concept groups_by =
    projects<Key, I> && std::equality_comparable<group_key<I, Key>> &&
    std::movable<group_key<I, Key>> &&
    std::constructible_from<group_key<I, Key>, projected_t<I, Key>> &&
    std::convertible_to<std::invoke_result_t<Hash&, const group_key<I, Key>&>, std::size_t>;
template <class I, class Key, class Value, class Op, class Hash>
concept reduces_groups = groups_by<I, Key, Hash> && projects<Value, I> &&
                         reduction_of<std::remove_cvref_t<projected_t<I, Value>>, Op> &&
                         std::movable<std::remove_cvref_t<projected_t<I, Value>>>;

struct key_hash {
    template <class K>
    std::size_t operator()(const K& key) const noexcept(noexcept(std::hash<K>()(key))) {
        return std::hash<K>()(key);
    }
};

struct collect_reduce_calls {
    template <divisible_range R, class Key, class Value = std::identity, class Op = std::plus<>,
              class Hash = key_hash>
        requires reduces_groups<std::ranges::iterator_t<R>, Key, Value, Op, Hash>
    auto operator()(const with& options, R&& range, Key key, Value value = {}, Op op = {},
                    Hash hash = {}) const {
        using rule = reduce_rule<std::ranges::iterator_t<R>, Key, Hash, Value, Op>;
        return collect_groups(options, std::ranges::begin(range), size_of(range),
                              rule{{{key}, {hash}}, {value}, {op}});
    }
    template <divisible_range R, class Key, class Value = std::identity, class Op = std::plus<>,
              class Hash = key_hash>
        requires reduces_groups<std::ranges::iterator_t<R>, Key, Value, Op, Hash>
    auto operator()(R&& range, Key key, Value value = {}, Op op = {}, Hash hash = {}) const {
        return (*this)(automatic, range, std::move(key), std::move(value), std::move(op),
                       std::move(hash));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(
            base::refused<Args...>,
            "sennit: par::collect_reduce takes the options or nothing, a range, a key and "
            "a value (functions of an element), an operation of two values, and a hash "
            "of the key; keys need operator==, and std::hash or the hash");
    }
};

struct group_by_calls {
    template <divisible_range R, class Key, class Hash = key_hash>
        requires groups_by<std::ranges::iterator_t<R>, Key, Hash> &&
                 std::copyable<std::ranges::range_value_t<R>>
    auto operator()(const with& options, R&& range, Key key, Hash hash = {}) const {
        using rule = list_rule<std::ranges::iterator_t<R>, Key, Hash>;
        return collect_groups(options, std::ranges::begin(range), size_of(range),
                              rule{{{key}, {hash}}});
    }
    template <divisible_range R, class Key, class Hash = key_hash>
        requires groups_by<std::ranges::iterator_t<R>, Key, Hash> &&
                 std::copyable<std::ranges::range_value_t<R>>
    auto operator()(R&& range, Key key, Hash hash = {}) const {
        return (*this)(automatic, range, std::move(key), std::move(hash));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(
            base::refused<Args...>,
            "sennit: par::group_by takes the options or nothing, a range of copyable "
            "elements, a key (a function of an element), and a hash of the key; keys need "
            "operator==, and std::hash or the hash");
    }
};

} // namespace detail

// collect_reduce(range, key, value = {}, op = plus, hash = std::hash), also with options in front.
// Returns a vector of pairs: each key, and op over value(element) of its elements. Blocks until all
// elements are reduced. Throws as the head of this file says.
inline constexpr detail::algorithm<detail::collect_reduce_calls> collect_reduce{};

// group_by(range, key, hash = std::hash), also with options in front. Returns a vector of pairs:
// each key, and a vector with copies of its elements in their order. Blocks and throws like
// collect_reduce.
inline constexpr detail::algorithm<detail::group_by_calls> group_by{};

} // namespace sennit::par
