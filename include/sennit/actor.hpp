// SPDX-License-Identifier: Apache-2.0
// actor: state that only messages reach, one at a time.
//
//     struct add { int n; };
//     struct total { using reply = int; };
//
//     // The template arguments are the actor's protocol. The compiler checks it.
//     class counter : public sennit::actor<counter, add, total> {
//         int sum_ = 0;
//     public:
//         void on(add m) { sum_ += m.n; }
//         int on(total) { return sum_; }                    // the result is the answer
//     };
//
//     sennit::actor_group actors;                           // ends with its actors
//     sennit::actor_ref<counter> c = actors.spawn<counter>();
//     c.tell(add{3});
//     int sum = c.ask(total{}).get();
//
// Use it for many small objects with state of their own, for work that mostly passes messages on,
// and where a part must be able to fail alone. Do not use it to share out a computation
// (fork_join), or where the caller waits for each answer anyway (a mutex and a function are
// cheaper). If the messages are known only at run time, use `open_actor`.
//
// Guarantees. At most one handler of an actor runs at a time. An actor handles the messages of one
// sender in the order in which that sender sent them. A handler may wait in any call of Sennit: its
// stack waits, and its worker runs other work. A system call or another library blocks the worker:
// make that call in `sennit::blocking`. An exception that leaves a handler ends that actor, and
// only that actor; its watchers, its links and the waiting askers learn of the end. An actor
// handles 64 messages in a row, then its worker runs other work.
//
// Cost: an actor takes 192 bytes, plus its state, which takes at least 72 bytes;
// docs/performance.md has the times.
#pragma once

#include "sennit/actor/actor_base.hpp"
#include "sennit/actor/actor_group.hpp"
#include "sennit/actor/actor_ref.hpp"
#include "sennit/actor/open_actor.hpp"

#include <type_traits>
#include <utility>

namespace sennit {

// `Self`: the class that derives from this one. `Ms`: all messages that the actor accepts. Each
// message has one handler of these forms:
//     R on(M)                          R is the answer: M::reply, or void
//     void on(M, reply_to<M::reply>)   the answer comes when any code calls reply_to::set
// The parameter may be M, M&&, const M&. Optional: `void stopped(exit_reason)`, called before the
// destructor. An exception of `stopped` becomes the error that ended the actor, if there is no
// other.
template <class Self, class... Ms>
class actor : public actor_base {
public:
    using protocol = accepts<Ms...>;

    actor_ref<Self> self() const noexcept { return actor_ref<Self>(address()); }

    template <class M, class Answer> // reply_to<reply_of<M>>, or no_answer
    static void detail_invoke(Self& me, M&& message, Answer answer) {
        constexpr bool plain = requires { me.on(std::move(message)); };
        constexpr bool deferred = requires { me.on(std::move(message), std::move(answer)); };
        static_assert(plain || deferred,
                      "sennit: a message of the protocol has no handler: write `on(M)`");
        static_assert(
            plain || !deferred || detail::has_reply<M>,
            "sennit: a handler takes the duty to answer, but the message has no `using reply = …`");
        if constexpr (deferred && detail::has_reply<M>) {
            const detail::kept_duty<reply_of<M>> kept(answer,
                                                      static_cast<const actor_base&>(me).address());
            me.on(std::move(message), std::move(answer));
        } else if constexpr (plain) {
            using result = decltype(me.on(std::move(message)));
            if constexpr (!detail::has_reply<M>) {
                static_assert(std::is_void_v<result>, "sennit: a handler returns an answer, but "
                                                      "the message has no `using reply = …`");
                me.on(std::move(message));
            } else if constexpr (std::is_void_v<reply_of<M>>) {
                static_assert(std::is_void_v<result>,
                              "sennit: the handler's answer is not the message's `reply`");
                me.on(std::move(message));
                answer.set();
            } else {
                static_assert(std::is_convertible_v<result, reply_of<M>>,
                              "sennit: the handler's answer is not the message's `reply`");
                answer.set(static_cast<reply_of<M>>(me.on(std::move(message))));
            }
        }
    }

protected:
    // Watches `whom`: `down` comes once `whom` has ended, even if it has ended already. Throws
    // std::bad_alloc.
    template <class A>
    void watch(const actor_ref<A>& whom) {
        static_assert(protocol::template has<down>,
                      "sennit: an actor that watches must have `down` in its protocol");
        watch_end(whom.address());
    }
    // Passes the question to `other`, which handles and answers it.
    template <class A, class M>
    static void forward(const actor_ref<A>& other, M message, reply_to<reply_of<M>> answer) {
        other.forward(std::move(message), std::move(answer));
    }

private:
    friend class actor_group;
    template <class M>
    static sched::message_node::function found(const void* message, bool asked) noexcept {
        if (message != &detail::message_tag<M>) return nullptr;
        if constexpr (detail::has_reply<M>)
            if (asked) return &detail::handle_asked<Self, M>;
        return asked ? nullptr : &detail::handle_told<Self, M>;
    }
    static sched::message_node::function detail_find([[maybe_unused]] const void* message,
                                                     [[maybe_unused]] bool asked) {
        (detail::check_sendable<Ms>(), ...);
        sched::message_node::function how = nullptr;
        (void)(... || ((how = found<Ms>(message, asked)) != nullptr));
        return how;
    }
};

} // namespace sennit

// These headers need the complete class.
#include "sennit/actor/actor_metrics.hpp"
#include "sennit/actor/actor_timer.hpp"
#include "sennit/actor/name_registry.hpp"
#include "sennit/actor/router.hpp"
#include "sennit/actor/stash.hpp"
#include "sennit/actor/supervisor.hpp"
#include "sennit/actor/topic.hpp"
