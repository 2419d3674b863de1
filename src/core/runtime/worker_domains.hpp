// SPDX-License-Identifier: Apache-2.0
// The processors that a runtime binds its workers to, and the domains of these workers. A domain is
// the set of workers whose processors share a level-3 cache, or a NUMA node where the caches are
// not known. To a worker, the workers of its own domain are near, and all others far.
//
// Which threads run this: any; everything is constant once the runtime's constructor has returned.
//
// A runtime that binds no worker has one domain: a worker may then run on any processor. Domains
// only decide which workers a thief looks at first, and which parked worker is woken first. No
// protocol depends on either order (src/core/README.md, "Domains of workers").
//
// Tested by tests/unit/core/worker_domains_test.cpp.
#pragma once

#include "core/idle/idle_map.hpp"
#include "sennit/runtime_options.hpp"
#include "sys/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sennit::sched {

// A processor that workers are bound to.
struct worker_site {
    unsigned cpu = 0;
    std::uint16_t domain = 0; // Counted from 0 in order of appearance.
    bool operator==(const worker_site&) const = default;
};

// Puts the processors in the order in which workers are bound to them: physical cores before second
// threads of a core, fast cores before slow ones, and neighbours together.
void sort_for_workers(std::vector<sys::processor>& all);

// Finds the domain of each processor, in the given order. All have one domain where a fact is not
// known of all processors, or no domain would have two of them.
std::vector<worker_site> sites_of(const std::vector<sys::processor>& all);

class worker_domains {
public:
    worker_domains() noexcept = default; // Binds no worker.
    // For `workers` workers: worker i is bound to the site i % sites.size().
    worker_domains(std::vector<worker_site> sites, unsigned workers);

    bool binds() const noexcept { return !sites_.empty(); }
    // Requires `binds()`.
    unsigned cpu_of(unsigned worker) const noexcept { return site_of(worker).cpu; }

    // True if some workers are far from each other. Otherwise the functions below must not be
    // called.
    bool several() const noexcept { return !members_.empty(); }
    bool near(unsigned one, unsigned other) const noexcept {
        return site_of(one).domain == site_of(other).domain;
    }
    // The workers that are near `worker`, itself included.
    const worker_set& near_to(unsigned worker) const noexcept {
        return members_[site_of(worker).domain];
    }

    // Calls `look` with the index of each of the first `workers` workers but `me`, until a call
    // returns true, and returns the result of the last call. Usually begins with the near workers;
    // in one of `far_first_one_in` cases with the far ones. In both sets it begins at a random one.
    template <class Random, class Look>
    bool visit(unsigned me, unsigned workers, Random& random, std::uint32_t far_first_one_in,
               Look look) const {
        const bool far_first = random.below(far_first_one_in) == 0;
        return visit_from(me, workers, random.below(workers), far_first, look);
    }
    // `start` is below `workers`.
    template <class Look>
    bool visit_from(unsigned me, unsigned workers, unsigned start, bool far_first,
                    Look look) const {
        for (const bool want_near : {!far_first, far_first})
            for (unsigned i = 0, at = start; i < workers; ++i) {
                if (at != me && near(me, at) == want_near && look(at)) return true;
                if (++at == workers) at = 0;
            }
        return false;
    }

private:
    const worker_site& site_of(unsigned worker) const noexcept {
        return sites_[worker % sites_.size()];
    }
    std::vector<worker_site> sites_;
    std::vector<worker_set> members_; // By domain; empty if there is only one.
};

// Reads the processors that `options` names, or the usable ones, once in a process. `workers` is
// the largest number of workers. Throws std::bad_alloc.
worker_domains domains_for(const runtime_options& options, unsigned workers);

// For tests. The machine is described by the files under this folder from the next runtime on.
void describe_machine_from(const std::string& root);

} // namespace sennit::sched
