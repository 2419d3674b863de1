// SPDX-License-Identifier: Apache-2.0
// `base::atomic` over the simulated memory: the header that SENNIT_SIMULATED_ATOMICS names when the
// library is built for the explorer. Each operation passes its own place in the program on, for
// traces and mutants. Outside of a simulated thread the words are plain words.
#pragma once

#include "order.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace sennit::sim::hooks {

std::uint64_t load(const void* address, std::uint64_t value, order with, place where) noexcept;
void store(const void* address, std::uint64_t before, std::uint64_t value, order with,
           place where) noexcept;
std::uint64_t begin_update(const void* address, std::uint64_t value, operation what, order with,
                           place where) noexcept;
void end_update(std::uint64_t value) noexcept;
void abandon_update(order failure) noexcept;
void construct(const void* address, std::uint64_t value) noexcept;
void destroy(const void* address) noexcept;

} // namespace sennit::sim::hooks

namespace sennit::base {

template <class T>
class atomic {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
    using place = sim::place;
    using order = sim::order;
    using operation = sim::operation;

public:
    constexpr atomic() noexcept : atomic(T{}) {}
    constexpr explicit atomic(T value) noexcept : newest_(value) {
        if (!std::is_constant_evaluated() && sim::hooks::running)
            sim::hooks::construct(this, bits(value));
    }
    constexpr ~atomic() {
        if (!std::is_constant_evaluated() && sim::hooks::running) sim::hooks::destroy(this);
    }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(place at = place::current()) const noexcept { return load_as(order::seq_cst, at); }
    T load_acq(place at = place::current()) const noexcept { return load_as(order::acquire, at); }
    T load_rlx(place at = place::current()) const noexcept { return load_as(order::relaxed, at); }

    void store(T value, place at = place::current()) noexcept {
        store_as(value, order::seq_cst, at);
    }
    void store_rel(T value, place at = place::current()) noexcept {
        store_as(value, order::release, at);
    }
    void store_rlx(T value, place at = place::current()) noexcept {
        store_as(value, order::relaxed, at);
    }

    T exchange(T value, place at = place::current()) noexcept {
        return exchange_as(value, order::seq_cst, at);
    }
    T exchange_acq(T value, place at = place::current()) noexcept {
        return exchange_as(value, order::acquire, at);
    }
    T exchange_acq_rel(T value, place at = place::current()) noexcept {
        return exchange_as(value, order::acq_rel, at);
    }

    bool cas(T& expected, T desired, place at = place::current()) noexcept {
        return cas_as(expected, desired, order::seq_cst, order::seq_cst, at);
    }
    bool cas_acq(T& expected, T desired, place at = place::current()) noexcept {
        return cas_as(expected, desired, order::acquire, order::relaxed, at);
    }
    bool cas_rel(T& expected, T desired, place at = place::current()) noexcept {
        return cas_as(expected, desired, order::release, order::relaxed, at);
    }
    bool cas_rlx(T& expected, T desired, place at = place::current()) noexcept {
        return cas_as(expected, desired, order::relaxed, order::relaxed, at);
    }
    bool cas_acq_rel(T& expected, T desired, place at = place::current()) noexcept {
        return cas_as(expected, desired, order::acq_rel, order::acquire, at);
    }

    T fetch_add(T delta, place at = place::current()) noexcept {
        return fetch([=](T old) { return static_cast<T>(old + delta); }, order::seq_cst, at);
    }
    T fetch_sub(T delta, place at = place::current()) noexcept {
        return fetch([=](T old) { return static_cast<T>(old - delta); }, order::seq_cst, at);
    }
    T fetch_or(T mask, place at = place::current()) noexcept {
        return fetch([=](T old) { return static_cast<T>(old | mask); }, order::seq_cst, at);
    }
    T fetch_and(T mask, place at = place::current()) noexcept {
        return fetch([=](T old) { return static_cast<T>(old & mask); }, order::seq_cst, at);
    }
    T fetch_add_rlx(T delta, place at = place::current()) noexcept {
        return fetch([=](T old) { return static_cast<T>(old + delta); }, order::relaxed, at);
    }
    T fetch_sub_acq_rel(T delta, place at = place::current()) noexcept {
        return fetch([=](T old) { return static_cast<T>(old - delta); }, order::acq_rel, at);
    }

    const std::uint32_t* futex_address() const noexcept
        requires(sizeof(T) == 4)
    {
        // SAFETY: only the address and the newest value are used.
        return reinterpret_cast<const std::uint32_t*>(&newest_);
    }

private:
    static std::uint64_t bits(T value) noexcept {
        std::uint64_t raw = 0;
        std::memcpy(&raw, &value, sizeof value);
        return raw;
    }
    static T value_of(std::uint64_t raw) noexcept {
        T value;
        std::memcpy(&value, &raw, sizeof value);
        return value;
    }

    T load_as(order with, place at) const noexcept {
        if (!sim::hooks::running) return newest_;
        return value_of(sim::hooks::load(this, bits(newest_), with, at));
    }
    void store_as(T value, order with, place at) noexcept {
        if (sim::hooks::running) sim::hooks::store(this, bits(newest_), bits(value), with, at);
        newest_ = value;
    }
    T begin(operation what, order with, place at) noexcept {
        if (!sim::hooks::running) return newest_;
        return value_of(sim::hooks::begin_update(this, bits(newest_), what, with, at));
    }
    void end(T value) noexcept {
        if (sim::hooks::running) sim::hooks::end_update(bits(value));
        newest_ = value;
    }
    T exchange_as(T value, order with, place at) noexcept {
        const T old = begin(operation::exchange, with, at);
        end(value);
        return old;
    }
    bool cas_as(T& expected, T desired, order with, order failure, place at) noexcept {
        const T old = begin(operation::cas, with, at);
        if (std::memcmp(&old, &expected, sizeof old) != 0) {
            if (sim::hooks::running) sim::hooks::abandon_update(failure);
            expected = old;
            return false;
        }
        end(desired);
        return true;
    }
    template <class F>
    T fetch(F next, order with, place at) noexcept {
        const T old = begin(operation::fetch, with, at);
        end(next(old));
        return old;
    }

    T newest_{};
};

// sennit/detail/sys/single_threaded.hpp passes the place of its caller on.
#define SENNIT_PLACE_PARAMETER , sim::place at = sim::place::current()
#define SENNIT_PLACE_ARGUMENT , at

inline void compiler_barrier() noexcept {} // a compiler never reorders simulated threads

} // namespace sennit::base
