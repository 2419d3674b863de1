// SPDX-License-Identifier: Apache-2.0
// A server of the lab that accepts its connections in a runtime of its own.
#pragma once

#include "io/server.hpp"

#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
#include <sennit/runtime.hpp>

#include <unistd.h>

// Listens at a free port, announces it, and calls `start(door, clients)`, which starts the function
// or the task that accepts. Blocks until the standard input ends and all of `clients` have ended.
template <class F>
void serve_until_told(unsigned threads, F&& start) {
    sennit::runtime runtime({.workers = threads});
    runtime.run([&] {
        sennit::io::tcp_listener door(sennit::io::endpoint("127.0.0.1:0"));
        sennit::nursery clients;
        start(door, clients);
        lab::io::announce(door.local().port());
        sennit::io::borrowed(STDIN_FILENO).wait_readable();
        door.close();
        clients.join();
    });
}
