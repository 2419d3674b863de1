// SPDX-License-Identifier: Apache-2.0
// The common part of open_actor and receiver: handlers that come and go. For the library; programs
// derive from open_actor.
#pragma once

#include "sennit/actor/actor_base.hpp"
#include "sennit/actor/dead_letter.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace sennit {

// Identifies one registration of a handler, within one actor or receiver.
enum class handler_id : std::uint64_t { none };

namespace detail {

class arrival_counter; // receiver.hpp

// A message that has arrived at an open actor.
struct arrival {
    const void* tag;
    void* message; // points to an M
    void* answer;  // points to a reply_to<reply_of<M>>
    dead_letter seen;
};

// One registration of a handler.
struct open_handler {
    explicit open_handler(const void* message, bool takes) noexcept
        : tag(message), takes_away(takes) {}
    virtual ~open_handler() = default;
    open_handler(const open_handler&) = delete;
    open_handler& operator=(const open_handler&) = delete;

    // `last`: no other handler gets the message after this one.
    virtual void run(open_base& me, const arrival& what, bool last) = 0;
    // True if the handler was made from that function; `type` is a message_tag of the function
    // pointer's type.
    virtual bool made_of(const void* type, const void* function) const noexcept = 0;

    const void* const tag; // the tag of its message
    const bool takes_away; // true if no other handler can get the message after this one
    bool removed = false;
    handler_id id = handler_id::none;
};

} // namespace detail

class open_base : public actor_base {
public:
    // For the library. Runs the handlers of a message and returns their exception. Changes made
    // before this message take effect first.
    std::exception_ptr handle(const detail::arrival& what) noexcept;
    bool has_handler_for(const void* tag) const noexcept;

protected:
    open_base() = default;
    ~open_base();

    using default_handler = std::function<void(const dead_letter&)>;

    handler_id register_handler(std::unique_ptr<detail::open_handler> made);
    bool remove_registered(handler_id which) noexcept;
    bool is_registered(handler_id which) const noexcept;
    handler_id find_registered(const void* type, const void* function) const noexcept;
    void replace_default(default_handler what) noexcept;

    // For a receiver: counts each message in `where`.
    void count_in(detail::arrival_counter& where) noexcept { arrival_counter_ = &where; }

private:
    using list = std::vector<std::unique_ptr<detail::open_handler>>;
    template <class Wanted>
    const std::unique_ptr<detail::open_handler>* first(const Wanted& wanted) const noexcept;
    void update() noexcept;
    bool run_handlers(const detail::arrival& what);

    // The handlers in the order of registration; every message uses the list as it is at the
    // message's beginning.
    list in_use_;
    // Handlers that were registered since the present message began.
    list added_;
    default_handler default_, next_default_;
    bool changed_ = false;
    bool default_changed_ = false;
    std::uint64_t last_id_ = 0;
    detail::arrival_counter* arrival_counter_ = nullptr; // null unless this is a receiver
};

} // namespace sennit
