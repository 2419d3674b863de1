// SPDX-License-Identifier: Apache-2.0
// The explorer's command line. `explore --help` explains it.
#include "explorer/apart.hpp"
#include "explorer/explore.hpp"
#include "explorer/mutation.hpp"

#include <signal.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace sennit::sim;

struct arguments {
    std::vector<std::string> names;
    std::string replay;
    std::string perfetto;
    std::string without;
    std::uint64_t random = 0;
    std::uint64_t pct = 0;
    std::uint64_t seed = 1;
    unsigned depth = 3;
    unsigned more_preemptions = 0;
    double seconds = 600;
    bool list = false;
    bool mutants = false;
    mutation_options mutation;
    bool may_cut = false;
};

const char* const help =
    R"(usage: explore [OPTIONS] [GROUP[.NAME]...]   explores the scenarios of these names, or all

  --list            names the scenarios and ends
  --bound-more N    preemptions more than each scenario's own bound (0)
  --pct N           and N executions by probabilistic concurrency testing
  --depth D         of depth D (3)
  --random N        and N random walks
  --seed S          the seed of both (1)
  --seconds S       for each scenario and strategy, at most (600)
  --may-cut         running out of --seconds is no failure
  --mutants         weakens every weak order in turn and says which scenario notices, in --seconds
                    for each at most
  --all-mutants     sequentially consistent accesses as well
  --share I/N       of the mutants the I-th, the I+N-th, and so on only
  --without STEP    leaves out a step that the sources mark with SENNIT_MUTANT; with --mutants, only
                    where scenarios that have noticed a mutant must pass, to test that they must
  --replay TEXT     repeats one execution of one scenario and prints its trace
  --perfetto FILE   with --replay: writes the trace for ui.perfetto.dev

Status: 0 all as promised, 1 a failure was found (or a known bug was not), 2 bad input,
3 a scenario that should notice mutants fails without them.
)";

[[noreturn]] void bad(const std::string& what) {
    std::fprintf(stderr, "explore: %s; see explore --help\n", what.c_str());
    std::exit(2);
}

std::uint64_t number(const char* option, const char* text) {
    char* end = nullptr;
    const unsigned long long value = text ? std::strtoull(text, &end, 10) : 0;
    if (!text || *text == '\0' || *end != '\0' || *text == '-')
        bad(std::string(option) + " needs a number");
    return value;
}

double seconds(const char* option, const char* text) {
    char* end = nullptr;
    const double value = text ? std::strtod(text, &end) : 0;
    if (!text || *text == '\0' || *end != '\0' || !(value > 0))
        bad(std::string(option) + " needs a number of seconds above 0");
    return value;
}

arguments parse(int count, char** words) {
    arguments given;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const auto value = [&]() -> const char* { return i + 1 < count ? words[++i] : nullptr; };
        if (word == "--help") {
            std::fputs(help, stdout);
            std::exit(0);
        } else if (word == "--list") {
            given.list = true;
        } else if (word == "--mutants" || word == "--all-mutants") {
            given.mutants = true;
            given.mutation.all = word == "--all-mutants";
        } else if (word == "--share") {
            const char* text = value();
            if (!text ||
                std::sscanf(text, "%u/%u", &given.mutation.share, &given.mutation.shares) != 2 ||
                given.mutation.share >= given.mutation.shares)
                bad("--share needs I/N");
        } else if (word == "--may-cut") {
            given.may_cut = true;
        } else if (word == "--bound-more") {
            given.more_preemptions = static_cast<unsigned>(number("--bound-more", value()));
        } else if (word == "--pct") {
            given.pct = number("--pct", value());
        } else if (word == "--depth") {
            given.depth = static_cast<unsigned>(number("--depth", value()));
        } else if (word == "--random") {
            given.random = number("--random", value());
        } else if (word == "--seed") {
            given.seed = number("--seed", value());
        } else if (word == "--seconds") {
            given.seconds = seconds("--seconds", value());
        } else if (word == "--replay" || word == "--perfetto" || word == "--without") {
            const char* text = value();
            if (!text) bad(word + " needs a value");
            (word == "--replay"     ? given.replay
             : word == "--perfetto" ? given.perfetto
                                    : given.without) = text;
        } else if (word.starts_with("-")) {
            bad("there is no option '" + word + "'");
        } else {
            given.names.push_back(word);
        }
    }
    return given;
}

std::string full_name(const scenario& one) {
    return std::string(one.group) + "." + one.name;
}

std::vector<const scenario*> chosen(const std::vector<std::string>& names) {
    std::vector<const scenario*> all;
    const auto is_meant = [](const scenario& one, const std::string& name) {
        return one.group == name || full_name(one) == name;
    };
    for (const std::string& name : names)
        if (std::none_of(scenarios().begin(), scenarios().end(),
                         [&](auto& one) { return is_meant(one, name); }))
            bad("no scenario is called '" + name + "'");
    for (const scenario& one : scenarios())
        if (names.empty() || std::any_of(names.begin(), names.end(),
                                         [&](auto& name) { return is_meant(one, name); }))
            all.push_back(&one);
    std::sort(all.begin(), all.end(),
              [](auto* a, auto* b) { return full_name(*a) < full_name(*b); });
    return all;
}

struct account {
    bool right = true; // all scenarios gave the expected results
    std::uint64_t executions = 0;
};

// True: the scenario gave the expected result.
bool report(const scenario& one, const char* strategy, const finding& found,
            bool must_be_complete) {
    const bool wanted = one.expected != nullptr;
    const bool right = wanted ? found.failed && found.what.find(one.expected) != std::string::npos
                              : !found.failed && (found.complete || !must_be_complete);
    const char* verdict = found.failed       ? (right ? "found" : "FAILED")
                          : wanted           ? "NOT FOUND"
                          : found.complete   ? "complete"
                          : must_be_complete ? "NOT COMPLETE"
                                             : "passed";
    std::printf("%-44s %-10s %-12s %10llu runs %8.2f s %9.0f /s %5llu steps\n",
                full_name(one).c_str(), strategy, verdict,
                static_cast<unsigned long long>(found.executions), found.processor_seconds,
                static_cast<double>(found.executions) / std::max(found.processor_seconds, 1e-9),
                static_cast<unsigned long long>(found.longest));
    if (found.failed && !right) {
        std::printf("    %s\n    explore %s --replay %s\n", found.what.c_str(),
                    full_name(one).c_str(), found.replay.c_str());
        trace happened;
        (void)replay_of(one, found.replay, happened);
        std::fputs(happened.text().c_str(), stdout);
    }
    std::fflush(stdout);
    return right;
}

account explore_all_ways(const scenario& one, const arguments& given) {
    account its;
    const auto by = [&](const char* name, const auto& strategy, bool must_be_complete) {
        const finding found = explore(one, *strategy, given.seconds);
        its.right &= report(one, name, found, must_be_complete);
        its.executions += found.executions;
    };
    by("dfs", depth_first(one.within.preemptions + given.more_preemptions, one.within.stale_reads),
       !given.may_cut);
    if (one.expected) return its;
    if (given.pct != 0) by("pct", pct(given.depth, given.seed, given.pct), false);
    if (given.random != 0) by("random", random_walk(given.seed, given.random), false);
    return its;
}

int run_replay(const arguments& given) {
    const auto all = chosen(given.names);
    if (all.size() != 1) bad("--replay needs the name of one scenario");
    trace happened;
    outcome result;
    try {
        result = replay_of(*all[0], given.replay, happened);
    } catch (const std::invalid_argument& error) {
        bad(error.what());
    }
    std::fputs(happened.text().c_str(), stdout);
    std::printf("%s\n", result.failed ? result.what.c_str() : "passed");
    if (!given.perfetto.empty()) {
        std::FILE* file = std::fopen(given.perfetto.c_str(), "w");
        if (!file) bad("cannot write '" + given.perfetto + "'");
        std::fputs(happened.perfetto().c_str(), file);
        std::fclose(file);
    }
    return result.failed ? 1 : 0;
}

// A fault or an abort in a simulated thread is a failure like any other; its stack is abandoned.
void fault(int number) {
    if (world::running()) world::the().fail("signal " + std::to_string(number));
    std::signal(number, SIG_DFL);
    std::raise(number);
}

void catch_faults() {
    struct sigaction how = {};
    how.sa_handler = &fault;
    how.sa_flags = SA_NODEFER; // the handler does not return
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
        sigaction(number, &how, nullptr);
}

} // namespace

int main(int count, char** words) {
    const arguments given = parse(count, words);
    catch_faults();
    mutant left_out;
    left_out.named = given.without;
    if (!given.without.empty()) world::the().set_mutant(&left_out);
    if (!given.replay.empty()) return run_replay(given);
    const auto all = chosen(given.names);
    if (given.list) {
        for (const scenario* one : all) std::printf("%s\n", full_name(*one).c_str());
        return 0;
    }
    if (given.mutants) {
        mutation_options how = given.mutation;
        how.seconds = given.seconds;
        how.base = given.without.empty() ? nullptr : &left_out;
        world::the().set_mutant(nullptr);
        try {
            return check_mutants(all, how) ? 0 : 1;
        } catch (const broken_scenario& error) {
            std::fflush(stdout);
            std::fprintf(stderr, "explore: %s\n", error.what());
            return 3;
        }
    }
    account whole;
    for (const scenario* one : all) {
        account its;
        const int status = apart(its, [&] { return explore_all_ways(*one, given); });
        if (status != 0)
            std::printf("%-44s the explorer ends with status %d\n", full_name(*one).c_str(),
                        status);
        whole.right = whole.right && status == 0 && its.right;
        whole.executions += its.executions;
        std::fflush(stdout);
    }
    std::printf("%zu scenarios, %llu executions: %s\n", all.size(),
                static_cast<unsigned long long>(whole.executions),
                whole.right ? "all as promised" : "FAILED");
    return whole.right ? 0 : 1;
}
