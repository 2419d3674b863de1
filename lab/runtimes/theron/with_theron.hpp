// SPDX-License-Identifier: Apache-2.0
// Theron's framework, with as many threads as asked for, and the operations of the program on its
// actors.
#pragma once

#include "actors/finish.hpp"
#include "fibers/threads.hpp"
#include "messages.hpp"

#include <Theron/Theron.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace lab {

// The program waits on this event, as the programs of the other ports do. Theron's own receiver
// would poll.
using theron_finish = finish_with<threads_base::event>;
using theron_actors = std::vector<std::unique_ptr<Theron::Actor>>;

struct with_theron {
    Theron::Framework framework;
    explicit with_theron(unsigned threads) : framework(Theron::Framework::Parameters(threads)) {}

    template <class Message>
    void send(const Message& message, const Theron::Actor& to) {
        framework.Send(message, Theron::Address::Null(), to.GetAddress());
    }

    // A framework numbers its actors with 20 bits. After the last number it begins again, without a
    // check for actors that still exist.
    static constexpr std::int64_t most_actors = (1 << 20) - 1;
    static void check_actors(std::int64_t count) {
        if (count > most_actors)
            throw std::invalid_argument(
                "a framework of Theron has addresses for 1048575 actors, this makes " +
                std::to_string(count));
    }
};

// Deletes the actors one after the other. Each actor is deleted when it has handled its messages,
// so senders come first. (Theron waits for a running handler, but not for messages: it writes an
// error message for each of them.)
inline void end(theron_actors& actors) {
    for (auto& one : actors) {
        while (one->GetNumQueuedMessages() != 0) std::this_thread::yield();
        one.reset();
    }
    actors.clear();
}

} // namespace lab
