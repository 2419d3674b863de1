// SPDX-License-Identifier: Apache-2.0
// One object per process, which is made at its first use and never destroyed, because threads may
// use it until the process ends. A child of fork() makes its own object: a thread that does not
// exist in the child may have locked the parent's object, or may have been changing it.
//
// No lock guards the construction, as another thread could hold that lock when the process forks.
// If two threads construct an object at the same time, the later one discards its own. Needs no
// runtime. Any thread may call.
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
    // Returns null if memory is refused.
    T* get() noexcept {
        instance* here = newest_.load();
        if (belongs_to_this_process(here)) [[likely]]
            return &here->object;
        return make(here);
    }
    T* find() const noexcept { // Returns null if there is no object yet.
        instance* const here = newest_.load();
        return belongs_to_this_process(here) ? &here->object : nullptr;
    }
    // Destroys the object; no other thread may use it meanwhile.
    void end() noexcept {
        instance* const last = newest_.load();
        if (!belongs_to_this_process(last)) return;
        newest_.store(last->inherited);
        delete last;
    }

private:
    static_assert(std::is_nothrow_default_constructible_v<T>);
    struct instance {
        instance* inherited = nullptr; // A child leaves the parent's object unchanged.
        const unsigned generation = sys::fork_generation();
        T object{};
    };
    static bool belongs_to_this_process(const instance* one) noexcept {
        return one && one->generation == sys::fork_generation();
    }

    [[gnu::noinline]] T* make(instance* seen) noexcept {
        try {
            sys::install_atfork_handlers(); // First, so that no child takes the object for its own.
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
