// SPDX-License-Identifier: Apache-2.0
// The threads of this process that look up names, at most `max_lookups` at a time.
//
// The resolver of the C library blocks its thread and cannot be interrupted. So a caller that is
// cancelled leaves its lookup behind: the helper thread finishes it, and drops the result. A lookup
// that has not begun by then is skipped. Slow name servers hold these threads only, and never those
// of `blocking`, on which files depend.
//
// A helper ends when no lookup is left. A thread costs 30 us, and a lookup costs more. So a process
// that looks nothing up has no further thread, and the deadlock detector sees none.
//
// Which threads run this: any thread begins a lookup; the helpers finish it.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sys/resolver.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace sennit::sched {

class io_lookup {
public:
    io_lookup(std::string host, std::string service, sys::address_family of, bool passive)
        : host_(std::move(host)), service_(std::move(service)), family_(of), passive_(passive) {}
    virtual ~io_lookup() = default;
    io_lookup(const io_lookup&) = delete;

    static constexpr std::size_t max_lookups = 32;

    // Queues the lookup. Throws std::bad_alloc; std::system_error if the system refuses a thread
    // and there is none yet.
    static void begin(std::shared_ptr<io_lookup> what);
    // The result is no longer needed.
    void abandon() noexcept { abandoned_.store(1); }

protected:
    // Called on a helper's thread, once, unless the lookup was abandoned before it began.
    virtual void finish(sys::lookup_result&& result) noexcept = 0;

private:
    friend struct io_lookup_queue;
    const std::string host_, service_;
    const sys::address_family family_;
    const bool passive_;
    base::atomic<std::uint32_t> abandoned_{0};
};

} // namespace sennit::sched
