// SPDX-License-Identifier: Apache-2.0
#include "core/diagnostics/held_mutex.hpp"

#ifdef SENNIT_REPORT_HELD_MUTEX

#include "core/diagnostics/wait_details.hpp"
#include "sennit/detail/core/fiber_block.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sys/held_mutex.hpp"
#include "sys/report.hpp"
#include "sys/symbolize.hpp"

#include <exception>
#include <string>

namespace sennit::sched {

namespace {
constexpr std::uint32_t max_reports = 8;
base::atomic<std::uint32_t> reports{0};
} // namespace

void report_held_mutex(strand* who, bool in_blocking_pool, std::int32_t count) noexcept {
    if (reports.fetch_add(1) >= max_reports) return;
    try {
        std::string text = "sennit: [SNT-035] ";
        const auto* fiber = who ? static_cast<const fiber_block*>(who->fiber) : nullptr;
        text += fiber ? "fiber" : "strand";
        if (who) text += " " + std::to_string(number_of(*who));
        if (fiber && *fiber->name()) text += std::string(" '") + fiber->name() + "'";
        const char* what = in_blocking_pool        ? "blocking"
                           : who && who->waits_for ? details_of(who->waits_for).what
                                                   : nullptr;
        text += what ? std::string(" blocks in ") + what : " yields";
        text += " while it holds " +
                (count == 1 ? "a std::mutex" : std::to_string(count) + " mutexes of std");
        text += ", locked by " + sys::symbolize(sys::last_mutex_locker());
        text += "\n        Any fiber that locks the mutex now blocks its whole worker, and this "
                "fiber may continue in another thread, which must not unlock it: use "
                "sennit::mutex, or unlock before the wait.\n";
        sys::report({text.c_str()});
    } catch (const std::exception&) {
        sys::report({"sennit: [SNT-036] a fiber or task blocks while it holds a std::mutex; there "
                     "is no memory for the full report\n"});
    }
}

} // namespace sennit::sched

#endif
