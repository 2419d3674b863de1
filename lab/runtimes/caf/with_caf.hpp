// SPDX-License-Identifier: Apache-2.0
// CAF's scheduler, with as many threads as asked for, and the object through which its actors
// report their result to the waiting program.
#pragma once

#include "actors/finish.hpp"
#include "fibers/threads.hpp"

#include <caf/all.hpp>

#include <string>
#include <vector>

namespace lab {

using caf_finish = finish_with<threads_base::event>;

struct with_caf {
    struct settings : caf::actor_system_config {
        explicit settings(unsigned threads) {
            set(std::string(CAF_VERSION >= 1800 ? "caf." : "") + "scheduler.max-threads", threads);
        }
    };
    struct meta_objects { // of the library's own types, since version 0.18
        meta_objects() {
#if CAF_VERSION >= 1800
            caf::core::init_global_meta_objects();
#endif
        }
    };

    meta_objects meta;
    settings config;
    caf::actor_system system;
    explicit with_caf(unsigned threads) : config(threads), system(config) {}
};

// Ends the actors, which may refer to each other in a circle, and waits for their end.
inline void end(caf::actor_system& system, const std::vector<caf::actor>& actors) {
    for (const auto& one : actors) caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    system.await_all_actors_done();
}

} // namespace lab
