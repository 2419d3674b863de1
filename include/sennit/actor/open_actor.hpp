// SPDX-License-Identifier: Apache-2.0
// open_actor: an actor whose handlers are registered and removed while it runs.
//
//     class door : public sennit::open_actor<door> {
//     public:
//         door() { add_handler(&door::knock); }
//     private:
//         void knock(const knocked&) { remove_handler(&door::knock); add_handler(&door::enter); }
//         int enter(const entered& m, sennit::any_ref from) { … }
//     };
//     sennit::actor_ref<door> d = actors.spawn<door>();
//     d.tell(knocked{});
//
// Use it where the set of messages is not known when the class is written, or changes: plug-ins,
// adapters, programs that come from Theron. Prefer `actor`: there the compiler finds a message
// without a handler; here only a run does (a dead letter, see dead_letter.hpp).
//
// Handlers. A type of messages may have any number of handlers. All of them run, in the order of
// registration; a handler that was registered twice runs twice. A handler takes the message M as
// `const M&`, `M` or `M&&`. A handler that takes `const M&` sees the message itself. Of the other
// handlers, the last one to run may take the message itself, and all earlier ones get a copy. A
// handler may take one more parameter: `any_ref`, which refers to the sender, or
// `reply_to<M::reply>`. The result of a handler is the answer. The first answer counts; if there is
// none the asker learns `actor_down`. Types match exactly, not by base classes. The constructor and
// handlers may change the handlers; changes take effect before the next message.
//
// Guarantees and thread safety: see `actor`; only the actor's own handlers may call its members.
// Cost: a registration allocates; a message looks at all registrations.
#pragma once

#include "sennit/actor/actor_base.hpp"
#include "sennit/actor/actor_ref.hpp"
#include "sennit/actor/open_base.hpp"

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

// Deduces the message of a handler from its first parameter. Void: the parameter does not tell.
template <class M>
struct handler_of_message {
    using message = M;
};
template <class R, class C, class M, class... More>
handler_of_message<std::remove_cvref_t<M>> handler_form(R (C::*)(M, More...));
template <class R, class C, class M, class... More>
handler_of_message<std::remove_cvref_t<M>> handler_form(R (C::*)(M, More...) const);
template <class R, class M, class... More>
handler_of_message<std::remove_cvref_t<M>> handler_form(R (*)(M, More...));
template <class F>
    requires requires { &F::operator(); }
auto handler_form(const F&) -> decltype(handler_form(&F::operator()));

template <class F>
concept says_its_message = requires(F& f) { handler_form(f); };

template <class F>
struct message_said {
    using type = void;
};
template <says_its_message F>
struct message_said<F> {
    using type = typename decltype(handler_form(std::declval<F&>()))::message;
};

// Runs `call` with the message as M&&, const M& or a copy, and with its second parameter, if any.
template <class M, class Call, class Given>
decltype(auto) call_handler(Call& call, Given&& message, reply_to<reply_of<M>>& answer,
                            any_ref from) {
    if constexpr (std::invocable<Call&, Given>)
        return call(std::forward<Given>(message));
    else if constexpr (std::invocable<Call&, Given, any_ref>)
        return call(std::forward<Given>(message), from);
    else
        return call(std::forward<Given>(message), std::move(answer));
}

template <class Call, class M, class Given>
inline constexpr bool handles_given =
    std::invocable<Call&, Given> || std::invocable<Call&, Given, any_ref> ||
    (has_reply<M> && std::invocable<Call&, Given, reply_to<reply_of<M>>>);

template <class M, class Call, class Given>
void answer_with(Call& call, Given&& message, reply_to<reply_of<M>>& answer, any_ref from) {
    using result = decltype(call_handler<M>(call, std::forward<Given>(message), answer, from));
    if constexpr (!has_reply<M>) {
        static_assert(
            std::is_void_v<result>,
            "sennit: a handler returns an answer, but the message has no `using reply = …`");
        call_handler<M>(call, std::forward<Given>(message), answer, from);
    } else if constexpr (std::is_void_v<result>) {
        call_handler<M>(call, std::forward<Given>(message), answer, from);
        if constexpr (std::is_void_v<reply_of<M>>)
            answer.set(); // does nothing if the handler has taken the duty
    } else {
        static_assert(std::is_convertible_v<result, reply_of<M>>,
                      "sennit: the handler's answer is not the message's `reply`");
        answer.set(static_cast<reply_of<M>>(
            call_handler<M>(call, std::forward<Given>(message), answer, from)));
    }
}

// A handler of M: `F` is a callable, or a pointer to a member function of `Self`.
template <class Self, class M, class F>
struct open_handler_of final : open_handler {
    explicit open_handler_of(F given)
        : open_handler(&message_tag<M>, !repeatable), function(std::move(given)) {}

    static auto bound(open_base& me, F& f) {
        if constexpr (std::is_member_function_pointer_v<F>)
            return [&me, &f]<class... Args>(
                       Args&&... args) -> decltype(std::invoke(f, std::declval<Self&>(),
                                                               std::forward<Args>(args)...)) {
                return std::invoke(f, static_cast<Self&>(me), std::forward<Args>(args)...);
            };
        else
            return std::ref(f);
    }
    using call = decltype(bound(std::declval<open_base&>(), std::declval<F&>()));
    static constexpr bool repeatable =
        std::is_copy_constructible_v<M> || handles_given<call, M, const M&>;
    static_assert(handles_given<call, M, M&&>,
                  "sennit: a handler takes the message as `const M&`, `M` or `M&&`, and after it "
                  "nothing, sennit::any_ref or, for a question, sennit::reply_to<M::reply>");

    void run(open_base& me, const arrival& what, bool last) override {
        M& message = *static_cast<M*>(what.message);
        auto& answer = *static_cast<reply_to<reply_of<M>>*>(what.answer);
        const any_ref from(what.seen.sender);
        auto call_it = bound(me, function);
        if constexpr (repeatable) {
            if (!last) {
                if constexpr (handles_given<call, M, const M&>)
                    return answer_with<M>(call_it, std::as_const(message), answer, from);
                else
                    return answer_with<M>(call_it, M(std::as_const(message)), answer, from);
            }
        }
        answer_with<M>(call_it, std::move(message), answer, from);
    }
    bool made_of(const void* type, const void* other) const noexcept override {
        if constexpr (std::equality_comparable<F>)
            return type == &message_tag<F> && *static_cast<const F*>(other) == function;
        else
            return false;
    }
    F function;
};

template <class Self, class M, class F>
std::unique_ptr<open_handler> make_handler(F&& f) {
    using function = std::decay_t<F>;
    using message = std::conditional_t<std::is_void_v<M>, typename message_said<function>::type, M>;
    static_assert(
        !std::is_void_v<message>,
        "sennit: this handler does not say what it handles; write add_handler<message>(handler)");
    if constexpr (!std::is_void_v<message>) {
        check_sendable<message>();
        return std::make_unique<open_handler_of<Self, message, function>>(std::forward<F>(f));
    } else {
        return nullptr;
    }
}

} // namespace detail

template <class Self>
class open_actor : public open_base {
public:
    using protocol = anything;

    actor_ref<Self> self() const noexcept { return actor_ref<Self>(address()); }

protected:
    // Registers `f`: a member function of Self, a lambda, or a function. M must be written only
    // where the type of `f` does not tell it (`auto` parameters, std::function). Throws
    // std::bad_alloc. Throws std::logic_error if two handlers want a message that can only be
    // moved, and one of them takes it.
    template <class M = void, class F>
    handler_id add_handler(F&& f) {
        return register_handler(detail::make_handler<Self, M>(std::forward<F>(f)));
    }
    // Removes one registration of the handler, the oldest. False: there is none.
    bool remove_handler(handler_id which) noexcept { return remove_registered(which); }
    template <class F>
        requires std::is_member_function_pointer_v<F> || std::is_pointer_v<F>
    bool remove_handler(F f) noexcept {
        return remove_registered(find_registered(&detail::message_tag<F>, &f));
    }
    bool has_handler(handler_id which) const noexcept { return is_registered(which); }
    template <class F>
        requires std::is_member_function_pointer_v<F> || std::is_pointer_v<F>
    bool has_handler(F f) const noexcept {
        return find_registered(&detail::message_tag<F>, &f) != handler_id::none;
    }
    template <class M>
    bool handles() const noexcept {
        return has_handler_for(&detail::message_tag<M>);
    }

    // Sets the function that gets messages without a handler: `void f(const dead_letter&)`, or a
    // member function. Null: such messages are dead letters.
    void set_default_handler(std::nullptr_t) noexcept { replace_default(nullptr); }
    template <class F>
        requires(!std::is_member_function_pointer_v<std::decay_t<F>>)
    void set_default_handler(F&& f) {
        static_assert(std::is_invocable_v<F&, const dead_letter&>,
                      "sennit: a default handler takes a `const sennit::dead_letter&`");
        replace_default(std::forward<F>(f));
    }
    void set_default_handler(void (Self::*f)(const dead_letter&)) {
        replace_default(
            [this, f](const dead_letter& what) { (static_cast<Self&>(*this).*f)(what); });
    }

    // Watches `whom`: a `down` comes once `whom` has ended, even if it has ended already. Throws
    // std::bad_alloc.
    void watch(any_ref whom) { watch_end(whom.address()); }

private:
    friend class actor_group;
    static constexpr sched::message_node::function (*detail_find)(const void* message,
                                                                  bool asked) = nullptr;
};

} // namespace sennit
