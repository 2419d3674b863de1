// SPDX-License-Identifier: Apache-2.0
#include "sennit/obs/dump.hpp"

#include "sennit/detail/sys/atfork.hpp"

#include "core/diagnostics/deadlock_detector.hpp"
#include "core/diagnostics/tracing.hpp"
#include "core/runtime/registry.hpp"
#include "core/spare/watchdog.hpp"
#include "obs/describe.hpp"
#include "obs/start.hpp"
#include "obs/trace.hpp"
#include "sys/environment.hpp"
#include "sys/mutex.hpp"
#include "sys/report.hpp"
#include "sys/signal_thread.hpp"

#include <exception>
#include <mutex>
#include <ostream>
#include <stdexcept>
#include <string>

namespace sennit::obs {

namespace {

std::string text_of_all() {
    const auto guard = sched::registry::lock();
    return describe_all();
}

void dump_to_standard_error() noexcept {
    try {
        sys::report({text_of_all().c_str()});
    } catch (const std::exception&) {
        sys::report({"sennit: [SNT-028] the dump was not written: there is no memory for it\n"});
    }
}

} // namespace

void dump(std::ostream& out) {
    out << text_of_all();
}

void end() noexcept {
    if (!sched::tracing::on()) return;
    {
        const auto guard = sched::registry::lock();
        if (!sched::registry::all().empty()) return; // other runtimes still record
    }
    write_trace();
}

void write_dump(sched::runtime_core& of, std::ostream& out) {
    out << describe(sched::snapshot::take(of));
}

void dump_on_signal(int signal) {
    sys::call_on_signal(signal, &dump_to_standard_error);
    sched::deadlock_detector::ignore_thread(sys::signal_thread_id());
}

static std::string deadlock_report() {
    write_trace(); // all threads sleep, and no runtime will end any more
    return "sennit: [SNT-030] deadlock: every thread of this process sleeps until another one "
           "wakes it\n"
           "        A program that waits for a signal or for another process to act must turn this "
           "report off:\n"
           "        set SENNIT_DEADLOCK=off in the environment, or "
           "runtime_options::watch_deadlocks = false.\n" +
           describe_all();
}

static void read_environment() {
    sched::deadlock_detector::set_describer(&deadlock_report);
    sched::watchdog::set_describer(&describe_starvation);
    if (const auto path = sys::environment("SENNIT_TRACE")) start_trace(*path);
    if (const auto name = sys::environment("SENNIT_DUMP_SIGNAL")) {
        const int signal = sys::parse_signal(*name);
        if (signal == 0)
            throw std::invalid_argument("sennit: [SNT-022] SENNIT_DUMP_SIGNAL must be the name or "
                                        "the number of a signal, not '" +
                                        *name + "'");
        dump_on_signal(signal);
    }
}

// Guards `started`, and is held while the first runtime starts.
static constinit sys::mutex starting;
static const base::atfork_lock hold_starting(starting);
static constinit bool started = false;

void start() {
    if (std::lock_guard guard(starting); !started) {
        read_environment();
        started = true;
    }
    // A child of fork() has neither the thread that waits for the signal nor a trace of its own.
    leave_trace_to_parent();
    if (sys::restart_signal_thread())
        sched::deadlock_detector::ignore_thread(sys::signal_thread_id());
}

} // namespace sennit::obs
