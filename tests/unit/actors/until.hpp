// SPDX-License-Identifier: Apache-2.0
// Helpers that the tests of actors share.
#pragma once

#include "sennit/actor.hpp"
#include "sennit/event.hpp"
#include "sennit/runtime.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace actor_tests {

// Waits until another thread makes `holds` true. If it never does, the test reaches its time limit.
template <class F>
void until(F holds) {
    while (!holds()) std::this_thread::yield();
}

// While it lives, dead letters are counted but not printed.
class no_letters_written {
public:
    no_letters_written() : before_(sennit::set_dead_letter_handler(nullptr)) {}
    ~no_letters_written() { sennit::set_dead_letter_handler(before_); }
    no_letters_written(const no_letters_written&) = delete;

private:
    sennit::dead_letter_handler before_;
};

struct with_actors : testing::Test {
    no_letters_written quiet;
    sennit::runtime runtime{{.workers = 2}};
    sennit::actor_group group{runtime};
};

// A message that keeps its receiver in the handler until the test sets `until`.
struct held {
    std::shared_ptr<sennit::event> begun = std::make_shared<sennit::event>();
    std::shared_ptr<sennit::event> until = std::make_shared<sennit::event>();
    void wait() const {
        begun->set();
        until->wait();
    }
};

} // namespace actor_tests
