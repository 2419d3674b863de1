// SPDX-License-Identifier: Apache-2.0
// stashing_actor: an actor that may put a message aside and get it back later.
// state_machine: an actor whose handlers depend on its state. It stashes the messages that its
// present state postpones.
//
//     struct closed {};
//     struct open {
//         int line;
//         using postpones = sennit::accepts<connect>;      // `connect` waits for another state
//     };
//     class phone : public sennit::state_machine<phone, sennit::states<closed, open>,
//                                                connect, hang_up> {
//     public:
//         void on(closed&, connect m) { become(open{m.line}); }
//         void on(closed&, hang_up) {}
//         void on(open&, hang_up) { become(closed{}); }    // the next `connect` comes now
//     };
//
// Use them where an answer of another actor, or an event, must come before the next message can be
// handled. If the handler can wait in place, `ask(…).get()` is simpler; the actor then handles no
// messages meanwhile.
//
// Guarantees. Stashed messages come back in the order in which they came, before all messages that
// came after them. If the stash is full, `stash` throws stash_full: the actor ends, unless it
// catches the exception. When the actor ends, its stashed messages become dead letters, and their
// askers learn of the end. Thread safety: only handlers may call the members. Cost: the memory of a
// message, and of the node that brings it back.
#pragma once

#include "sennit/actor.hpp"
#include "sennit/actor/actor_ref.hpp"
#include "sennit/actor/message_list.hpp"
#include "sennit/detail/core/message_node.hpp"

#include <concepts>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace sennit {

class stash_full : public std::runtime_error {
public:
    explicit stash_full(std::size_t most)
        : std::runtime_error("sennit: [SNT-510] an actor's stash is full: " + std::to_string(most) +
                             " messages") {}
};

namespace detail {

inline constexpr std::size_t stash_size = 1000;

// The stashed messages of an actor.
struct stashed_messages {
    explicit stashed_messages(std::size_t at_most) noexcept : most(at_most) {}
    ~stashed_messages();
    // Throws stash_full, and destroys the message then.
    void keep(sched::message_node& one, sched::address mine);
    void handle(actor_base& me) noexcept;

    const std::size_t most;
    message_list kept;
    message_list due;
    sched::address whose; // the actor that stashed the messages
    bool* gone = nullptr; // while `due` is handled: set when the actor ends meanwhile
};

} // namespace detail

template <class Self, class... Ms>
class stashing_actor : public actor<Self, Ms...> {
public:
    // For the library; runs after each handler.
    void detail_handled() noexcept {
        if (stash_.gone) return; // stashed_messages::handle checks for the end itself
        if (stash_.due.size() != 0) [[unlikely]]
            stash_.handle(*this);
        else
            actor_base::detail_handled();
    }

protected:
    // `most`: the number of messages that the stash may hold.
    explicit stashing_actor(std::size_t most = detail::stash_size) noexcept : stash_(most) {}

    // Puts the present message aside; a question, with the duty to answer it. Throws stash_full and
    // std::bad_alloc; the message is lost then.
    template <class M>
    void stash(M message) {
        check<M>();
        static_assert(!detail::has_reply<M>,
                      "sennit: a question is put aside with the duty to answer it: take `reply_to` "
                      "in the handler, and give it to `stash`");
        keep(actor_ref<Self>::make_told(std::move(message)));
    }
    template <class M>
    void stash(M message, reply_to<reply_of<M>> answer) {
        check<M>();
        if (answer || !detail::has_reply<M>)
            keep(detail::make_message<detail::asked<M>>(&detail::handle_asked<Self, M>,
                                                        std::move(message), std::move(answer)));
        else
            keep(actor_ref<Self>::make_told(std::move(message))); // the message was told, not asked
    }
    // Brings all stashed messages back: the actor handles them next, after this handler.
    void unstash_all() noexcept { stash_.due.put_before(stash_.kept); }
    // The number of messages in the stash.
    std::size_t stashed() const noexcept { return stash_.kept.size(); }

private:
    void keep(sched::message_node* one) {
        stash_.keep(*one, static_cast<const actor_base&>(*this).address());
    }
    template <class M>
    static constexpr void check() {
        static_assert(actor<Self, Ms...>::protocol::template has<M>,
                      "sennit: only a message of the actor's own protocol can be put aside");
    }
    detail::stashed_messages stash_;
};

template <class... Ss>
struct states {};

namespace detail {

template <class State, class M>
consteval bool postpones() {
    if constexpr (requires { typename State::postpones; })
        return State::postpones::template has<M>;
    else
        return false;
}

} // namespace detail

template <class Self, class States, class... Ms>
class state_machine;

// Each message has, for each state, one of
//     R on(State&, M)    void on(State&, M, reply_to<M::reply>)    M in State::postpones
// or, for all states that have none of these, a handler without a state, as in `actor`. A state is
// a movable struct. The machine begins in the first state, made without arguments.
template <class Self, class... Ss, class... Ms>
class state_machine<Self, states<Ss...>, Ms...> : public stashing_actor<Self, Ms...> {
public:
    // For the library.
    template <class M>
    static void detail_invoke(Self& me, M&& message, reply_to<reply_of<M>> answer) {
        me.enter_next(); // the constructor may have called `become`
        std::visit(
            [&](auto& state) { me.dispatch(me, state, std::move(message), std::move(answer)); },
            me.state_);
        if (me.enter_next()) me.unstash_all();
    }

protected:
    explicit state_machine(std::size_t most = detail::stash_size)
        : stashing_actor<Self, Ms...>(most) {}

    // Changes the state when this handler returns; then all stashed messages come back.
    template <class State>
    void become(State next) {
        static_assert((std::same_as<State, Ss> || ...),
                      "sennit: this is none of the state machine's states");
        static_assert(std::is_nothrow_move_assignable_v<State> &&
                          std::is_nothrow_move_constructible_v<State>,
                      "sennit: a state must be movable without exceptions");
        next_.emplace(std::move(next));
    }
    // True if the machine is in that state; `become` changes the state only after the handler.
    template <class State>
    bool is() const noexcept {
        return std::holds_alternative<State>(state_);
    }

private:
    bool enter_next() noexcept {
        if (!next_) return false;
        state_ = std::move(*next_);
        next_.reset();
        return true;
    }
    template <class State, class M>
    static void dispatch(Self& me, State& state, M&& message, reply_to<reply_of<M>> answer) {
        constexpr bool deferred = requires { me.on(state, std::move(message), std::move(answer)); };
        constexpr bool plain = requires { me.on(state, std::move(message)); };
        constexpr bool any = requires { me.on(std::move(message)); } ||
                             requires { me.on(std::move(message), std::move(answer)); };
        constexpr bool later = detail::postpones<State, M>();
        static_assert(deferred || plain || any || later,
                      "sennit: a state has no handler for a message of the protocol: write "
                      "`on(State&, M)`, or name the message in the state's `postpones`");
        static_assert(!later || !(deferred || plain),
                      "sennit: a state both handles and postpones a message");
        if constexpr (deferred && detail::has_reply<M>)
            me.on(state, std::move(message), std::move(answer));
        else if constexpr (plain)
            answer_with<M>([&]() -> decltype(auto) { return me.on(state, std::move(message)); },
                           std::move(answer));
        else if constexpr (later)
            me.stash(std::move(message), std::move(answer));
        else
            actor<Self, Ms...>::detail_invoke(me, std::move(message), std::move(answer));
    }
    template <class M, class F>
    static void answer_with(F handle, reply_to<reply_of<M>> answer) {
        using result = decltype(handle());
        if constexpr (!detail::has_reply<M> || std::is_void_v<reply_of<M>>) {
            static_assert(std::is_void_v<result>,
                          "sennit: the handler's answer is not the message's `reply`");
            handle();
            answer.set();
        } else {
            static_assert(std::is_convertible_v<result, reply_of<M>>,
                          "sennit: the handler's answer is not the message's `reply`");
            answer.set(static_cast<reply_of<M>>(handle()));
        }
    }

    std::variant<Ss...> state_;
    std::optional<std::variant<Ss...>> next_;
};

} // namespace sennit
