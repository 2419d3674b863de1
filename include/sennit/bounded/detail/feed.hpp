// SPDX-License-Identifier: Apache-2.0
// The elements of a range as the arguments of children: how an element is kept until its child has
// run, and how the owner of a bounded nursery reads the range one element for each free place.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/inside_scope.hpp"
#include "sennit/nursery.hpp"

#include <concepts>
#include <functional>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

namespace sennit::detail {

// The steps of `nursery::start` one by one, for owners that read an element in between.
struct nursery_access {
    // Blocks the owner until a place is free, and takes it. Returns false if the nursery is
    // cancelled. Throws `cancelled`.
    static bool take_place(nursery& family) { return family.admit() == nursery::admission::place; }
    template <class F>
    static void start_with_place(nursery& family, const void* made_at, F&& function) {
        (void)family.start_as(nursery::admission::place, made_at, nullptr,
                              std::forward<F>(function));
    }
    // Notes that not all the work was done, so that `join` reports a cancellation from above.
    static void note_cut_short(nursery& family) noexcept { family.cut_short(); }
    static sched::cancel_scope& scope(nursery& family) noexcept { return family.scope_; }
    // Cancels the children, waits for them, and drops their exceptions.
    static void abandon(nursery& family) noexcept {
        family.cancel();
        family.wait_for_children();
        family.error_ = nullptr;
        family.drop_errors();
    }
};

// While it lives, a cancelled nursery also ends the blocked calls of its owner.
class owner_in_nursery {
public:
    explicit owner_in_nursery(nursery& family) noexcept
        : scope_(&nursery_access::scope(family)), inside_(scope_) {}
    owner_in_nursery(const owner_in_nursery&) = delete;

private:
    sched::cancel_scope scope_;
    sched::inside_scope inside_;
};

// An element of a range of type R, kept for a call of F. A forward range whose elements are lvalues
// keeps them alive itself, so a reference is enough. The elements of any other range are moved out.
template <std::ranges::input_range R, class F>
class element {
    using reference = std::ranges::range_reference_t<R>;
    using value = std::ranges::range_value_t<R>;
    static constexpr bool by_reference =
        std::ranges::forward_range<R> && std::is_lvalue_reference_v<reference>;
    using kept = std::conditional_t<by_reference, std::add_pointer_t<reference>, value>;

    static constexpr bool callable() {
        if constexpr (by_reference)
            return std::invocable<F&, reference>;
        else
            return std::constructible_from<value, std::ranges::range_rvalue_reference_t<R>> &&
                   (std::invocable<F&, value> || std::invocable<F&, value&>);
    }

public:
    static constexpr bool fits = callable();

    explicit element(const std::ranges::iterator_t<R>& at) : kept_(take(at)) {}

    decltype(auto) call_with(F& function) {
        if constexpr (by_reference)
            return std::invoke(function, static_cast<reference>(*kept_));
        else if constexpr (std::invocable<F&, value>)
            return std::invoke(function, std::move(kept_));
        else
            return std::invoke(function, kept_);
    }

private:
    static kept take(const std::ranges::iterator_t<R>& at) {
        if constexpr (by_reference)
            return std::addressof(*at);
        else if constexpr (std::ranges::forward_range<R>)
            return kept(*at); // not moved: another iterator may read the element, too
        else
            return kept(std::ranges::iter_move(at));
    }

    kept kept_;
};

template <class R, class F>
concept function_of_elements = std::ranges::input_range<R> && element<R, F>::fits;

// The type of the results of F for the elements of R, without reference.
template <class R, class F>
using result_of_element =
    std::remove_cvref_t<decltype(std::declval<element<R, F>&>().call_with(std::declval<F&>()))>;

// Reads the range, and calls `start_child(element)` with each element as soon as `family`, which
// has a limit, has a free place. The caller is the owner of `family`. A blocked read ends when the
// nursery is cancelled; the caller's `join` then reports why. Throws the exceptions of the range.
template <class F, std::ranges::input_range R, class Start>
void feed(nursery& family, R& range, Start&& start_child) {
    try {
        const owner_in_nursery inside(family);
        if (!nursery_access::take_place(family)) return;
        auto at = std::ranges::begin(range);
        const auto end = std::ranges::end(range);
        while (at != end) {
            start_child(element<R, F>(at));
            if (!nursery_access::take_place(family)) return;
            ++at;
        }
    } catch (const cancelled&) {
        if (!family.cancelled()) throw; // user code threw `cancelled` itself
        nursery_access::note_cut_short(family);
    }
}

} // namespace sennit::detail
