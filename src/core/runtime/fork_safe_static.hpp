// SPDX-License-Identifier: Apache-2.0
// One object of a process: made when it is first asked for, and living on, since threads may ask
// until the process ends. A child of fork() makes its own: its parent's may have been locked, or
// changing, by a thread that it lacks.
//
// No lock guards the making, as another thread could hold that when the process forks: who has made
// one while somebody else has throws his away. Needs no runtime. Any thread may call.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sys/thread.hpp"

#include <memory>
#include <new>
#include <type_traits>

namespace sennit::sched {

template <class T>
class fork_safe_static {
public:
    // Null: no memory.
    T* get() noexcept {
        instance* here = newest_.load();
        if (belongs_to_this_process(here)) [[likely]]
            return &here->object;
        return make(here);
    }
    T* find() const noexcept { // null: there is none yet
        instance* const here = newest_.load();
        return belongs_to_this_process(here) ? &here->object : nullptr;
    }
    // Destroys it; nobody asks meanwhile.
    void end() noexcept {
        instance* const last = newest_.load();
        if (!belongs_to_this_process(last)) return;
        newest_.store(last->inherited);
        delete last;
    }

private:
    static_assert(std::is_nothrow_default_constructible_v<T>);
    struct instance {
        instance* inherited = nullptr; // a child leaves it as it is
        const unsigned generation = sys::fork_generation();
        T object{};
    };
    static bool belongs_to_this_process(const instance* one) noexcept {
        return one && one->generation == sys::fork_generation();
    }

    [[gnu::noinline]] T* make(instance* seen) noexcept {
        try {
            sys::install_atfork_handlers(); // first, so that no child takes it for its own
            auto fresh = std::make_unique<instance>();
            do {
                if (belongs_to_this_process(seen)) return &seen->object;
                fresh->inherited = seen;
            } while (!newest_.cas(seen, fresh.get()));
            return &fresh.release()->object;
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }

    base::atomic<instance*> newest_{nullptr};
};

} // namespace sennit::sched
