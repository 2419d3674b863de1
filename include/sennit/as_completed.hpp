// SPDX-License-Identifier: Apache-2.0
// as_completed: the results of a function for the elements of a range, in the order in which the
// calls complete.
//
//     for (page& p : sennit::as_completed(urls, 16, fetch)) index(p);
//
// Use it to work on each result as soon as it is there, for example to show the first answers, or
// to stop early. If you need all results, in the order of the elements, use `map_concurrent`. For
// results that several consumers share use a `nursery` and a `channel`.
//
// The result is an input range. Each call runs in a fiber of its own. The first calls start at
// once, before the loop does.
// Limit. At most `limit` items are started and not yet consumed. The item in the body of the loop
// counts until the next step of the loop. So a slow loop bounds the memory, and the calls that were
// started run on meanwhile.
// Input. A fiber of the range reads the input lazily: one element when a place is free. So the
// input may be endless or a channel, and a blocked read delays no result. The body of the loop must
// not change the input. An rvalue range is moved in.
// Errors. The first exception of a call, or of the input, cancels the other calls. The loop first
// gets the results that are complete, and then the exception.
// Leaving the loop early (break, return, an exception) cancels the calls and waits for their end;
// their exceptions are dropped, as their results are.
// Elements are passed as map_concurrent passes them. Results may be move-only.
// Blocking: each step of the loop, until a result is there; it throws `cancelled`. The destructor
// waits for the calls. Thread safety: one fiber or thread creates, uses and destroys the range.
// Cost: for each item a child of a nursery and two passes through a spin lock; one place for each
// item that is started and not consumed.
#pragma once

#include "sennit/bounded/detail/completion_queue.hpp"
#include "sennit/bounded/detail/feed.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/nursery.hpp"

#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

namespace sennit {

// The range that as_completed returns. It can be neither copied nor moved.
template <std::ranges::view V, class F>
class as_completed_view {
public:
    using value_type = detail::result_of_element<V, F>;

    // For as_completed. `made_at` is explained in detail/core/here.hpp.
    template <class G>
    as_completed_view(const void* made_at, V input, std::size_t limit, G&& function)
        : function_(std::forward<G>(function)), input_(std::move(input)), queue_(limit) {
        items_.start([this, made_at] { read_input(made_at); });
    }
    ~as_completed_view() { detail::nursery_access::abandon(items_); }
    as_completed_view(const as_completed_view&) = delete;
    as_completed_view& operator=(const as_completed_view&) = delete;

    class iterator {
    public:
        using iterator_concept = std::input_iterator_tag;
        using value_type = as_completed_view::value_type;
        using difference_type = std::ptrdiff_t;

        iterator() noexcept = default;
        iterator(iterator&&) noexcept = default;
        iterator& operator=(iterator&&) noexcept = default;

        value_type& operator*() const noexcept { return *from_->current_->value; }
        value_type* operator->() const noexcept { return std::addressof(**this); }
        // Consumes the result, and blocks until the next one is there.
        iterator& operator++() {
            from_->advance();
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
            return it.at_end();
        }

    private:
        friend as_completed_view;
        explicit iterator(as_completed_view& from) noexcept : from_(&from) {}
        bool at_end() const noexcept { return from_->current_ == nullptr; }
        as_completed_view* from_ = nullptr;
    };

    // Blocks until the first result is there. Call it once.
    iterator begin() {
        advance();
        return iterator(*this);
    }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    struct place : detail::completion_place {
        std::optional<value_type> value;
    };

    // The feeder. It is a child of the nursery, so that a cancellation ends a blocked read.
    void read_input(const void* made_at) {
        detail::failure_notice notice(queue_);
        place* next = &take_place();
        auto at = std::ranges::begin(input_);
        const auto end = std::ranges::end(input_);
        while (at != end) {
            start_item(made_at, *next, detail::element<V, F>(at));
            next = &take_place();
            ++at;
        }
        queue_.input_ends();
        notice.succeeded();
    }
    void start_item(const void* made_at, place& to, detail::element<V, F>&& one) {
        queue_.item_begins();
        detail::nursery_access::start_with_place(items_, made_at,
                                                 [this, &to, one = std::move(one)]() mutable {
                                                     detail::failure_notice notice(queue_);
                                                     to.value.emplace(one.call_with(function_));
                                                     notice.succeeded();
                                                     queue_.complete(to);
                                                 });
    }
    place& take_place() {
        if (detail::completion_place* free = queue_.take()) return static_cast<place&>(*free);
        return places_.emplace_back();
    }
    void advance() {
        if (place* consumed = std::exchange(current_, nullptr)) {
            consumed->value.reset();
            queue_.give_back(*consumed);
        }
        current_ = static_cast<place*>(queue_.next());
        if (!current_) items_.join(); // throws the first exception
    }

    F function_;
    V input_;
    detail::completion_queue queue_;
    std::deque<place> places_; // the feeder's; places stay where they are while it grows
    place* current_ = nullptr; // the consumer's
    nursery items_;            // last, so that the children end before the other members
};

// Returns a range of the results of `function(element)` for the elements of the range, in the order
// of their completion, with at most `limit` items started and not consumed. The function must
// return a movable value; a reference that it returns is copied. Throws std::bad_alloc.
template <std::ranges::viewable_range R, class F>
    requires detail::function_of_elements<std::views::all_t<R>, std::decay_t<F>> &&
             std::move_constructible<
                 detail::result_of_element<std::views::all_t<R>, std::decay_t<F>>>
[[gnu::always_inline, nodiscard]] inline as_completed_view<std::views::all_t<R>, std::decay_t<F>>
as_completed(R&& range, std::size_t limit, F&& function) {
    return {sched::here(), std::views::all(std::forward<R>(range)), limit,
            std::forward<F>(function)};
}
// Explains a call that the other overload refuses.
template <class R, class F>
base::refused_call as_completed(R&&, std::size_t, F&&) {
    static_assert(base::refused<R, F>,
                  "sennit: as_completed takes a range, a limit, and a function that it calls with "
                  "one element and whose result is movable; for a function without a result use "
                  "for_each_concurrent");
    return {};
}

} // namespace sennit
