// SPDX-License-Identifier: Apache-2.0
// The events of one execution, as a list for people and as a file for Perfetto (ui.perfetto.dev).
#pragma once

#include "order.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sennit::sim {

struct event {
    unsigned thread;
    std::string what; // "load_acq", "sleeps", …
    std::string word; // its name, or empty
    std::string values;
    place where;
};

class trace {
public:
    void add(event one) { events_.push_back(std::move(one)); }
    const std::vector<event>& events() const noexcept { return events_; }

    // Names of words; a word without a name is called by its number.
    std::unordered_map<const void*, std::string> names;
    std::string called(const void* address, unsigned number) const;

    // A numbered line for each event: thread, operation, word, values, file and line.
    std::string text() const;
    // Trace events in JSON; one track for each thread, a microsecond for each event.
    std::string perfetto() const;

private:
    std::vector<event> events_;
};

} // namespace sennit::sim
