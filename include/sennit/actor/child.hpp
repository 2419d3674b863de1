// SPDX-License-Identifier: Apache-2.0
// child: a recipe from which a supervisor makes an actor, each time anew, and a handle to the
// present actor.
//
//     sennit::child<store> db({.restart = sennit::restart::permanent}, "file"); // nothing runs yet
//     auto top = sennit::supervise(actors, {}, db);                             // now it does
//     db.tell(put{3});                                              // goes to the present actor
//
// A child is a handle: copies of it are one child. The handle follows restarts. A reference that
// `ref` returned does not follow them, and reaches no actor once its own actor has ended.
//
// Guarantees. Between an end and the restart the child has no actor: messages are dead letters, and
// `ref` is null or refers to the ended actor. Thread safety: any thread may call all members. Cost:
// one load more than a reference.
#pragma once

#include "sennit/actor/actor_group.hpp"
#include "sennit/actor/actor_ref.hpp"
#include "sennit/detail/base/atomic.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sennit {

enum class restart : unsigned char {
    permanent, // the supervisor restarts it whenever it ends
    transient, // the supervisor restarts it after an error, its own or a link's
    temporary, // the supervisor never restarts it
};

struct child_options {
    enum restart restart = restart::permanent;
    spawn_options spawn{}; // for each of its actors; the supervisor sets `watcher`
};

namespace detail {

// The supervisor's state of a child, which the handles share.
class child_cell {
public:
    explicit child_cell(const child_options& how) : name_(how.spawn.name), how_(how) {
        how_.spawn.name = name_;
    }
    virtual ~child_cell() = default;
    child_cell(const child_cell&) = delete;
    child_cell& operator=(const child_cell&) = delete;

    // For its supervisor. `start` throws the exceptions of the constructor.
    sched::address start(actor_group& where, sched::address supervisor);
    virtual void end(sched::address whom) const = 0; // asks the actor to end
    void ended() noexcept;
    // Throws std::logic_error if another supervisor has the child.
    void claim(sched::address supervisor);
    void release(sched::address supervisor) noexcept;
    enum restart restart() const noexcept { return how_.restart; }

    sched::address current() const noexcept;
    std::uint64_t restarts() const noexcept;
    const std::string& name() const noexcept { return name_; }

private:
    virtual sched::address make(actor_group& where, const spawn_options& how) const = 0;
    const std::string name_;
    child_options how_;
    base::atomic<std::uint64_t> current_{0}; // this and owner_: an address as one word; 0: none
    base::atomic<std::uint64_t> owner_{0};
    base::atomic<std::uint64_t> starts_{0};
};

template <class A, class... Args>
class child_of final : public child_cell {
public:
    template <class... Given>
    explicit child_of(const child_options& how, Given&&... given)
        : child_cell(how), arguments_(std::forward<Given>(given)...) {}

private:
    sched::address make(actor_group& where, const spawn_options& how) const override {
        const actor_ref<A> made = std::apply(
            [&](const Args&... arguments) { return where.template spawn<A>(how, arguments...); },
            arguments_);
        if constexpr (requires { A::begin_as_child(made); }) A::begin_as_child(made);
        return made.address();
    }
    void end(sched::address whom) const override {
        if constexpr (requires { A::end_as_child(actor_ref<A>(whom)); })
            A::end_as_child(actor_ref<A>(whom));
        else
            stop_actor(whom, exit_reason::shutdown, true);
    }
    std::tuple<Args...> arguments_;
};

} // namespace detail

template <class A>
class child {
public:
    // The supervisor makes each actor from copies of the arguments. Throws std::bad_alloc, and the
    // exceptions of a copy.
    template <class... Args>
    explicit child(const child_options& how, Args&&... args) {
        static_assert(
            (std::copy_constructible<std::decay_t<Args>> && ...),
            "sennit: a child is made from its arguments more than once, so they must be copyable");
        static_assert(
            std::constructible_from<A, const std::decay_t<Args>&...>,
            "sennit: the child's class has no constructor for these arguments, as constants");
        cell_ = std::make_shared<detail::child_of<A, std::decay_t<Args>...>>(
            how, std::forward<Args>(args)...);
    }
    child() : child(child_options{}) {}

    // Refers to the present actor, or to the last one; null before the first start, and while the
    // child waits for a restart.
    actor_ref<A> ref() const noexcept { return actor_ref<A>(cell_->current()); }
    // How often the supervisor has made the actor again.
    std::uint64_t restarts() const noexcept { return cell_->restarts(); }
    const std::string& name() const noexcept { return cell_->name(); }

    // Each calls the member of actor_ref with that name on the present actor.
    template <class M>
    void tell(M message) const {
        ref().tell(std::move(message));
    }
    template <class M>
    send_status try_tell(M message) const {
        return ref().try_tell(std::move(message));
    }
    template <class M>
    send_status send(M message) const {
        return ref().send(std::move(message));
    }
    template <class M>
    future<reply_of<M>> ask(M message) const {
        return ref().ask(std::move(message));
    }
    template <class M, class Rep, class Period>
    ask_result<reply_of<M>> ask(M message, const std::chrono::duration<Rep, Period>& limit) const {
        return ref().ask(std::move(message), limit);
    }

    friend bool operator==(const child&, const child&) noexcept = default;
    // For the library.
    const std::shared_ptr<detail::child_cell>& cell() const noexcept { return cell_; }

private:
    std::shared_ptr<detail::child_cell> cell_;
};

} // namespace sennit
