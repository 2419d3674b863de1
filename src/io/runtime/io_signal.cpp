// SPDX-License-Identifier: Apache-2.0
#include "io/runtime/io_signal.hpp"

#include "sys/thread.hpp"

#include <system_error>

namespace sennit::sched {

sys::signal_inbox* open_signal_inbox(const int* signals, std::size_t count, int& error) {
    sys::install_atfork_handlers(); // Before a fork that inherits an inbox.
    constexpr int most = 64;
    std::uint64_t wanted = 0;
    for (std::size_t i = 0; i < count; ++i) {
        error = static_cast<int>(std::errc::invalid_argument);
        if (signals[i] < 1 || signals[i] > most) return nullptr;
        wanted |= sys::signal_inbox::bit_of(signals[i]);
    }
    return sys::signal_inbox::open(wanted, error);
}

io_operation take_signal(sys::signal_inbox& from) noexcept {
    return {.direction = io_direction::read,
            .what = "a signal",
            .call = [](int, void* argument) noexcept -> std::ptrdiff_t {
                const int signal = static_cast<sys::signal_inbox*>(argument)->take();
                return signal != 0 ? signal : io_would_block;
            },
            .argument = &from};
}

} // namespace sennit::sched
