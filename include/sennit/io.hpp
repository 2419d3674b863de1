// SPDX-License-Identifier: Apache-2.0
// Input and output: sockets, pipes, files, names, signals and processes, whose calls block a fiber,
// a task, an actor's handler or a thread, and never a worker. Each header of sennit/io describes
// its part.
#pragma once

#include "sennit/io/borrowed.hpp"            // IWYU pragma: export
#include "sennit/io/child_process.hpp"       // IWYU pragma: export
#include "sennit/io/copy.hpp"                // IWYU pragma: export
#include "sennit/io/endpoint.hpp"            // IWYU pragma: export
#include "sennit/io/error.hpp"               // IWYU pragma: export
#include "sennit/io/file.hpp"                // IWYU pragma: export
#include "sennit/io/pipe.hpp"                // IWYU pragma: export
#include "sennit/io/resolve.hpp"             // IWYU pragma: export
#include "sennit/io/select.hpp"              // IWYU pragma: export
#include "sennit/io/serve.hpp"               // IWYU pragma: export
#include "sennit/io/serve_when_readable.hpp" // IWYU pragma: export
#include "sennit/io/signals.hpp"             // IWYU pragma: export
#include "sennit/io/stream.hpp"              // IWYU pragma: export
#include "sennit/io/tcp.hpp"                 // IWYU pragma: export
#include "sennit/io/udp.hpp"                 // IWYU pragma: export
#include "sennit/io/unix.hpp"                // IWYU pragma: export
