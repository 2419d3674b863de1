// SPDX-License-Identifier: Apache-2.0
// Theron: classes derived from its Actor, with a registered handler for each kind of message, in a
// framework with as many threads as asked for and its usual way to wait. A handler whose last
// action is to send uses TailSend, except in workloads in which actors compute.
#include "chameneos.hpp"
#include "rings.hpp"
#include "servants.hpp"
#include "streams.hpp"
#include "trees.hpp"
#include "with_theron.hpp"

namespace {

struct actors {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        using lab::measure, lab::with_theron;
        if (name == "thread-ring")
            return measure<with_theron>(lab::theron_thread_ring(size), threads);
        if (name == "parallel-thread-ring")
            return measure<with_theron>(lab::theron_parallel_thread_ring(size), threads);
        if (name == "ping-pong") return measure<with_theron>(lab::theron_ping_pong(size), threads);
        if (name == "counting-actor")
            return measure<with_theron>(lab::theron_counting_actor(size), threads);
        if (name == "producer-consumer")
            return measure<with_theron>(lab::theron_producer_consumer(size), threads);
        if (name == "prime-factors")
            return measure<with_theron>(lab::theron_prime_factors(size), threads);
        if (name == "mixed-scenario")
            return measure<with_theron>(lab::theron_mixed_scenario(size), threads);
        if (name == "skynet-actor")
            return measure<with_theron>(lab::theron_skynet_actor(size), threads);
        if (name == "fan-in") return measure<with_theron>(lab::theron_fan_in(size), threads);
        if (name == "spawn-storm")
            return measure<with_theron>(lab::theron_spawn_storm(size), threads);
        if (name == "ring-work") return measure<with_theron>(lab::theron_ring_work(size), threads);
        if (name == "savina-fib")
            return measure<with_theron>(lab::theron_savina_fib(size), threads);
        if (name == "savina-chameneos")
            return measure<with_theron>(lab::theron_savina_chameneos(size), threads);
        return std::nullopt;
    }
};

} // namespace

int main(int argc, char** argv) {
    return lab::program<actors>(argc, argv);
}
