// SPDX-License-Identifier: Apache-2.0
// Handlers that come and go.
//
// All is done inside the actor's turn, or before its life. A change made while a message is handled is written down
// and takes effect before the next one: so a handler may remove itself, and the list it is called from does not move.
#include "sennit/actor/open_base.hpp"

#include "sennit/receiver.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sennit {

open_base::~open_base() = default;

// Of those that count: not removed.
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
        throw std::logic_error("sennit: a handler that takes a message which cannot be copied must be the only one");
    made->id = handler_id{last_id_ + 1};
    added_.push_back(std::move(made));
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
    const auto* found = first([&](const detail::open_handler& one) { return one.made_of(type, function); });
    return found ? (*found)->id : handler_id::none;
}

bool open_base::has_handler_for(const void* tag) const noexcept {
    return first([&](const detail::open_handler& one) { return one.tag == tag; }) != nullptr;
}

void open_base::replace_default(default_handler what) noexcept {
    next_default_ = std::move(what);
    changed_ = default_changed_ = true;
}

void open_base::update() {
    in_use_.reserve(in_use_.size() + added_.size()); // throws before anything has changed
    changed_ = false;
    for (auto& one : added_) in_use_.push_back(std::move(one));
    added_.clear();
    std::erase_if(in_use_, [](const auto& one) { return one->removed; });
    if (std::exchange(default_changed_, false)) default_ = std::exchange(next_default_, nullptr);
}

// False: there is none.
bool open_base::run_handlers(const detail::arrival& what) {
    const auto after = [&](list::iterator from) {
        return std::find_if(from, in_use_.end(), [&](const auto& one) { return one->tag == what.tag; });
    };
    auto one = after(in_use_.begin());
    if (one == in_use_.end()) return false;
    while (one != in_use_.end() && !ending_) {
        const auto next = after(one + 1);
        (*one)->run(*this, what, next == in_use_.end());
        one = next;
    }
    return true;
}

std::exception_ptr open_base::handle(const detail::arrival& what) noexcept {
    detail::arrivals* const counted = arrivals_;
    std::exception_ptr error;
    try {
        if (changed_) update();
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
    if (std::exchange(counted_, true)) counted->one_more(std::move(error)); // a receiver goes on
    return nullptr;
}

} // namespace sennit
