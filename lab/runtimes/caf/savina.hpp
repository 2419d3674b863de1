// SPDX-License-Identifier: Apache-2.0
// Two benchmarks of Savina with CAF.
#pragma once

#include "actors/savina.hpp"
#include "with_caf.hpp"

#include <cstdint>
#include <utility>

namespace lab {

// ---- savina-fib: an argument is a signed number, and a value is an unsigned number

struct fib_state {
    std::uint64_t sum = 0;
    int seen = 0;
};
// excerpt savina-fib
inline caf::behavior fib_call(caf::stateful_actor<fib_state>* self, const caf::actor& above) {
    const auto answer = [=](std::uint64_t value) {
        self->send(above, value);
        self->quit();
    };
    return {
        [=](std::int64_t n) {
            if (n <= 2) return answer(1);
            self->send(self->spawn(fib_call, caf::actor(self)), n - 1);
            self->send(self->spawn(fib_call, caf::actor(self)), n - 2);
        },
        [=](std::uint64_t value) {
            self->state.sum += value;
            if (++self->state.seen == 2) answer(self->state.sum);
        },
    };
}
// excerpt end
struct savina_fib : savina::fib_size {
    using fib_size::fib_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        const auto first = runtime.system.spawn(
            [](caf::event_based_actor* self, caf_finish* told) -> caf::behavior {
                return {[=](std::uint64_t value) {
                    told->one_more(static_cast<std::int64_t>(value));
                    self->quit();
                }};
            },
            &whole);
        caf::anon_send(runtime.system.spawn(fib_call, first), n);
        whole.wait();
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

// ---- savina-chameneos

struct mall_state {
    std::int64_t left = 0, at_home = 0;
    caf::actor waiting;
};
inline caf::behavior mall(caf::stateful_actor<mall_state>* self, std::int64_t meetings) {
    self->state.left = meetings;
    return {
        [=](std::int32_t colour, const caf::actor& who) {
            auto& state = self->state;
            if (state.left == 0) {
                self->send(who, caf::unit);
                if (++state.at_home == savina::creatures) self->quit();
            } else if (!state.waiting) {
                state.waiting = who;
            } else {
                self->send(std::exchange(state.waiting, caf::actor()), colour, who);
                --state.left;
            }
        },
    };
}
struct creature_state {
    std::int32_t colour = 0;
    std::int64_t meetings = 0;
    bool begun = false;
};
inline caf::behavior creature(caf::stateful_actor<creature_state>* self, std::int32_t colour,
                              const caf::actor& where, caf_finish* whole) {
    self->state.colour = colour;
    const auto ask = [=] { self->send(where, self->state.colour, caf::actor(self)); };
    const auto met = [=] {
        ++self->state.meetings;
        ask();
    };
    return {
        [=](caf::unit_t) { // the first unit begins; later ones come from the mall
            if (!std::exchange(self->state.begun, true)) return ask();
            whole->one_more(self->state.meetings);
            self->quit();
        },
        [=](std::int32_t other, const caf::actor& who) {
            auto& own = self->state.colour;
            own = own == other ? own : 3 - own - other;
            self->send(who, own);
            met();
        },
        [=](std::int32_t now) {
            self->state.colour = now;
            met();
        },
    };
}
struct savina_chameneos : savina::chameneos_size {
    using chameneos_size::chameneos_size;
    std::int64_t run_in(with_caf& runtime) const {
        caf_finish whole;
        whole.left = savina::creatures;
        const auto where = runtime.system.spawn(mall, n);
        for (std::int64_t i = 0; i < savina::creatures; ++i)
            caf::anon_send(
                runtime.system.spawn(creature, static_cast<std::int32_t>(i % 3), where, &whole),
                caf::unit);
        whole.wait();
        runtime.system.await_all_actors_done();
        return whole.answer;
    }
};

} // namespace lab
