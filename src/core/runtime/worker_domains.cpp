// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/worker_domains.hpp"

#include "core/runtime/fork_safe_static.hpp"
#include "sys/mutex.hpp"
#include "sys/topology.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

namespace sennit::sched {

namespace {

using sys::processor;

// Numbers the distinct values of `fact`, in order of appearance. Nothing if a value is unknown.
std::optional<std::vector<std::uint16_t>> numbered(const std::vector<processor>& all,
                                                   unsigned processor::* fact) {
    std::vector<unsigned> values;
    std::vector<std::uint16_t> numbers;
    for (const processor& one : all) {
        if (one.*fact == processor::unknown) return std::nullopt;
        const auto at = std::find(values.begin(), values.end(), one.*fact);
        numbers.push_back(static_cast<std::uint16_t>(at - values.begin()));
        if (at == values.end()) values.push_back(one.*fact);
    }
    return numbers;
}

// Virtual machines often show a cache of its own for each processor. Such numbers say nothing.
bool any_twice(std::vector<std::uint16_t> numbers) {
    std::sort(numbers.begin(), numbers.end());
    return std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end();
}

// Numbers the capacities: 0 for the fast processors. A capacity begins a class if it is below 7/8
// of the first one of the class before: turbo frequencies differ by a few percent between the cores
// of one kind.
std::vector<unsigned> speed_classes(const std::vector<processor>& all) {
    std::vector<unsigned> steps;
    for (const processor& one : all) steps.push_back(one.capacity);
    std::sort(steps.rbegin(), steps.rend());
    std::vector<unsigned> first_of_class;
    for (const unsigned step : steps)
        if (first_of_class.empty() || step < first_of_class.back() - first_of_class.back() / 8)
            first_of_class.push_back(step);
    std::vector<unsigned> classes;
    for (const processor& one : all) {
        unsigned at = 0;
        while (at + 1 < first_of_class.size() && one.capacity <= first_of_class[at + 1]) ++at;
        classes.push_back(at);
    }
    return classes;
}

// The last description of the machine. A runtime with the same processors reads no file.
struct description {
    sys::mutex mutex; // Guards the members below.
    bool read = false;
    std::string root;
    std::vector<unsigned> cpus;
    std::vector<processor> processors;
};
constinit fork_safe_static<description> last_description;

description& the_description() {
    description* const found = last_description.get();
    if (!found) throw std::bad_alloc();
    return *found;
}

std::vector<processor> read_once(std::vector<unsigned> cpus) {
    description& last = the_description();
    const std::lock_guard guard(last.mutex);
    if (!last.read || last.cpus != cpus) {
        last.processors = sys::describe_processors(cpus, last.root);
        last.cpus = std::move(cpus);
        last.read = true;
    }
    return last.processors;
}

} // namespace

void sort_for_workers(std::vector<processor>& all) {
    const std::vector<unsigned> classes = speed_classes(all);
    struct ranked {
        unsigned sibling; // The number of processors of the same core before it.
        unsigned speed_class;
        std::size_t position; // In the given order.
        processor what;
    };
    std::vector<ranked> order;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto is_sibling = [&](const processor& before) {
            return before.core != processor::unknown && before.core == all[i].core;
        };
        const auto here = all.begin() + static_cast<std::ptrdiff_t>(i);
        const auto before = std::count_if(all.begin(), here, is_sibling);
        order.push_back({static_cast<unsigned>(before), classes[i], i, all[i]});
    }
    std::sort(order.begin(), order.end(), [](const ranked& a, const ranked& b) {
        const auto key = [](const ranked& one) {
            return std::tuple(one.sibling, one.speed_class, one.what.node, one.what.cache,
                              one.position);
        };
        return key(a) < key(b);
    });
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = order[i].what;
}

std::vector<worker_site> sites_of(const std::vector<processor>& all) {
    auto domains = numbered(all, &processor::cache);
    if (!domains || !any_twice(*domains)) domains = numbered(all, &processor::node);
    if (domains && !any_twice(*domains)) domains.reset();
    std::vector<worker_site> sites;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::uint16_t domain = domains ? (*domains)[i] : std::uint16_t{0};
        sites.push_back({.cpu = all[i].cpu, .domain = domain});
    }
    return sites;
}

worker_domains::worker_domains(std::vector<worker_site> sites, unsigned workers)
    : sites_(std::move(sites)) {
    if (sites_.empty()) return;
    if (sites_.size() > workers) sites_.resize(workers);
    unsigned domains = 1;
    for (const worker_site& one : sites_) domains = std::max(domains, one.domain + 1u);
    if (domains == 1) return;
    members_.resize(domains);
    for (unsigned i = 0; i < workers; ++i) members_[site_of(i).domain].add(i);
}

worker_domains domains_for(const runtime_options& options, unsigned workers) {
    const bool listed = !options.processors.empty();
    if (!listed && !options.pin) return {};
    std::vector<unsigned> cpus = listed ? options.processors : sys::affinity_cpus();
    if (cpus.empty()) return {}; // The system refused to tell.
    std::vector<processor> all;
    if (options.use_topology && options.max_workers > 1) {
        all = read_once(std::move(cpus));
    } else {
        for (const unsigned cpu : cpus) all.push_back({.cpu = cpu});
    }
    if (!listed) sort_for_workers(all);
    return worker_domains(sites_of(all), workers);
}

void describe_machine_from(const std::string& root) {
    description& last = the_description();
    const std::lock_guard guard(last.mutex);
    last.root = root;
    last.read = false;
}

} // namespace sennit::sched
