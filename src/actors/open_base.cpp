// SPDX-License-Identifier: Apache-2.0
// The handlers of an open actor, which come and go at run time.
//
// All changes are made inside the actor's batch, or before its incarnation. A change that a handler
// makes is recorded, and takes effect before the next message. So a handler may remove itself, and
// the list from which it is called does not move.
#include "sennit/actor/open_base.hpp"

#include "sennit/receiver.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sennit {

open_base::~open_base() = default;

// The first handler that satisfies `wanted` and is not removed.
template <class Wanted>
const std::unique_ptr<detail::open_handler>* open_base::first(const Wanted& wanted) const noexcept {
    for (const list* some : {&in_use_, &added_})
        for (const auto& one : *some)
            if (!one->removed && wanted(*one)) return &one;
    return nullptr;
}

handler_id open_base::register_handler(std::unique_ptr<detail::open_handler> made) {
    const bool greedy = first([&](const detail::open_handler& other) {
        return other.tag == made->tag && (other.takes_away || made->takes_away);
    });
    if (greedy)
        throw std::logic_error(
            "sennit: [SNT-503] a message that cannot be copied has two handlers; register a single "
            "handler for it, or take it by const reference");
    made->id = handler_id{last_id_ + 1};
    added_.push_back(std::move(made));
    // Reserves memory for `update`, which must not fail: otherwise a message would be lost.
    if (const std::size_t wanted = in_use_.size() + added_.size(); wanted > in_use_.capacity()) {
        try {
            in_use_.reserve(std::max(wanted, 2 * in_use_.capacity()));
        } catch (...) {
            added_.pop_back();
            throw;
        }
    }
    changed_ = true;
    return handler_id{++last_id_};
}

bool open_base::remove_registered(handler_id which) noexcept {
    const auto* found = first([&](const detail::open_handler& one) { return one.id == which; });
    if (!found) return false;
    (*found)->removed = changed_ = true;
    return true;
}

bool open_base::is_registered(handler_id which) const noexcept {
    return first([&](const detail::open_handler& one) { return one.id == which; }) != nullptr;
}

handler_id open_base::find_registered(const void* type, const void* function) const noexcept {
    const auto* found =
        first([&](const detail::open_handler& one) { return one.made_of(type, function); });
    return found ? (*found)->id : handler_id::none;
}

bool open_base::has_handler_for(const void* tag) const noexcept {
    return first([&](const detail::open_handler& one) { return one.tag == tag; }) != nullptr;
}

void open_base::replace_default(default_handler what) noexcept {
    next_default_ = std::move(what);
    changed_ = default_changed_ = true;
}

void open_base::update() noexcept {
    changed_ = false;
    for (auto& one : added_) in_use_.push_back(std::move(one));
    added_.clear();
    std::erase_if(in_use_, [](const auto& one) { return one->removed; });
    if (std::exchange(default_changed_, false)) default_ = std::exchange(next_default_, nullptr);
}

// False: there is no handler. By index, because a handler may register handlers, which may move
// the list.
bool open_base::run_handlers(const detail::arrival& what) {
    const std::size_t end = in_use_.size();
    const auto next_from = [&](std::size_t i) {
        while (i != end && in_use_[i]->tag != what.tag) ++i;
        return i;
    };
    std::size_t one = next_from(0);
    if (one == end) return false;
    while (one != end && !ending_) {
        const std::size_t next = next_from(one + 1);
        in_use_[one]->run(*this, what, next == end);
        one = next;
    }
    return true;
}

std::exception_ptr open_base::handle(const detail::arrival& what) noexcept {
    detail::arrival_counter* const counted = arrival_counter_;
    std::exception_ptr error;
    if (changed_) update();
    try {
        if (!run_handlers(what)) {
            if (default_)
                default_(what.seen);
            else if (!counted)
                detail::note_unhandled(*this, what.seen);
        }
    } catch (...) {
        error = std::current_exception();
    }
    if (!counted) return error;
    counted->count_one(std::move(error)); // a receiver continues after an error
    return nullptr;
}

} // namespace sennit
