// SPDX-License-Identifier: Apache-2.0
// What every actor has: an address, a group, and an end. For the library; programs derive from
// `actor`.
#pragma once

#include "sennit/actor/memory.hpp"
#include "sennit/actor/message.hpp"
#include "sennit/detail/core/message_node.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

namespace sennit {

class actor_group;
class actor_base;
class open_base;

// An actor of whatever class: 8 bytes, as actor_ref.
using address_of_actor = sched::address;

// Told to those that watch an actor when it has ended: declare it in the protocol and handle it.
struct down {
    sched::address who;
    exit_reason why = exit_reason::normal;
    std::exception_ptr error; // null unless `why` is error, or linked
};

// What a full mailbox does with one message more.
enum class overflow : unsigned char {
    suspend,     // `send` waits for room; `tell` and `try_tell` do not, and drop it
    fail,        // nothing waits: `send` drops it, too
    drop_newest, // it is dropped; nobody waits
    drop_oldest, // it is taken, and the oldest one is dropped when its turn comes; with four times
                 // as many, it is dropped
};

struct spawn_options {
    std::string_view name{}; // for reports and actor_group::find
    // Messages; at most 2^30 - 1; 0: no bound. One that came too late for an actor that has ended
    // may count here until it is returned.
    std::uint32_t mailbox = 0;
    enum overflow overflow = overflow::suspend;
    unsigned worker = any_worker; // the only one that it shall run on
    unsigned initial_worker =
        any_worker; // where it is at first; it moves when others have nothing to do
    static constexpr unsigned any_worker = ~0u;
    address_of_actor
        watcher{}; // told of its end by `down`, which must be in its protocol; null: nobody
};

namespace detail {

// One for each class of actors.
struct actor_type {
    const std::type_info* type;
    void* (*take)(); // memory for one
    void (*give)(void* memory) noexcept;
    // Its hook, its destructor, its memory; returns what the hook threw.
    std::exception_ptr (*destroy)(actor_base& ended, exit_reason why) noexcept;
    // By message_tag; null: not in the protocol. Null itself: it is an open_base, whose handlers
    // come and go.
    sched::message_node::function (*find)(const void* message, bool asked);
};

// Its address names a message type.
template <class M>
inline constexpr char message_tag = 0;

} // namespace detail

class actor_base {
public:
    actor_base(const actor_base&) = delete;
    actor_base& operator=(const actor_base&) = delete;

    sched::address address() const noexcept;
    actor_group& group() const noexcept;
    std::string name() const; // empty: none

    // For the library.
    const detail::actor_type* type_ = nullptr;
    bool ending_ = false;
    mutable bool address_escaped_ =
        false; // its constructor watched somebody, or asked for its address
    exit_reason why_ = exit_reason::normal;

    // After a handler of this actor; `error`: what it threw. Ends it if that was asked for: `this`
    // is gone then.
    void detail_handled() noexcept {
        if (ending_) [[unlikely]]
            end(nullptr);
    }
    void end(std::exception_ptr error) noexcept;

protected:
    // Throws std::logic_error when it is not made by spawn.
    actor_base();
    ~actor_base() = default;

    // Ends the actor when the handler returns. What is in the mailbox then goes to nobody.
    void stop() noexcept { ending_ = true; }

    // For actor::watch.
    void watch_end(sched::address whom);
    void unwatch(sched::address whom) noexcept;
    // Each ends when the other one ends with an error, unless `down` is in its protocol: then that
    // comes instead. Throws std::bad_alloc.
    void link(sched::address whom);
    void unlink(sched::address whom) noexcept;

private:
    friend class actor_group;
    void prepare_for_down_messages();
    sched::mailbox* box_ = nullptr;
};

namespace detail {

template <class Self>
std::exception_ptr destroy_actor(actor_base& ended, exit_reason why) noexcept {
    Self& me = static_cast<Self&>(ended);
    std::exception_ptr error;
    if constexpr (requires { me.stopped(why); }) {
        try {
            me.stopped(why);
        } catch (...) {
            error = std::current_exception();
        }
    }
    me.~Self();
    give_memory_for<Self, Self>(std::addressof(me));
    return error;
}

template <class Self>
constexpr actor_type type_of_actor(sched::message_node::function (*find)(const void* message,
                                                                         bool asked)) noexcept {
    return {&typeid(Self), &take_memory_for<Self, Self>, &give_memory_for<Self, Self>,
            &destroy_actor<Self>, find};
}

} // namespace detail

} // namespace sennit
