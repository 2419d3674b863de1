// SPDX-License-Identifier: Apache-2.0
// child: how an actor of a supervisor is made, every time anew, and how one gets at the one that
// there is now.
//
//     sennit::child<store> db({.restart = sennit::restart::permanent}, "file");     // nothing runs
//     yet auto top = sennit::supervise(actors, {}, db);                                 // now it
//     does db.tell(put{3});                                                              // to
//     whichever lives
//
// A handle: copies of it are the same child. It follows restarts; a reference that `ref` returned
// does not, and reaches nobody once its actor has ended. Guarantees. Between an end and the restart
// there is nobody: messages are dead letters, `ref` is null or refers to the one that has ended.
// Thread safety: everything from any thread. Cost: as with a reference, and one load.
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
    permanent, // it is restarted whenever it ends
    transient, // when it ended with an error, its own or a link's
    temporary, // never
};

struct child_options {
    enum restart restart = restart::permanent;
    spawn_options spawn{}; // of each of its actors; `watcher` is the supervisor's
};

namespace detail {

// What a supervisor knows of a child, and what its handles share.
class child_cell {
public:
    explicit child_cell(const child_options& how) : name_(how.spawn.name), how_(how) {
        how_.spawn.name = name_;
    }
    virtual ~child_cell() = default;
    child_cell(const child_cell&) = delete;
    child_cell& operator=(const child_cell&) = delete;

    // For its supervisor. `start` throws what the constructor throws.
    sched::address start(actor_group& where, sched::address supervisor);
    virtual void end(sched::address whom) const = 0; // asks for it
    void ended() noexcept;
    void claim(sched::address supervisor); // throws std::logic_error when another one has it
    void release(sched::address supervisor) noexcept;
    enum restart restart() const noexcept { return how_.restart; }

    sched::address current() const noexcept;
    std::uint64_t restarts() const noexcept;
    const std::string& name() const noexcept { return name_; }

private:
    virtual sched::address make(actor_group& where, const spawn_options& how) const = 0;
    const std::string name_;
    child_options how_;
    base::atomic<std::uint64_t> current_{0}; // addresses as one word; 0: nobody
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
    // The actor is made from copies of the arguments, each time. Throws std::bad_alloc, and what a
    // copy throws.
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

    // To the one that there is now, or the last one; null before the first start, and while a
    // restart is awaited.
    actor_ref<A> ref() const noexcept { return actor_ref<A>(cell_->current()); }
    // How often its actor was made anew.
    std::uint64_t restarts() const noexcept { return cell_->restarts(); }
    const std::string& name() const noexcept { return cell_->name(); }

    // As those of actor_ref, to the one that there is now.
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
    const std::shared_ptr<detail::child_cell>& cell() const noexcept {
        return cell_;
    } // for the library

private:
    std::shared_ptr<detail::child_cell> cell_;
};

} // namespace sennit
