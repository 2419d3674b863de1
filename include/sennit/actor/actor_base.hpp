// SPDX-License-Identifier: Apache-2.0
// The part that all actors share: an address, a group, and an end. For the library; programs derive
// from `actor`.
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

// The address of an actor of any class: 8 bytes, like an actor_ref.
using address_of_actor = sched::address;

// The message that tells a watcher that an actor has ended. A watcher declares it in its protocol
// and handles it.
struct down {
    sched::address who;
    exit_reason why = exit_reason::normal;
    std::exception_ptr error; // null unless `why` is error, or linked
};

// The reaction of a full mailbox to one more message.
enum class overflow : unsigned char {
    suspend,     // `send` waits for room; `tell` and `try_tell` never wait, and drop the message
    fail,        // no call waits: `send` drops the message, too
    drop_newest, // the mailbox drops the new message; no call waits
    // The mailbox takes the new message, and its batch drops the oldest message when it reaches it.
    // A mailbox that holds four times its bound drops the new message.
    drop_oldest,
};

struct spawn_options {
    std::string_view name{}; // for reports and actor_group::find
    // The most messages that may wait; at most 2^30 - 1; 0: no bound. A message that came too late
    // for an ended actor may count here until it is returned.
    std::uint32_t mailbox = 0;
    enum overflow overflow = overflow::suspend;
    unsigned worker = any_worker; // the only worker that may run the actor
    // The actor's first worker; the actor moves when other workers have nothing to do.
    unsigned initial_worker = any_worker;
    static constexpr unsigned any_worker = ~0u;
    // The actor that is told of the end by `down`, which must be in its protocol; null: none.
    address_of_actor watcher{};
};

namespace detail {

// The operations of a class of actors; one object for each class.
struct actor_type {
    const std::type_info* type;
    void* (*take)(); // takes memory for one actor
    void (*give)(void* memory) noexcept;
    // Runs the `stopped` hook and the destructor, and returns the memory. Returns the exception of
    // the hook.
    std::exception_ptr (*destroy)(actor_base& ended, exit_reason why) noexcept;
    // Finds a handler by message_tag; null: the message is not in the protocol. The pointer itself
    // is null for an open_base, whose handlers come and go.
    sched::message_node::function (*find)(const void* message, bool asked);
};

// The address of this variable identifies a message type.
template <class M>
inline constexpr char message_tag = 0;

} // namespace detail

class actor_base {
public:
    actor_base(const actor_base&) = delete;
    actor_base& operator=(const actor_base&) = delete;

    sched::address address() const noexcept;
    actor_group& group() const noexcept;
    std::string name() const; // empty if the actor has no name

    // For the library.
    const detail::actor_type* type_ = nullptr;
    bool ending_ = false;
    // True if the constructor has watched an actor, or has asked for its own address.
    mutable bool address_escaped_ = false;
    exit_reason why_ = exit_reason::normal;

    // Both run after a handler of this actor. `detail_handled` ends the actor if `stop` was called.
    // `end` ends it; `error` is the exception of the handler. `this` is gone after the end.
    void detail_handled() noexcept {
        if (ending_) [[unlikely]]
            end(nullptr);
    }
    void end(std::exception_ptr error) noexcept;

protected:
    // Throws std::logic_error if spawn did not make this actor.
    actor_base();
    ~actor_base() = default;

    // Ends the actor when the handler returns. The messages in its mailbox become dead letters.
    void stop() noexcept { ending_ = true; }

    // For actor::watch.
    void watch_end(sched::address whom);
    // Ends a watch. A `down` that is under way already still arrives.
    void unwatch(sched::address whom) noexcept;
    // Links two actors: each ends when the other ends with an error. If `down` is in its protocol,
    // the actor gets that message instead. Throws std::bad_alloc.
    void link(sched::address whom);
    // Ends a link in both directions.
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
