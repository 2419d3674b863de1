// SPDX-License-Identifier: Apache-2.0
// io::signals: waits for signals of the process, such as SIGTERM, in ordinary code.
//
//     sennit::io::signals stop{SIGINT, SIGTERM};           // <csignal> has the names
//     server.start([&] { io::serve(door, {.drain = 10s}, handler); });
//     stop.wait();                                         // Ctrl-C, or a service manager
//     door.close();                                        // serve drains, and returns
//
// Use it to end a server in good order, or to load its settings again (SIGHUP). Do not use it for
// faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL): they belong to the instruction that raised them.
//
// While an object lives, its signals do not have their usual action. Each object that wants a
// signal gets it. Signals of one number that come before the first is taken count as one, as usual.
// A signal that was ignored, for example SIGHUP under nohup, comes, too.
// The library installs a handler for the process (SA_RESTART, SA_ONSTACK) and changes the mask of
// no thread. Do not block the signals in all threads. A program that is started by exec gets the
// default action. In a child of fork() the object is dead: the child makes its own, and has the
// earlier actions until then.
// The waits are points of cancellation; handle.hpp describes limits of time, `cancel` and `close`.
// Thread safety: several strands may wait; each signal ends one wait. At most 64 objects exist in a
// process. Cost: a descriptor each, which is kept for the next object.
#pragma once

#include "sennit/block_on.hpp" // The class task.
#include "sennit/io/error.hpp"
#include "sennit/io/handle.hpp"

#include <initializer_list>
#include <system_error>
#include <utility>

namespace sennit::sys {
class signal_inbox;
}

namespace sennit::io {

class signals : public handle {
public:
    signals() noexcept = default; // Closed.
    // Throws io::error: std::errc::invalid_argument for a signal that cannot be handled, or that
    // Sennit itself needs (SIGURG); std::errc::too_many_files_open. Throws std::bad_alloc.
    explicit signals(std::initializer_list<int> which);
    signals(signals&& from) noexcept
        : handle(std::move(from)), arrivals_(std::exchange(from.arrivals_, nullptr)) {}
    signals& operator=(signals&& from) noexcept;
    ~signals();

    // Block until a signal comes, and return its number. Throw io::error, cancelled.
    int wait();
    int wait(std::error_code& failed);
    task<int> async_wait();
    // Returns 0 if no signal has come. Does not block.
    int try_wait() noexcept;

private:
    sys::signal_inbox* arrivals_ = nullptr;
};

} // namespace sennit::io
