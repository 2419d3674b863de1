// SPDX-License-Identifier: Apache-2.0
// The workloads of actors: the task of each workload, its size, its answer, and the unit that it
// counts as tasks. A runtime derives its own program for a workload from one of these classes, and
// adds `run`.
#pragma once

#include "../program.hpp"

namespace lab {

inline constexpr std::int64_t max_messages = 999'999'999;
inline constexpr std::int64_t ring_actors = 503;

struct actor_workload {
    std::int64_t n;
    explicit actor_workload(const std::string& size) : n(parse_size(size, 1, max_messages)) {}
    std::int64_t expected() const { return n; }
    std::int64_t tasks() const { return n; } // messages
};

// thread-ring: a token makes n hops around a ring of 503 actors. The answer is the number, counted
// from 1, of the actor that has the token last.
struct thread_ring_size : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t expected() const { return n % ring_actors + 1; }
};

// parallel-thread-ring: 503 tokens at the same time make n hops in all. The answer is the number of
// hops.
struct parallel_ring_size : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t hops() const { return (n + ring_actors - 1) / ring_actors; } // of each token
    std::int64_t expected() const { return hops() * ring_actors; }
    std::int64_t tasks() const { return expected(); }
};

// ping-pong: two actors exchange n messages, both directions counted. Each message carries the
// address for the answer. The answer is the number of messages that both actors sent.
//
// counting-actor: one actor sends n numbers to another actor, which adds them up.
struct counting_size : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t expected() const { return n * (n - 1) / 2; }
};

// producer-consumer: 5 producers send n items through a bounded buffer of 50 to 5 consumers. The
// answer is the number of items that arrived.
inline constexpr std::int64_t producers = 5, consumers = 5, buffer_size = 50;
// The share of part i when n units are divided into `parts` parts.
constexpr std::int64_t share_of(std::int64_t n, std::int64_t parts, std::int64_t i) {
    return n / parts + (i < n % parts ? 1 : 0);
}

// prime-factors: 16 workers answer n queries and factorise 600,213,349 for each. A worker borrows
// one of 8 buffers from a server while it works. At most 32 queries are under way. The answer is
// the sum of the smallest factors.
inline constexpr std::int64_t composite = 600'213'349, smallest_factor = 20'483;
inline constexpr std::int64_t prime_workers = 16, prime_buffers = 8, queries_under_way = 32;
// Divides in 32 bits where 32 bits are enough. LLVM generates such a test at run time and g++ does
// not, and the workload compares runtimes, not compilers.
template <class Int>
std::int64_t smallest_factor_in(Int number) {
    for (Int i = 2; std::uint64_t{i} * i <= number; ++i)
        if (number % i == 0) return static_cast<std::int64_t>(i);
    return static_cast<std::int64_t>(number);
}
inline std::int64_t smallest_factor_of(std::int64_t number) {
    return number <= std::int64_t{UINT32_MAX}
               ? smallest_factor_in(static_cast<std::uint32_t>(number))
               : smallest_factor_in(static_cast<std::uint64_t>(number));
}
struct prime_factors_size : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t expected() const { return n * smallest_factor; }
};

// mixed-scenario: 20 rings of 100 actors. In each ring a token goes round, and a worker of the ring
// factorises a number at each round. The tokens make n hops in all. The answer is the number of
// hops.
inline constexpr std::int64_t mixed_rings = 20, mixed_actors = 100;
struct mixed_size : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t hops() const { return (n + mixed_rings - 1) / mixed_rings; } // of each ring
    std::int64_t expected() const { return hops() * mixed_rings; }
    std::int64_t tasks() const { return expected(); }
};

// skynet-actor: a tree of actors in which each inner actor has ten children. Each leaf sends its
// number up, and each inner actor sends the sum of its children.
struct skynet_actor_size : actor_workload {
    explicit skynet_actor_size(const std::string& size) : actor_workload(size) {
        std::int64_t power = 1;
        while (power < n) power *= 10;
        if (power != n)
            throw std::invalid_argument("size must be a power of ten, not '" + size + "'");
    }
    std::int64_t expected() const { return n * (n - 1) / 2; }
    std::int64_t tasks() const { return (10 * n - 1) / 9; } // actors
};

// fan-in: 20 actors send n messages in all to one actor.
inline constexpr std::int64_t fan_senders = 20;
struct fan_in_size : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t each() const { return (n + fan_senders - 1) / fan_senders; }
    std::int64_t expected() const { return each() * fan_senders; }
    std::int64_t tasks() const { return expected(); }
};

// spawn-storm: n actors, one after the other. Each is created, receives one message, creates the
// next actor, and ends. The answer is the number of the last actor.

// ring-work: the ring of parallel-thread-ring with 64 tokens and about a microsecond of work at
// each hop.
inline constexpr std::int64_t work_tokens = 64;
struct ring_work_size : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t hops() const { return (n + work_tokens - 1) / work_tokens; }
    std::int64_t expected() const { return hops() * work_tokens; }
    std::int64_t tasks() const { return expected(); }
};
// Takes about a microsecond. No compiler can merge several steps into one.
inline std::uint64_t some_work(std::uint64_t seed) {
    for (int i = 0; i < 530; ++i)
        seed = (seed ^ seed >> 33) * 6364136223846793005u + 1442695040888963407u;
    return seed;
}

} // namespace lab
