// SPDX-License-Identifier: Apache-2.0
// The messages of Theron's actors. All of them are registered, which spares each handler a
// dynamic_cast.
#pragma once

#include "actors/sizes.hpp"

#include <Theron/Theron.h>

#include <cstdint>

namespace lab::theron {

// ---- rings

struct neighbour {
    Theron::Address next;
};
struct token {
    std::int64_t hops;
    token passed_on() const { return {hops - 1}; }
    std::int64_t answer(std::int64_t number) const { return number; }
};
struct working_token {
    std::int64_t hops;
    std::uint64_t seed;
    working_token passed_on() const { return {hops - 1, some_work(seed) | 1}; }
    std::int64_t answer(std::int64_t) const { return seed != 0; }
};
struct mixed_neighbours {
    Theron::Address next, worker; // only the first node has a worker
};

// ---- requests

struct go_on {};
struct number {
    std::int64_t value;
    bool wants_more = false;
};
struct result_wanted {};
struct offer {
    std::int64_t value;
};
struct room {};
struct item {
    std::int64_t value;
};
struct item_wanted {};
struct buffer_wanted {};
struct lent_buffer {
    std::int64_t which;
};
struct query {};
struct solved {
    std::int64_t factor;
};

// ---- births

struct part {
    std::int64_t first, leaves;
};
struct sum {
    std::int64_t value;
};
struct life; // an actor of spawn-storm
struct birth {
    life* parent;
    std::int64_t number;
};
struct fib_of {
    std::int64_t n;
};

// ---- savina-chameneos

struct meeting {
    std::int32_t colour;
    Theron::Address with;
};
struct changed {
    std::int32_t colour;
};

} // namespace lab::theron

#define LAB_MESSAGE(Type)                                                                          \
    THERON_DECLARE_REGISTERED_MESSAGE(lab::theron::Type)                                           \
    THERON_DEFINE_REGISTERED_MESSAGE(lab::theron::Type)
LAB_MESSAGE(neighbour)
LAB_MESSAGE(token)
LAB_MESSAGE(working_token)
LAB_MESSAGE(mixed_neighbours)
LAB_MESSAGE(go_on)
LAB_MESSAGE(number)
LAB_MESSAGE(result_wanted)
LAB_MESSAGE(offer)
LAB_MESSAGE(room)
LAB_MESSAGE(item)
LAB_MESSAGE(item_wanted)
LAB_MESSAGE(buffer_wanted)
LAB_MESSAGE(lent_buffer)
LAB_MESSAGE(query)
LAB_MESSAGE(solved)
LAB_MESSAGE(part)
LAB_MESSAGE(sum)
LAB_MESSAGE(birth)
LAB_MESSAGE(fib_of)
LAB_MESSAGE(meeting)
LAB_MESSAGE(changed)
#undef LAB_MESSAGE
