// SPDX-License-Identifier: Apache-2.0
// What a blocked call throws when the nursery or with_timeout around it is cancelled.
//
// Let it pass: it ends the fiber, and the nursery that cancelled it knows it. Waiting for a lock is
// never ended this way.
#pragma once

#include <exception>

namespace sennit {

class cancelled : public std::exception {
public:
    const char* what() const noexcept override {
        return "sennit: [SNT-225] the wait was cancelled by a nursery or a with_timeout around it";
    }
};

} // namespace sennit
