// SPDX-License-Identifier: Apache-2.0
#include "io/runtime/io_lookups.hpp"

#include "core/runtime/fork_safe_static.hpp"
#include "sys/mutex.hpp"
#include "sys/thread.hpp"

#include <list>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

namespace sennit::sched {

struct io_lookup_queue {
    io_lookup_queue() noexcept = default;

    void begin(std::shared_ptr<io_lookup> what) {
        std::lock_guard guard(mutex);
        waiting.push_back(std::move(what));
        if (helpers == io_lookup::max_lookups) return;
        ++helpers;
        try {
            sys::thread(&io_lookup_queue::serve, this).detach();
        } catch (...) {
            if (--helpers != 0) return; // The other helpers serve the queue.
            waiting.pop_back();
            throw;
        }
    }

    static void serve(void* self) noexcept {
        sys::thread::set_name("sennit-resolve");
        auto& queue = *static_cast<io_lookup_queue*>(self);
        while (const std::shared_ptr<io_lookup> next = queue.next()) {
            if (next->abandoned_.load() != 0) continue;
            next->finish(sys::look_up(next->host_.c_str(), next->service_.c_str(), next->family_,
                                      next->passive_));
        }
    }

    // Null: the calling helper must end.
    std::shared_ptr<io_lookup> next() noexcept {
        std::lock_guard guard(mutex);
        if (waiting.empty()) {
            --helpers;
            return {};
        }
        std::shared_ptr<io_lookup> first = std::move(waiting.front());
        waiting.pop_front();
        return first;
    }

    sys::mutex mutex; // Guards the members below.
    std::list<std::shared_ptr<io_lookup>> waiting;
    std::size_t helpers = 0;
};

namespace {
constinit fork_safe_static<io_lookup_queue> lookups;
} // namespace

void io_lookup::begin(std::shared_ptr<io_lookup> what) {
    io_lookup_queue* const queue = lookups.get();
    if (!queue) throw std::bad_alloc();
    queue->begin(std::move(what));
}

} // namespace sennit::sched
