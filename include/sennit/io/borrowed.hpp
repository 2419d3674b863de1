// SPDX-License-Identifier: Apache-2.0
// io::borrowed: waits for a descriptor of another library, which keeps and closes it.
//
//     sennit::io::borrowed socket(PQsocket(connection));
//     while (PQisBusy(connection)) {
//         socket.wait_readable();
//         PQconsumeInput(connection);
//     }
//
// Use it for libpq, libcurl, inotify and the like. The descriptor should not block (O_NONBLOCK):
// another strand may have taken the data when the wait returns. Destroy the object before the
// descriptor is closed, and make one object at a time for a descriptor. Waits are points of
// cancellation.
#pragma once

#include "sennit/io/error.hpp"
#include "sennit/io/handle.hpp"

#include <system_error>

namespace sennit::io {

class borrowed : public handle {
public:
    // Throws std::bad_alloc. The descriptor must be open.
    explicit borrowed(int descriptor);

    // Block until a read, or a write, would not block, or would fail. Return at once for a regular
    // file. Throw io::error, and cancelled.
    void wait_readable();
    void wait_readable(std::error_code& failed);
    void wait_writable();
    void wait_writable(std::error_code& failed);
};

} // namespace sennit::io
