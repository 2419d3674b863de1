// SPDX-License-Identifier: Apache-2.0
#include "mutation.hpp"

#include "apart.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace sennit::sim {

namespace {

struct candidate {
    mutant change;
    std::string text;
    // The original is weaker than sequentially consistent, so the mutant counts.
    bool weak = false;
    // The scenarios that pass the place. First those of the file's group, or with the step's words
    // in their names; then short ones.
    std::vector<const scenario*> met_by;
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

// True if the place, such as "src/core/wait/wait.cpp:12", is in a file with the name of the
// scenario's group.
bool is_about(const scenario& one, const std::string& text) {
    static const std::map<std::string_view, std::string_view> other_names{
        {"worker_tls", "fork_stack"},
        {"worker", "fork_stack"},
        {"steal_fork", "fork_stack"},
        {"advance_split", "fork_stack"},
        {"thief", "run_queue"},
        {"idle_search", "idle"},
        {"spare_state", "spare_worker"},
        {"state", "future"},
        {"parker", "idle"},
        {"one_shot", "join"},
        {"mailbox", "actor"},
        {"mailbox_batch", "actor"},
        {"batch_state", "actor"},
        {"mailbox_capacity", "actor"},
        {"mailbox_owner", "actor"},
        {"mailbox_table", "actor"},
        {"wakeup", "actor"},
        {"incarnation_counter", "actor"},
        {"remote_inbox", "actor"},
        {"core", "monitor"},
        {"condition", "monitor"},
        {"waitfor", "monitor"},
        {"accept_request", "monitor"},
        {"coroutine_stack", "coroutine"},
        {"single_threaded", "lock_elision"},
        {"frame", "coroutine"}};
    const std::string_view file = std::string_view(text).substr(0, text.find(':'));
    std::string_view name = file.substr(file.rfind('/') + 1);
    name = name.substr(0, name.find('.'));
    const auto other = other_names.find(name);
    return one.group == (other == other_names.end() ? name : other->second);
}

// The number of words that the scenario's name shares with the step's name.
int words_in_common(const scenario& one, const std::string& step) {
    const std::string name = "_" + std::string(one.name) + "_";
    std::istringstream words(step);
    int count = 0;
    for (std::string word; words >> word;)
        count += name.find("_" + word + "_") != std::string::npos;
    return count;
}

[[noreturn]] void is_broken(const scenario& one) {
    throw broken_scenario(std::string(one.group) + "." + one.name + " fails without a mutant");
}

// The places that each scenario passes in some hundred executions.
std::vector<candidate> candidates(const std::vector<const scenario*>& with) {
    std::map<std::string, candidate> found;
    std::map<const scenario*, std::uint64_t> longest;
    for (const scenario* one : with) {
        if (one->expected) continue;
        std::set<site> sites;
        std::set<std::string> names;
        world::the().record(&sites, &names);
        const auto by = random_walk(7, 300);
        const finding whole = explore(*one, *by);
        if (whole.failed) is_broken(*one);
        longest[one] = whole.longest;
        world::the().record(nullptr, nullptr);
        std::set<std::string> met;
        for (const site& at : sites) {
            // operations of the scenarios themselves
            if (std::strstr(at.where.file_name(), "/tests/")) continue;
            for (const order becomes : weaker(at.what, at.with)) {
                const char* file = in_tree(at.where.file_name());
                char text[300];
                std::snprintf(text, sizeof text, "%s:%u:%u %s %s -> %s", file,
                              static_cast<unsigned>(at.where.line()),
                              static_cast<unsigned>(at.where.column()), name(at.what),
                              name(at.with), name(becomes));
                if (!met.insert(text).second) continue;
                candidate& entry = found[text];
                entry.text = text;
                entry.weak = at.with != order::seq_cst;
                entry.change = {file,
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
        const auto rank = [&](const scenario* one) {
            const bool named = !entry.change.named.empty();
            return std::pair(named ? -words_in_common(*one, entry.change.named)
                                   : !is_about(*one, text),
                             longest[one]);
        };
        std::stable_sort(entry.met_by.begin(), entry.met_by.end(),
                         [&](const scenario* a, const scenario* b) { return rank(a) < rank(b); });
        all.push_back(std::move(entry));
    }
    return all;
}

struct verdict {
    std::uint64_t executions = 0;
    bool noticed = false;
    // The scenario that noticed the mutant, the way it was run, and for how long.
    const scenario* with = nullptr;
    int way = 0;
    double seconds = 0;
    char by[200] = "";
};

// The ways to look for a mutant, one after the other.
constexpr int ways = 4;
std::unique_ptr<strategy> strategy_of(int way, const scenario& with) {
    if (way == 0) return random_walk(1, 300);
    if (way == 1) return pct(3, 1, 500);
    return depth_first(with.within.preemptions, with.within.stale_reads); // a little of each first
}

verdict judge(const candidate& one, double seconds) {
    world::the().set_mutant(&one.change);
    verdict found;
    double left = seconds;
    for (int way = 0; way < ways; ++way)
        for (const scenario* with : one.met_by) {
            if (left <= 0) return found;
            const auto by = strategy_of(way, *with);
            const finding result = explore(*with, *by, way == 2 ? std::min(left, 2.0) : left);
            found.executions += result.executions;
            left -= result.seconds;
            if (!result.failed) continue;
            found.noticed = true;
            found.with = with;
            found.way = way;
            found.seconds = result.seconds;
            std::snprintf(found.by, sizeof found.by, "%s.%s: %s", with->group, with->name,
                          result.what.substr(0, 60).c_str());
            return found;
        }
    return found;
}

verdict judge_apart(const candidate& one, double seconds) {
    verdict found;
    const int status = apart(found, [&] { return judge(one, seconds); });
    if (status != 0) {
        found = {};
        found.noticed = true;
        std::snprintf(found.by, sizeof found.by, "the explorer ends with status %d", status);
    }
    return found;
}

// Repeats the same runs without the mutant, for the same time. They must pass; otherwise the
// scenario would notice anything.
class sound_scenarios {
public:
    explicit sound_scenarios(const mutant* base) : base_(base) {}

    void must_have(const verdict& noticed) {
        if (!noticed.with) return;
        const int way = std::min(noticed.way, 2); // the last two differ in their time
        // the last two ways differ only in their time
        double& passed = passed_[std::pair(noticed.with, way)];
        const double seconds = 2 * noticed.seconds + 0.1;
        if (way < 2 ? passed > 0 : passed >= seconds) return;
        bool failed = true;
        if (apart(failed,
                  [&] {
                      world::the().set_mutant(base_);
                      return explore(*noticed.with, *strategy_of(way, *noticed.with),
                                     way < 2 ? 1e9 : seconds)
                          .failed;
                  }) != 0 ||
            failed)
            is_broken(*noticed.with);
        passed = seconds;
    }

private:
    const mutant* base_;
    std::map<std::pair<const scenario*, int>, double> passed_; // seconds
};

} // namespace

bool check_mutants(const std::vector<const scenario*>& with, const mutation_options& how) {
    unsigned number = 0;
    unsigned counted = 0, caught = 0, strong = 0, strong_caught = 0;
    std::vector<std::string> survivors;
    sound_scenarios sound(how.base);
    for (const candidate& one : candidates(with)) {
        if ((!one.weak && !how.all) || number++ % how.shares != how.share) continue;
        std::fflush(stdout);
        const verdict found = judge_apart(one, how.seconds);
        sound.must_have(found);
        (one.weak ? counted : strong) += 1;
        (one.weak ? caught : strong_caught) += found.noticed;
        if (!found.noticed) survivors.push_back(one.text);
        std::printf("%-84s %-10s %8llu runs  %s\n", one.text.c_str(),
                    found.noticed ? "noticed" : "SURVIVES",
                    static_cast<unsigned long long>(found.executions), found.by);
        std::fflush(stdout);
    }
    std::printf("\nweak orders and re-checks: %u of %u mutants noticed (%.1f %%)\n", caught,
                counted, counted ? 100.0 * caught / counted : 0.0);
    if (how.all)
        std::printf("sequentially consistent accesses: %u of %u mutants noticed\n", strong_caught,
                    strong);
    for (const std::string& text : survivors) std::printf("survives: %s\n", text.c_str());
    return counted != 0 && caught * 100 >= counted * 95;
}

} // namespace sennit::sim
