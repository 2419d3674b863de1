// SPDX-License-Identifier: Apache-2.0
// Actors that are made and ended on all workers at the same time: WORKERS fibers, one bound to each
// worker, make ACTORS actors each, so there are WORKERS × ACTORS of them in a round. The figure is
// the time of a round, divided by the number of actors. With `short` each actor ends at its first
// message. With `long` all actors of a maker live until the maker has made its last one, so memory
// is taken anew.
//
//     actor_spawn WORKERS ACTORS ROUNDS short|long
#include "counters.hpp"

#include <sennit/actor.hpp>
#include <sennit/fiber.hpp>

#include <string_view>

using namespace sweep;

namespace {

struct last {};

class short_lived : public sennit::actor<short_lived, last> {
public:
    void on(last) { stop(); }
};

void make_actors(sennit::actor_group& group, unsigned actors, bool all_live) {
    std::vector<sennit::actor_ref<short_lived>> made;
    if (all_live) made.reserve(actors);
    for (unsigned i = 0; i < actors; ++i) {
        auto one = group.spawn<short_lived>();
        if (all_live)
            made.push_back(one);
        else
            one.tell(last{});
    }
    for (auto& one : made) one.tell(last{});
}

void run_round(sennit::runtime& runtime, unsigned workers, unsigned actors, bool all_live) {
    runtime.run([&] {
        sennit::actor_group group;
        std::vector<sennit::fiber> makers;
        for (unsigned w = 0; w < workers; ++w)
            makers.emplace_back(sennit::fiber_attributes{.worker = w},
                                [&] { make_actors(group, actors, all_live); });
        for (sennit::fiber& one : makers) one.join();
        group.join();
    });
}

} // namespace

int main(int argc, char** argv) {
    const unsigned workers = count(argc, argv, 1, 2), actors = count(argc, argv, 2, 20'000);
    const unsigned rounds = count(argc, argv, 3, 5);
    const bool all_live = argc > 4 && std::string_view(argv[4]) == "long";
    sennit::runtime runtime({.workers = workers});
    const double made = static_cast<double>(workers) * actors;
    std::vector<double> ns;
    const auto before = runtime.metrics();
    for (unsigned r = 0; r < rounds; ++r) {
        const std::int64_t start = now_ns();
        run_round(runtime, workers, actors, all_live);
        ns.push_back(us_since(start) * 1e3 / made);
    }
    row result("actor_spawn");
    result.add("threads", workers)
        .add("unit", "ns")
        .add("of", "an actor")
        .add("time", quantile(ns, 0.5))
        .add("pieces", workers)
        .add("first", ns.front());
    add_counters(result, before, runtime.metrics(), made * rounds).print();
}
