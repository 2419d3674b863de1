// SPDX-License-Identifier: Apache-2.0
// actor_ref: a reference to an actor, with all ways to send to it.
//
// A value of 8 bytes that keeps no actor alive. Copying is free; a reference to an ended actor
// reaches no actor, and never a new one. `actor_ref<counter>` accepts all messages of counter's
// protocol. `actor_ref<accepts<inc, get>>` refers to any actor that accepts these messages, and is
// made from a reference to such an actor.
//
// Thread safety: any thread may call all members, also a thread that is no worker. A reference may
// outlive its actor, its group and its runtime. But no thread may use a reference to a living actor
// while the actor's runtime is being destroyed. Order: messages from one sender to one receiver
// arrive in the order in which they were sent. Cost: a `tell` and its handler take some 10 to 25 ns
// on the receiver's worker; see docs/performance.md.
#pragma once

#include "sennit/actor/actor_base.hpp"
#include "sennit/actor/dead_letter.hpp"
#include "sennit/actor/memory.hpp"
#include "sennit/actor/message.hpp"
#include "sennit/actor/open_base.hpp"
#include "sennit/actor/reply.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/message_node.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace sennit {

template <class A>
class actor_ref;

enum class [[nodiscard]] send_status : unsigned char { sent, full, dead };

// A protocol: a set of messages.
template <class... Ms>
struct accepts {
    using protocol = accepts;
    template <class M>
    static constexpr bool has = (std::is_same_v<M, Ms> || ...);
};

// The protocol of an actor that may have a handler for any message: an open_actor, or an address of
// an unknown class.
struct anything {
    using protocol = anything;
    template <class M>
    static constexpr bool has = true;
};
using any_ref = actor_ref<anything>;

namespace detail {

// A message on its way. An asked message also carries the duty to answer.
template <class M>
struct told : sched::message_node {
    told(function what, M&& given) noexcept : message_node(what), message(std::move(given)) {}
    M message;
};
template <class M>
struct asked : sched::message_node {
    asked(function what, M&& given, reply_to<reply_of<M>> whom) noexcept
        : message_node(what), message(std::move(given)), answer(std::move(whom)) {}
    M message;
    reply_to<reply_of<M>> answer;
};

// The type of the message that a node carries, whose class chooses the memory; void if there is
// none.
template <class Node>
struct carried {
    using type = void;
};
template <class Node>
    requires requires(Node& one) { one.message; }
struct carried<Node> {
    using type = decltype(Node::message);
};

template <class Node>
void destroy_message(Node& one) noexcept {
    one.~Node();
    give_memory_for<typename carried<Node>::type, Node>(&one);
}
template <class Node, class... Args>
Node* make_message(Args&&... args) {
    return ::new (take_memory_for<typename carried<Node>::type, Node>())
        Node(std::forward<Args>(args)...);
}

template <class M>
std::span<const std::byte> bytes_of(const M& message) noexcept {
    return std::as_bytes(std::span(std::addressof(message), 1));
}

template <class Node, class M>
bool nobody(Node& one, void* object) noexcept {
    if (object) return false;
    note_dead_letter(one, typeid(M), bytes_of(one.message));
    if constexpr (requires { one.answer; })
        if (one.fate == sched::delivery::full) one.answer.fail(error_of(ask_error::full));
    destroy_message(one);
    return true;
}

// The answer to a told message. A message that is no question needs no place for an answer.
struct no_answer {
    template <class R>
    operator reply_to<R>() const noexcept {
        return {};
    }
};
template <class M>
auto nobody_asked() noexcept {
    if constexpr (has_reply<M>)
        return reply_to<reply_of<M>>();
    else
        return no_answer();
}

// Messages of at most this many bytes are moved out first, so that the handler's own messages reuse
// the block of memory.
inline constexpr std::size_t moved_out = 64;

template <class A, class M>
void handle_told(sched::message_node& raw, void* object) noexcept {
    auto& one = static_cast<told<M>&>(raw);
    if (nobody<told<M>, M>(one, object)) return;
    A& self = static_cast<A&>(*static_cast<actor_base*>(object));
    if constexpr (sizeof(M) <= moved_out) {
        M message(std::move(one.message));
        destroy_message(one);
        try {
            A::detail_invoke(self, std::move(message), nobody_asked<M>());
        } catch (...) {
            return static_cast<actor_base&>(self).end(std::current_exception());
        }
    } else {
        std::exception_ptr error;
        try {
            A::detail_invoke(self, std::move(one.message), nobody_asked<M>());
        } catch (...) {
            error = std::current_exception();
        }
        destroy_message(one);
        if (error) return static_cast<actor_base&>(self).end(std::move(error));
    }
    self.detail_handled();
}

template <class A, class M>
void handle_asked(sched::message_node& raw, void* object) noexcept {
    auto& one = static_cast<asked<M>&>(raw);
    if (nobody<asked<M>, M>(one, object)) return;
    A& self = static_cast<A&>(*static_cast<actor_base*>(object));
    M message(std::move(one.message));
    reply_to<reply_of<M>> answer(std::move(one.answer));
    destroy_message(one);
    try {
        A::detail_invoke(self, std::move(message), std::move(answer));
    } catch (...) {
        return static_cast<actor_base&>(self).end(std::current_exception());
    }
    self.detail_handled();
}

// For an actor whose handlers come and go.
template <class M, bool Asked>
void handle_open(sched::message_node& raw, void* object) noexcept {
    using node_type = std::conditional_t<Asked, asked<M>, told<M>>;
    auto& one = static_cast<node_type&>(raw);
    if (nobody<node_type, M>(one, object)) return;
    auto& me = static_cast<open_base&>(*static_cast<actor_base*>(object));
    std::exception_ptr error;
    {
        reply_to<reply_of<M>> answer;
        if constexpr (Asked) answer = std::move(one.answer);
        const kept_duty<reply_of<M>> kept(answer, me.address());
        error = me.handle({&message_tag<M>,
                           std::addressof(one.message),
                           &answer,
                           {&typeid(M), one.sender, me.address(), dead_letter_reason::unhandled,
                            bytes_of(one.message)}});
    }
    destroy_message(one);
    if (error) return me.end(std::move(error));
    me.detail_handled();
}

template <class... Ms>
inline constexpr bool is_protocol = false;
template <class... Ms>
inline constexpr bool is_protocol<accepts<Ms...>> = true;
template <>
inline constexpr bool is_protocol<anything> = true;

// For a receiver of unknown class: finds the handler when the message arrives.
template <class M, bool Asked>
void handle_found(sched::message_node& raw, void* object) noexcept {
    using node_type = std::conditional_t<Asked, asked<M>, told<M>>;
    auto& one = static_cast<node_type&>(raw);
    if (nobody<node_type, M>(one, object)) return;
    auto& me = *static_cast<actor_base*>(object);
    if (!me.type_->find) return handle_open<M, Asked>(raw, object);
    if (const auto handle = me.type_->find(&message_tag<M>, Asked)) return handle(raw, object);
    // The reference was made with a wrong protocol.
    note_unhandled(me, {&typeid(M), one.sender, me.address(), dead_letter_reason::unhandled,
                        bytes_of(one.message)});
    destroy_message(one);
}

template <class A, class M, bool Asked>
consteval sched::message_node::function handler_of() {
    if constexpr (is_protocol<A>)
        return &handle_found<M, Asked>;
    else if constexpr (std::is_base_of_v<open_base, A>)
        return &handle_open<M, Asked>;
    else if constexpr (Asked)
        return &handle_asked<A, M>;
    else
        return &handle_told<A, M>;
}

// Returns nothing if the wait was cancelled.
std::optional<send_status> deliver_waiting(sched::address to, sched::message_node& one) noexcept;
send_status deliver(sched::address to, sched::message_node& one) noexcept;

// While this object exists and there is no answer, the running handler waits for `whom`.
class asking {
public:
    asking(sched::address whom, awaits& noted) noexcept;
    ~asking();
    asking(const asking&) = delete;
    bool cycle() const noexcept { return cycle_; }

private:
    awaits& noted_;
    bool cycle_ = false;
};

} // namespace detail

// `A`: a class of actors, or a protocol.
template <class A>
class actor_ref {
public:
    actor_ref() noexcept = default; // refers to no actor
    explicit actor_ref(sched::address who) noexcept : address_(who) {}

    // Converts to a reference with fewer messages.
    template <class... Ms>
    operator actor_ref<accepts<Ms...>>() const noexcept {
        static_assert((detail_accepts<Ms>() && ...),
                      "sennit: this actor does not accept all messages of that protocol");
        return actor_ref<accepts<Ms...>>(address_);
    }

    // Converts to a reference that knows no messages: messages without a handler are dead letters.
    operator actor_ref<anything>() const noexcept
        requires(!std::is_same_v<A, anything>)
    {
        return actor_ref<anything>(address_);
    }

    // Sends a message, and ignores the outcome. If the actor has ended, or has no room, the message
    // is a dead letter. Throws std::bad_alloc.
    template <class M>
    void tell(M message) const {
        (void)detail::deliver(address_, *make_told(std::move(message)));
    }
    // Sends a message that goes before all messages that are not urgent and that no batch has
    // taken.
    template <class M>
    void tell_urgent(M message) const {
        auto* one = make_told(std::move(message));
        one->urgent = true;
        (void)detail::deliver(address_, *one);
    }
    // Sends a message, and returns the outcome. `sent` does not mean handled.
    template <class M>
    send_status try_tell(M message) const {
        return detail::deliver(address_, *make_told(std::move(message)));
    }
    // Sends a message; waits while the mailbox is full and its overflow is `suspend`. Blocks the
    // caller, which may be a handler. Throws cancelled; then the message was not sent.
    template <class M>
    send_status send(M message) const {
        detail::told<M>* const one = make_told(std::move(message));
        if (const auto done = detail::deliver_waiting(address_, *one)) return *done;
        detail::destroy_message(*one);
        throw cancelled();
    }

    // Asks a question. The future holds the answer, or ask_failed (actor_down, full). Throws
    // std::bad_alloc.
    template <class M>
    future<reply_of<M>> ask(M message) const {
        promise<reply_of<M>> answer;
        auto wanted = answer.get_future();
        deliver_question(std::move(message), reply_to<reply_of<M>>(std::move(answer)));
        return wanted;
    }
    // Asks a question, and waits for the answer for at most `limit`. Blocks the caller, which may
    // be a handler: its actor handles no messages meanwhile. A late answer is dropped.
    template <class M, class Rep, class Period>
    ask_result<reply_of<M>> ask(M message, const std::chrono::duration<Rep, Period>& limit) const {
        const auto answer = detail::make_state<detail::awaited_answer<reply_of<M>>>();
        const detail::asking waits(address_, answer->asker);
        using result = ask_result<reply_of<M>>;
        if (waits.cycle()) return result::none(ask_error::cycle);
        auto wanted = detail::future_access::make<reply_of<M>>(detail::state_ref(answer));
        deliver_question(std::move(message), reply_to<reply_of<M>>(detail::state_ref(answer)));
        try {
            if (wanted.wait_for(limit) != future_status::ready)
                return result::none(ask_error::timed_out);
            if constexpr (std::is_void_v<reply_of<M>>) {
                wanted.get();
                return std::monostate();
            } else {
                return wanted.get();
            }
        } catch (const ask_failed& failed) {
            return result::none(failed.why());
        } catch (const cancelled&) {
            return result::none(ask_error::cancelled);
        }
    }
    // Passes a question on, with the duty to answer it. If this actor waits for the asker, perhaps
    // through other actors, the answer is ask_error::cycle.
    template <class M>
    void forward(M message, reply_to<reply_of<M>> answer) const {
        if (!answer.passed_to(address_)) return answer.fail(detail::error_of(ask_error::cycle));
        deliver_question(std::move(message), std::move(answer));
    }

    // `stop` ends the actor after all earlier messages; `kill` ends it before them. Thread-safe;
    // may be called any number of times.
    void stop() const;
    void kill() const;
    // True if the actor has not ended. May be outdated when it returns.
    bool alive() const noexcept { return sched::alive(address_); }
    sched::address address() const noexcept { return address_; }
    explicit operator bool() const noexcept { return static_cast<bool>(address_); } // not null

    friend bool operator==(const actor_ref&, const actor_ref&) noexcept = default;
    // An unspecified order, for maps.
    friend auto operator<=>(const actor_ref&, const actor_ref&) noexcept = default;

    template <class M>
    static constexpr bool detail_accepts() {
        return A::protocol::template has<M>;
    }
    // Makes the node that carries the message; for timers and other parts of the library.
    template <class M>
    static detail::told<M>* make_told(M message) {
        check<M>();
        return detail::make_message<detail::told<M>>(detail::handler_of<A, M, false>(),
                                                     std::move(message));
    }

private:
    template <class M>
    void deliver_question(M message, reply_to<reply_of<M>> answer) const {
        check<M>();
        static_assert(detail::has_reply<M>,
                      "sennit: only a message with a `reply` type can be asked");
        (void)detail::deliver(
            address_, *detail::make_message<detail::asked<M>>(
                          detail::handler_of<A, M, true>(), std::move(message), std::move(answer)));
    }
    template <class M>
    static constexpr void check() {
        detail::check_sendable<M>();
        static_assert(detail_accepts<M>(), "sennit: this actor does not accept that message");
    }
    sched::address address_;
};

static_assert(sizeof(actor_ref<accepts<>>) == 8);

// Does `to.tell(message)` as if `from` had sent it, for code outside handlers. Inside a handler the
// sender is the handler's actor.
template <class A, class M>
void tell_from(any_ref from, const actor_ref<A>& to, M message) {
    auto* one = actor_ref<A>::make_told(std::move(message));
    one->sender = from.address();
    (void)detail::deliver(to.address(), *one);
}

namespace detail {
void stop_actor(sched::address whom, exit_reason why, bool at_once);
} // namespace detail

template <class A>
void actor_ref<A>::stop() const {
    detail::stop_actor(address_, exit_reason::normal, false);
}
template <class A>
void actor_ref<A>::kill() const {
    detail::stop_actor(address_, exit_reason::normal, true);
}

} // namespace sennit

template <class A>
struct std::hash<sennit::actor_ref<A>> {
    std::size_t operator()(const sennit::actor_ref<A>& which) const noexcept {
        return std::hash<sennit::sched::address>()(which.address());
    }
};
