// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include <cstdio>
#include <cstring>

namespace sennit::sim {

namespace {

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

} // namespace

const char* base_name(place where) noexcept {
    const char* slash = std::strrchr(where.file_name(), '/');
    return slash ? slash + 1 : where.file_name();
}

const char* name(order o) noexcept {
    switch (o) {
    case order::relaxed:
        return "relaxed";
    case order::acquire:
        return "acquire";
    case order::release:
        return "release";
    case order::acq_rel:
        return "acq_rel";
    case order::seq_cst:
        return "seq_cst";
    }
    return "?";
}

const char* name(operation what) noexcept {
    switch (what) {
    case operation::load:
        return "load";
    case operation::store:
        return "store";
    case operation::exchange:
        return "exchange";
    case operation::cas:
        return "cas";
    case operation::fetch:
        return "fetch";
    }
    return "?";
}

std::string trace::called(const void* address, unsigned number) const {
    const auto found = names.find(address);
    return found == names.end() ? "word " + std::to_string(number) : found->second;
}

std::string trace::text() const {
    std::string out;
    char line[400];
    unsigned number = 0;
    for (const event& one : events_) {
        std::snprintf(line, sizeof line, "%5u  T%u  %-18s %-14s %-34s %s:%u\n", ++number,
                      one.thread, one.what.c_str(), one.word.c_str(), one.values.c_str(),
                      base_name(one.where), static_cast<unsigned>(one.where.line()));
        out += line;
    }
    return out;
}

std::string trace::perfetto() const {
    std::string out = "{\"traceEvents\": [\n";
    unsigned time = 0;
    for (const event& one : events_) {
        const std::string label = one.what + (one.word.empty() ? "" : " " + one.word);
        const std::string where =
            std::string(base_name(one.where)) + ":" + std::to_string(one.where.line());
        out += std::string(time == 0 ? "" : ",\n") + "{\"name\": " + quoted(label) +
               ", \"ph\": \"X\", \"dur\": 1, \"pid\": 1, \"tid\": " + std::to_string(one.thread) +
               ", \"ts\": " + std::to_string(time) +
               ", \"args\": {\"values\": " + quoted(one.values) + ", \"where\": " + quoted(where) +
               "}}";
        ++time;
    }
    return out + "\n]}\n";
}

} // namespace sennit::sim
