// SPDX-License-Identifier: Apache-2.0
// The processors of the client and of the server. If there are more of them than the server has
// workers, the client has the last processor for itself, and the server has the rest. Without this
// rule the kernel puts client and server on the same processor in some runs only, and the round
// trip of one connection differs by a factor of ten. Otherwise client and server share all
// processors.
#pragma once

#include <sched.h>

namespace lab::io {

class processors {
public:
    explicit processors(unsigned workers) noexcept {
        if (::sched_getaffinity(0, sizeof all_, &all_) != 0) return; // More than a set holds.
        int last = CPU_SETSIZE - 1;
        while (last > 0 && !CPU_ISSET(last, &all_)) --last;
        apart_ = static_cast<unsigned>(CPU_COUNT(&all_)) > workers;
        CPU_ZERO(&client_);
        CPU_SET(last, &client_);
        server_ = all_;
        CPU_CLR(last, &server_);
    }
    // A program that this thread starts inherits its processors.
    void use_those_of_server() const noexcept {
        if (apart_) ::sched_setaffinity(0, sizeof server_, &server_);
    }
    void use_those_of_client() const noexcept {
        if (apart_) ::sched_setaffinity(0, sizeof client_, &client_);
    }

private:
    bool apart_ = false;
    cpu_set_t all_{}, server_{}, client_{};
};

} // namespace lab::io
