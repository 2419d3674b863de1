// SPDX-License-Identifier: Apache-2.0
#include "mutation.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace sennit::sim {

namespace {

struct candidate {
    mutant change;
    std::string text;
    bool weak = false;                   // the original is weaker than sequentially consistent: it counts
    std::vector<const scenario*> met_by; // those of the file's own group first, then short ones
};

std::vector<order> weaker(operation what, order than) {
    const bool loads = what != operation::store;
    const bool stores = what != operation::load;
    switch (than) {
    case order::seq_cst:
        return {loads && stores ? order::acq_rel : loads ? order::acquire : order::release};
    case order::acq_rel:
        return {order::acquire, order::release};
    case order::acquire:
    case order::release:
        return {order::relaxed};
    case order::relaxed:
        break;
    }
    return {};
}

// Whether the place, as in "src/sched/wait.cpp:12", is in a file that the scenario is about: one of its group's name.
bool is_about(const scenario& one, const std::string& text) {
    static const std::map<std::string_view, std::string_view> other_names{{"hot_line", "fork_stack"},
                                                                          {"worker", "fork_stack"},
                                                                          {"state", "future"},
                                                                          {"parker", "idle"},
                                                                          {"one_shot", "join"}};
    const std::string_view file = std::string_view(text).substr(0, text.find(':'));
    std::string_view name = file.substr(file.rfind('/') + 1);
    name = name.substr(0, name.find('.'));
    const auto other = other_names.find(name);
    return one.group == (other == other_names.end() ? name : other->second);
}

// What each scenario comes by in some hundred executions.
std::vector<candidate> candidates(const std::vector<const scenario*>& with) {
    std::map<std::string, candidate> found;
    std::map<const scenario*, std::uint64_t> longest;
    for (const scenario* one : with) {
        if (one->expected) continue;
        std::vector<site> sites;
        std::vector<std::string> names;
        world::the().record_sites = &sites;
        world::the().record_names = &names;
        const auto by = random_walk(7, 300);
        longest[one] = explore(*one, *by).longest;
        world::the().record_sites = nullptr;
        world::the().record_names = nullptr;
        std::set<std::string> met;
        for (const site& at : sites) {
            if (std::strstr(at.where.file_name(), "/tests/")) continue; // the scenarios' own
            for (const order becomes : weaker(at.what, at.with)) {
                const char* file = std::strstr(at.where.file_name(), "sennit/");
                const char* src = std::strstr(at.where.file_name(), "/src/");
                char text[300];
                std::snprintf(text, sizeof text, "%s:%u:%u %s %s -> %s",
                              src ? src + 1 : (file ? file : at.where.file_name()),
                              static_cast<unsigned>(at.where.line()), static_cast<unsigned>(at.where.column()),
                              name(at.what), name(at.with), name(becomes));
                if (!met.insert(text).second) continue;
                candidate& entry = found[text];
                entry.text = text;
                entry.weak = at.with != order::seq_cst;
                entry.change = {at.where.file_name(),
                                static_cast<unsigned>(at.where.line()),
                                static_cast<unsigned>(at.where.column()),
                                becomes,
                                {}};
                entry.met_by.push_back(one);
            }
        }
        for (const std::string& named : names) {
            const std::string text = "without " + named;
            if (!met.insert(text).second) continue;
            candidate& entry = found[text];
            entry.text = text;
            entry.weak = true;
            entry.change.named = named;
            entry.met_by.push_back(one);
        }
    }
    std::vector<candidate> all;
    for (auto& [text, entry] : found) {
        const auto rank = [&](const scenario* one) { return std::pair(!is_about(*one, text), longest[one]); };
        std::stable_sort(entry.met_by.begin(), entry.met_by.end(),
                         [&](const scenario* a, const scenario* b) { return rank(a) < rank(b); });
        all.push_back(std::move(entry));
    }
    return all;
}

const scenario* noticed_by(const candidate& one, double seconds, std::string& what, std::uint64_t& executions) {
    world::the().set_mutant(&one.change);
    const scenario* found = nullptr;
    double left = seconds;
    for (int way = 0; way < 4 && !found; ++way)
        for (const scenario* with : one.met_by) {
            if (left <= 0) break;
            const auto by = way == 0   ? random_walk(1, 300)
                            : way == 1 ? pct(3, 1, 500)
                                       : depth_first(with->within.preemptions, with->within.stale_reads);
            const finding result = explore(*with, *by, way == 2 ? std::min(left, 2.0) : left); // each a little first
            executions += result.executions;
            left -= result.seconds;
            if (!result.failed) continue;
            what = result.what;
            found = with;
            break;
        }
    world::the().set_mutant(nullptr);
    return found;
}

} // namespace

bool check_mutants(const std::vector<const scenario*>& with, const mutation_options& how) {
    unsigned number = 0;
    unsigned counted = 0, caught = 0, strong = 0, strong_caught = 0;
    std::vector<std::string> survivors;
    for (const candidate& one : candidates(with)) {
        if ((!one.weak && !how.all) || number++ % how.shares != how.share) continue;
        std::string what;
        std::uint64_t executions = 0;
        const scenario* found = noticed_by(one, how.seconds, what, executions);
        (one.weak ? counted : strong) += 1;
        if (found) (one.weak ? caught : strong_caught) += 1;
        if (!found) survivors.push_back(one.text);
        std::printf("%-84s %-10s %8llu runs  %s\n", one.text.c_str(), found ? "noticed" : "SURVIVES",
                    static_cast<unsigned long long>(executions),
                    found ? (std::string(found->group) + "." + found->name + ": " + what.substr(0, 60)).c_str() : "");
        std::fflush(stdout);
    }
    std::printf("\nweak orders and re-checks: %u of %u mutants noticed (%.1f %%)\n", caught, counted,
                counted ? 100.0 * caught / counted : 0.0);
    if (how.all) std::printf("sequentially consistent accesses: %u of %u mutants noticed\n", strong_caught, strong);
    for (const std::string& text : survivors) std::printf("survives: %s\n", text.c_str());
    return counted != 0 && caught * 100 >= counted * 95;
}

} // namespace sennit::sim
