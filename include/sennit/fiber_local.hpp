// SPDX-License-Identifier: Apache-2.0
// fiber_local: a value of its own for each fiber; for each forked child that another worker runs,
// each body of run() and each OS thread, too. What `thread_local` would be if fibers stayed on
// their threads.
//
//     sennit::fiber_local<std::string> request_id([] { return std::string("-"); });
//     request_id.get() = next_id();
//
// A value is made at the first use in its fiber and destroyed when the fiber ends, newest first,
// before whoever joins it goes on. Destructors may use other fiber_locals. The fiber_local may be
// destroyed before a fiber that has used it: the fiber keeps its value until it ends, and a later
// fiber_local, also one at the same address, has values of its own. An actor's handler begins with
// no values, and its own end before the next message is handled: what shall last from one message
// to the next is a member. Thread safety: each fiber sees its own value only. Cost: a walk over the
// fiber's values; one allocation at first use.
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
    static_assert(std::is_object_v<T>);

public:
    // Values are value-initialised.
    fiber_local()
        requires std::default_initializable<T>
        : make_([] { return T(); }) {}
    // `make()` gives each fiber's first value.
    template <class F>
        requires std::is_invocable_r_v<T, F&>
    explicit fiber_local(F make) : make_(std::move(make)) {}
    fiber_local(const fiber_local&) = delete;
    fiber_local& operator=(const fiber_local&) = delete;

    // The running fiber's value. Throws what making it throws.
    T& get() {
        if (T* found = find()) return *found;
        auto fresh =
            std::make_unique<node>(key_, make_); // may use other fiber_locals: the list may change
        sched::add_local(*fresh);
        return fresh.release()->value;
    }
    T& operator*() { return get(); }
    T* operator->() { return std::addressof(get()); }
    // Whether the running fiber has a value.
    bool has_value() const noexcept { return find() != nullptr; }
    // Destroys the running fiber's value, if it has one; the next use makes a new one.
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
