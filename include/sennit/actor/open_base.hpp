// SPDX-License-Identifier: Apache-2.0
// What an open_actor and a receiver have: handlers that come and go. For the library; programs
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

// Names one registration of a handler, among those of one actor or receiver.
enum class handler_id : std::uint64_t { none };

namespace detail {

class arrival_counter; // receiver.hpp

// A message at an open actor.
struct arrival {
    const void* tag;
    void* message; // an M
    void* answer;  // a reply_to<reply_of<M>>
    dead_letter seen;
};

// One registration.
struct open_handler {
    explicit open_handler(const void* message, bool takes) noexcept
        : tag(message), takes_away(takes) {}
    virtual ~open_handler() = default;
    open_handler(const open_handler&) = delete;
    open_handler& operator=(const open_handler&) = delete;

    // `last`: no other one gets the message after this one.
    virtual void run(open_base& me, const arrival& what, bool last) = 0;
    // Whether it was made of that function: `type` is a message_tag of the function pointer's type.
    virtual bool made_of(const void* type, const void* function) const noexcept = 0;

    const void* const tag; // of its message
    const bool takes_away; // what it gets, nobody can get again
    bool removed = false;
    handler_id id = handler_id::none;
};

} // namespace detail

class open_base : public actor_base {
public:
    // For the library. What a handler threw. Changes made before this message count.
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

    // For a receiver.
    void count_in(detail::arrival_counter& where) noexcept { arrival_counter_ = &where; }

private:
    using list = std::vector<std::unique_ptr<detail::open_handler>>;
    template <class Wanted>
    const std::unique_ptr<detail::open_handler>* first(const Wanted& wanted) const noexcept;
    void update() noexcept;
    bool run_handlers(const detail::arrival& what);

    list in_use_; // in the order of registration; a message goes by these from its beginning to its
                  // end
    list added_;  // meanwhile
    default_handler default_, next_default_;
    bool changed_ = false;
    bool default_changed_ = false;
    std::uint64_t last_id_ = 0;
    detail::arrival_counter* arrival_counter_ = nullptr; // a receiver's
};

} // namespace sennit
