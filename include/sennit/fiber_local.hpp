// SPDX-License-Identifier: Apache-2.0
// fiber_local: a variable with a separate value for each fiber, and for each forked child that
// another worker runs, each body of run() and each OS thread. It replaces `thread_local`, which
// fails for fibers because they change threads.
//
//     sennit::fiber_local<std::string> request_id([] { return std::string("-"); });
//     request_id.get() = next_id();
//
// A value is created at its first use in the fiber. It is destroyed when the fiber ends, newest
// value first, before the fiber's joiner continues. Destructors may use other fiber_locals. The
// fiber_local may be destroyed before a fiber that has used it. That fiber keeps its value until it
// ends, and a later fiber_local, even at the same address, has values of its own. An actor's
// handler starts with no values, and its values are destroyed before the next message is handled.
// Use a member of the actor for data that must survive a message.
// Thread safety: each fiber sees its own value only. Cost: a walk over the fiber's values, and one
// allocation at the first use.
#pragma once

#include "sennit/detail/core/local_value.hpp"

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sennit {

template <class T>
class fiber_local {
    static_assert(std::is_object_v<T>, "sennit: a fiber_local holds an object; use a pointer for "
                                       "a reference");

public:
    // Creates a variable whose values are value-initialised.
    fiber_local()
        requires std::default_initializable<T>
        : make_([] { return T(); }) {}
    // Creates a variable whose values start as `make()`.
    template <class F>
        requires std::is_invocable_r_v<T, F&>
    explicit fiber_local(F make) : make_(std::move(make)) {}
    fiber_local(const fiber_local&) = delete;
    fiber_local& operator=(const fiber_local&) = delete;

    // Returns the running fiber's value. The first use in a fiber creates it, and throws the
    // exceptions of doing so.
    T& get() {
        if (T* found = find()) return *found;
        // `make_` may use other fiber_locals, so the list may change here.
        auto fresh = std::make_unique<node>(key_, make_);
        sched::add_local(*fresh);
        return fresh.release()->value;
    }
    T& operator*() { return get(); }
    T* operator->() { return std::addressof(get()); }
    // Returns true if the running fiber has a value.
    bool has_value() const noexcept { return find() != nullptr; }
    // Destroys the running fiber's value, if it has one. The next use creates a new value.
    void reset() noexcept {
        for (sched::local_value** link = &sched::current_locals(); *link; link = &(*link)->next)
            if (sched::local_value* one = *link; one->key == key_) {
                *link = one->next;
                one->destroy(one);
                return;
            }
    }

private:
    struct node : sched::local_value {
        template <class F>
        node(sched::local_key owner, F& make)
            : local_value{owner, &node::end, nullptr}, value(make()) {}
        static void end(sched::local_value* self) noexcept { delete static_cast<node*>(self); }
        T value;
    };
    T* find() const noexcept {
        for (sched::local_value* one = sched::current_locals(); one; one = one->next)
            if (one->key == key_) return std::addressof(static_cast<node*>(one)->value);
        return nullptr;
    }
    std::function<T()> make_;
    const sched::local_key key_ = sched::new_local_key();
};

} // namespace sennit
