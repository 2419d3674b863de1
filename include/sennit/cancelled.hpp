// SPDX-License-Identifier: Apache-2.0
// cancelled: the exception that a blocked call throws when the surrounding nursery or with_timeout
// is cancelled.
//
//     try {
//         value = requests.pop();
//     } catch (const sennit::cancelled&) {
//         close_files();
//         throw;
//     }
//
// Let it pass: it ends the fiber, and the nursery that cancelled the fiber recognises it.
// Cancellation never ends a wait for a lock.
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
