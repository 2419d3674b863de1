// SPDX-License-Identifier: Apache-2.0
#include "obs/describe.hpp"

#include "core/runtime/registry.hpp"
#include "core/runtime/runtime_core.hpp"
#include "sys/symbolize.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace sennit::obs {

namespace {

using sched::strand_report;
using sched::strand_state;
using strands = std::map<const void*, const strand_report*>; // by identity

[[gnu::format(printf, 2, 3)]] void add(std::string& text, const char* format, ...) {
    char line[768];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text += line;
}

std::string name_of(const strand_report& one) {
    std::string text = one.is_fiber ? "fiber " : one.is_task ? "task " : "strand ";
    if (one.is_lent) text = "task of strand ";
    if (one.id == 0) return "task";
    add(text, "%llu", static_cast<unsigned long long>(one.id));
    if (one.name[0] != '\0') text.append(" '").append(one.name.data()).append("'");
    return text;
}

void add_duration(std::string& text, std::int64_t ns) {
    const double seconds = static_cast<double>(std::max<std::int64_t>(ns, 0)) * 1e-9;
    add(text, seconds < 1 ? "%.3f s" : "%.1f s", seconds);
}

void add_wait(std::string& text, const strand_report& one, const strands& known, std::int64_t now) {
    text += "blocked in ";
    text += one.waits_for ? one.waits_for : "something that says no more";
    if (one.waits_on) {
        add(text, " at %p", one.waits_on);
        const std::string variable = sys::symbolize_data(one.waits_on);
        if (!variable.empty()) text += " (" + variable + ")";
    }
    if (one.holder) {
        const auto whom = known.find(one.holder);
        text += ", waits for " +
                (whom == known.end()
                     ? std::string("a thread, or a fiber of a runtime that is not shown")
                     : name_of(*whom->second));
    }
    if (one.since_ns != 0) {
        text += ", for ";
        add_duration(text, now - one.since_ns);
    }
    if (one.deadline_ns != 0 && one.deadline_ns != sched::never) {
        text += ", at most ";
        add_duration(text, one.deadline_ns - now);
        text += " more";
    }
}

void add_state(std::string& text, const strand_report& one, const strands& known,
               std::int64_t now) {
    switch (one.state) {
    case strand_state::running:
        add(text, "running on worker %u", one.worker);
        return;
    case strand_state::ready:
        text += "ready";
        return;
    case strand_state::fresh:
        text += "ready, not begun";
        return;
    case strand_state::below:
        text += "waits for the strand above it on its stack";
        return;
    case strand_state::blocked:
    case strand_state::in_blocking_pool:
        add_wait(text, one, known, now);
        return;
    }
}

void add_strand(std::string& text, const strand_report& one, const sched::runtime_report& all,
                const strands& known) {
    text += name_of(one) + " [";
    add_state(text, one, known, all.taken_ns);
    text += "]\n";
    if (one.made_at) {
        text += "    made at " + sys::symbolize(one.made_at);
        if (one.born_ns != 0) {
            text += ", ";
            add_duration(text, all.taken_ns - one.born_ns);
            text += " ago";
        }
        text += "\n";
    }
    if (one.type) text += "    runs " + sys::demangle(one.type->name()) + "\n";
    if (one.stack_size != 0)
        add(text, "    stack %u: %.1f KiB in use, %.0f KiB touched, of %.0f KiB\n", one.context,
            static_cast<double>(one.stack_used) / 1024,
            static_cast<double>(one.stack_touched) / 1024,
            static_cast<double>(one.stack_size) / 1024);
    for (std::size_t i = 0; i < one.frames; ++i) {
        add(text, "    #%-2zu ", i);
        const void* address = all.frames[one.first_frame + i];
        text += (one.is_task && one.stack_size == 0 ? sys::symbolize_function
                                                    : sys::symbolize)(address) +
                "\n";
    }
}

// Equal tasks: made at the same place, and the same functions wait in the same way. A program may
// have millions.
class equal_tasks {
public:
    // Returns true if so many equal tasks were shown that this one is only counted.
    bool counts(const strand_report& one, const sched::runtime_report& all) {
        if (!one.is_task || one.state != strand_state::blocked || one.frames == 0) return false;
        std::vector<const void*> key{one.waits_for, one.made_at};
        const auto first = all.frames.begin() + static_cast<std::ptrdiff_t>(one.first_frame);
        key.insert(key.end(), first, first + static_cast<std::ptrdiff_t>(one.frames));
        group& its = groups_[std::move(key)];
        if (its.shown < most_shown) return ++its.shown, false;
        ++its.more;
        its.oldest_ns = its.more == 1 ? one.since_ns : std::min(its.oldest_ns, one.since_ns);
        return true;
    }
    void add_counts(std::string& text, std::int64_t now) const {
        for (const auto& [key, its] : groups_) {
            if (its.more == 0) continue;
            add(text, "%zu more tasks blocked in ", its.more);
            text += key[0] ? static_cast<const char*>(key[0]) : "something that says no more";
            text += ", the first for ";
            add_duration(text, now - its.oldest_ns);
            text += ", in\n";
            if (key[1]) text += "    made at " + sys::symbolize(key[1]) + "\n";
            for (std::size_t i = 2; i < key.size(); ++i) {
                add(text, "    #%-2zu ", i - 2);
                text += sys::symbolize_function(key[i]) + "\n";
            }
        }
    }

private:
    static constexpr std::size_t most_shown = 3;
    struct group {
        std::size_t shown = 0;
        std::size_t more = 0;
        std::int64_t oldest_ns = 0;
    };
    std::map<std::vector<const void*>, group> groups_;
};

// Appends each cycle of strands in which every strand waits for the next one, once.
void add_circles(std::string& text, const std::vector<const strand_report*>& all,
                 const strands& known) {
    std::set<const strand_report*> done;
    for (const strand_report* start : all) {
        std::vector<const strand_report*> path;
        for (const strand_report* at = start; at && done.insert(at).second;) {
            path.push_back(at);
            const auto next = known.find(at->holder);
            at = next == known.end() ? nullptr : next->second;
            const auto closed = std::find(path.begin(), path.end(), at);
            if (!at || closed == path.end()) continue;
            text += "circle: ";
            for (auto each = closed; each != path.end(); ++each)
                text += name_of(**each) + " waits for ";
            text += name_of(*at) + "\n";
        }
    }
}

void add_runtime(std::string& text, const sched::runtime_report& report, const strands& known) {
    std::size_t counts[6] = {};
    for (const strand_report& one : report.strands) ++counts[static_cast<std::size_t>(one.state)];
    const std::string name = report.name.empty() ? "" : " '" + std::string(report.name) + "'";
    add(text, "sennit: runtime%s %p, %zu workers, ", name.c_str(), report.runtime,
        report.workers.size());
    if (!report.complete) {
        text += "whose fibers cannot be shown, because these do not stop:";
        for (std::size_t i = 0; i < report.workers.size(); ++i)
            if (!report.workers[i].thread_suspended) add(text, " worker %zu", i);
        text += "\n";
        return;
    }
    add(text,
        "%zu strands: %zu running, %zu ready, %zu blocked, %zu below others; %zu other pieces of "
        "work ready\n",
        report.strands.size(), counts[0], counts[1] + counts[2], counts[3] + counts[4], counts[5],
        report.other_ready);
    for (std::size_t i = 0; i < report.workers.size(); ++i) {
        const sched::worker_report& one = report.workers[i];
        add(text, "worker %zu: %s", i, one.asleep ? "asleep" : "awake");
        if (one.pc && !one.asleep) text += " at " + sys::symbolize(one.pc);
        text += "\n";
    }
    equal_tasks equal;
    for (const strand_report& one : report.strands)
        if (!equal.counts(one, report)) add_strand(text, one, report, known);
    equal.add_counts(text, report.taken_ns);
}

// Describes all runtimes together, because strands of one runtime may wait for strands of another.
std::string describe_together(std::span<const sched::runtime_report> reports) {
    std::string text;
    strands known;
    std::vector<const strand_report*> all;
    for (const sched::runtime_report& report : reports)
        for (const strand_report& one : report.strands) {
            if (!one.is_lent && one.identity) known[one.identity] = &one;
            all.push_back(&one);
        }
    for (const sched::runtime_report& report : reports) add_runtime(text, report, known);
    add_circles(text, all, known);
    return text;
}

} // namespace

std::string describe(const sched::runtime_report& report) {
    return describe_together(std::span(&report, 1));
}

std::string describe_starvation(sched::runtime_core& of) {
    const sched::runtime_report report = sched::snapshot::take(of);
    const std::string name = report.name.empty() ? "" : " '" + std::string(report.name) + "'";
    std::string text = "sennit: [SNT-031] work is ready in runtime" + name +
                       ", but each of its workers runs a task that loops or blocks its thread, and "
                       "no worker has made progress for a second\n";
    for (std::size_t i = 0; i < report.workers.size(); ++i) {
        if (report.workers[i].asleep) continue;
        add(text, "worker %zu: ", i);
        const auto in = std::find_if(
            report.strands.begin(), report.strands.end(), [&](const strand_report& one) {
                return one.state == strand_state::running && one.worker == i;
            });
        text += in == report.strands.end() ? "a task that is not a fiber" : name_of(*in);
        if (report.workers[i].pc) text += " at " + sys::symbolize(report.workers[i].pc);
        text += "\n";
    }
    const auto waiting =
        std::count_if(report.strands.begin(), report.strands.end(), [](const strand_report& one) {
            return one.state == strand_state::ready || one.state == strand_state::fresh;
        });
    add(text,
        "Ready: %td fibers, %zu other tasks. The watchdog has added all threads that it may add, "
        "%u: runtime_options::max_spare_workers and SENNIT_WATCHDOG=N allow up to 64. A fiber that "
        "waits with Sennit's latch, mutex, channel or future blocks no thread, and "
        "sennit::blocking runs a call that does on a thread of its own.\n",
        waiting, report.other_ready, of.options().max_spare_workers);
    return text;
}

std::string describe_all() {
    std::vector<sched::runtime_report> reports;
    for (sched::runtime_core* one : sched::registry::all())
        if (!one->lost_in_fork()) reports.push_back(sched::snapshot::take(*one));
    return describe_together(reports);
}

} // namespace sennit::obs
