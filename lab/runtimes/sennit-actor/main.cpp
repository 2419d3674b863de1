// SPDX-License-Identifier: Apache-2.0
// Sennit's actors.
#include "../sennit/with_runtime.hpp"
#include "savina.hpp"
#include "servants.hpp"

struct actors {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        using runtime = with_runtime;
        using namespace lab;
        if (name == "thread-ring") return measure<runtime>(thread_ring(size), threads);
        if (name == "parallel-thread-ring")
            return measure<runtime>(parallel_thread_ring(size, threads), threads);
        if (name == "ping-pong") return measure<runtime>(ping_pong(size), threads);
        if (name == "counting-actor") return measure<runtime>(counting_actor(size), threads);
        if (name == "producer-consumer") return measure<runtime>(producer_consumer(size), threads);
        if (name == "prime-factors") return measure<runtime>(prime_factors(size), threads);
        if (name == "mixed-scenario") return measure<runtime>(mixed_scenario(size), threads);
        if (name == "skynet-actor") return measure<runtime>(skynet_actor(size), threads);
        if (name == "fan-in") return measure<runtime>(fan_in(size), threads);
        if (name == "spawn-storm") return measure<runtime>(spawn_storm(size), threads);
        if (name == "ring-work") return measure<runtime>(ring_work(size, threads), threads);
        return std::nullopt;
    }
};

int main(int argc, char** argv) {
    return lab::program<actors, lab::savina_actors, lab::more_savina_actors,
                        lab::last_savina_actors>(argc, argv);
}
