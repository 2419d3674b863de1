// SPDX-License-Identifier: Apache-2.0
// One object of a process: made when it is first asked for, and living on, since threads may ask until the process
// ends. A child of fork() makes its own: its parent's may have been locked, or changing, by a thread that it lacks.
//
// No lock guards the making, as another thread could hold that when the process forks: who has made one while somebody
// else has throws his away. Needs no runtime. Any thread may call.
#pragma once

#include "sennit/base/atomic.hpp"
#include "sys/thread.hpp"

#include <memory>
#include <new>
#include <type_traits>

namespace sennit::sched {

template <class T>
class per_process {
public:
    // Null: no memory.
    T* get() noexcept {
        made* here = here_.load();
        if (is_ours(here)) [[likely]]
            return &here->object;
        return make(here);
    }
    T* find() const noexcept { // null: there is none yet
        made* const here = here_.load();
        return is_ours(here) ? &here->object : nullptr;
    }
    // Destroys it; nobody asks meanwhile.
    void end() noexcept {
        made* const last = here_.load();
        if (!is_ours(last)) return;
        here_.store(last->parents);
        delete last;
    }

private:
    static_assert(std::is_nothrow_default_constructible_v<T>);
    struct made {
        made* parents = nullptr; // a child leaves it as it is
        const unsigned forks = sys::fork_generation();
        T object{};
    };
    static bool is_ours(const made* one) noexcept { return one && one->forks == sys::fork_generation(); }

    [[gnu::noinline]] T* make(made* seen) noexcept {
        try {
            sys::watch_forks(); // first, so that no child takes it for its own
            auto fresh = std::make_unique<made>();
            do {
                if (is_ours(seen)) return &seen->object;
                fresh->parents = seen;
            } while (!here_.cas(seen, fresh.get()));
            return &fresh.release()->object;
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }

    base::atomic<made*> here_{nullptr};
};

} // namespace sennit::sched
