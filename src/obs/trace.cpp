// SPDX-License-Identifier: Apache-2.0
#include "obs/trace.hpp"

#include "core/diagnostics/tracing.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/fiber_block.hpp"
#include "sys/clock.hpp"
#include "sys/kernel_threads.hpp"
#include "sys/membarrier.hpp"
#include "sys/report.hpp"
#include "sys/symbolize.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace sennit::obs {

namespace {

using sched::strand;
using sched::trace_kind;

struct event {
    std::int64_t when_ns;
    std::uint64_t who; // 0: no strand
    const char* what;
    union {
        std::array<char, 24> name; // of the fiber or task (`runs`), or of the step (`steps`)
        // `sleeps`: the worker's steal requests and scans, and the process's barriers, so far.
        std::array<std::uint64_t, 3> counts;
    };
    const void* made_at; // the code that made the fiber or task (`runs`); null: unknown
    trace_kind kind;
};

struct buffer {
    std::unique_ptr<event[]> events{new event[events_of_a_thread]};
    // Number of events so far, of which the last ones are kept. Written by the owner thread.
    base::atomic<std::uint64_t> count{0};
    int worker = -1; // -1: not a worker
    sys::os_thread_id os_thread = sys::this_os_thread();
};

struct recording {
    std::mutex mutex; // guards `buffers`
    std::vector<std::unique_ptr<buffer>> buffers;
    std::string path;
    std::int64_t start_ns = sys::now_ns();
    const sys::process_id process = sys::this_process();
};
recording* current = nullptr; // written before `tracing::start` publishes the recorder

// Returns the calling thread's buffer; null: there is no memory.
[[gnu::noinline]] buffer* mine() noexcept {
    static thread_local buffer* own = nullptr;
    if (own) return own;
    try {
        auto fresh = std::make_unique<buffer>();
        if (sched::worker* me = sched::this_worker()) fresh->worker = static_cast<int>(me->index());
        std::lock_guard guard(current->mutex);
        current->buffers.push_back(std::move(fresh));
        own = current->buffers.back().get();
    } catch (const std::exception&) {
        return nullptr;
    }
    return own;
}

void record(trace_kind kind, strand* who, const char* what, const void* made_at) noexcept {
    buffer* to = mine();
    if (!to) return;
    // The strand is the worker's loop.
    if (sched::worker* me = sched::this_worker(); me && who == &me->self().own) who = nullptr;
    const std::uint64_t number = to->count.load_rlx(); // own thread's word
    event& one = to->events[number % events_of_a_thread];
    one.when_ns = sys::now_ns();
    one.kind = kind;
    one.what = what;
    one.who = who ? sched::number_of(*who) : 0;
    one.made_at = made_at;
    one.name[0] = '\0';
    if (sched::worker* me = sched::this_worker(); me && kind == trace_kind::sleeps)
        one.counts = {me->counted.steal_requests.read(), me->counted.scans.read(),
                      sys::barrier_count()};
    if (kind == trace_kind::runs && who && who->fiber) {
        const auto& block = *static_cast<sched::fiber_block*>(who->fiber);
        what = block.name();
        one.made_at = block.made_at();
    }
    if (what && (kind == trace_kind::runs || kind == trace_kind::steps))
        std::snprintf(one.name.data(), one.name.size(), "%s", what);
    to->count.store_rel(number + 1); // pairs with write
}

// Returns the number of bytes of the UTF-8 character that begins at `text`; 0: no character does.
// The Unicode Standard, table 3-7.
std::size_t character_at(const char* text) noexcept {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return 0;
    const unsigned char low = first == 0xe0   ? 0xa0
                              : first == 0xf0 ? 0x90
                                              : 0x80; // lower values are overlong encodings
    // higher values are surrogates or beyond U+10FFFF
    const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < low || byte(1) > high) return 0;
    const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (std::size_t i = 2; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    return length;
}

// Returns the inside of a JSON string. JSON is UTF-8, but a name may hold any bytes.
std::string quoted(const char* text) {
    std::string result;
    while (*text != '\0') {
        const std::size_t length = character_at(text);
        if (length == 0) {
            result += '?';
            ++text;
            continue;
        }
        if (*text == '"' || *text == '\\') result += '\\';
        if (static_cast<unsigned char>(*text) < 0x20)
            result += ' ';
        else
            result.append(text, length);
        text += length;
    }
    return result;
}

// Formats in microseconds, with a decimal point in every locale.
std::string in_us(std::int64_t ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(ns / 1000),
                  static_cast<int>(ns % 1000));
    return text;
}

// Writes one thread's events as lines of JSON.
class writer {
public:
    writer(std::FILE* to, const recording& of) noexcept : to_(to), of_(of) {}

    void write(const buffer& from, std::size_t track) {
        track_ = track;
        const std::uint64_t count = from.count.load_acq(); // pairs with record
        const std::uint64_t kept = std::min<std::uint64_t>(count, events_of_a_thread);
        std::fprintf(to_,
                     "%s{\"ph\":\"M\",\"pid\":1,\"tid\":%zu,\"name\":\"thread_name\",\"args\":{"
                     "\"name\":\"%s %d\"}}",
                     separator(), track, from.worker >= 0 ? "worker" : "thread",
                     from.worker >= 0 ? from.worker : from.os_thread);
        if (kept != count)
            std::fprintf(to_,
                         "%s{\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":%zu,\"ts\":0,\"name\":\"%"
                         "llu older events were dropped\"}",
                         separator(), track, static_cast<unsigned long long>(count - kept));
        open_ = false;
        for (std::uint64_t i = count - kept; i != count; ++i)
            add(from.events[i % events_of_a_thread]);
        if (open_) end(last_);
    }

private:
    const char* separator() noexcept {
        const char* now = first_ ? "\n" : ",\n";
        first_ = false;
        return now;
    }
    std::string us(std::int64_t when_ns) const { return in_us(when_ns - of_.start_ns); }
    // The text of a code address.
    const std::string& place(const void* address) {
        const auto [found, fresh] = places_.try_emplace(address);
        if (fresh) found->second = quoted(sys::symbolize(address).c_str());
        return found->second;
    }
    void begin(const event& one, const char* name) {
        std::fprintf(to_, "%s{\"ph\":\"B\",\"pid\":1,\"tid\":%zu,\"ts\":%s,\"name\":\"%s\"",
                     separator(), track_, us(one.when_ns).c_str(), name);
        if (one.made_at)
            std::fprintf(to_, ",\"args\":{\"made at\":\"%s\"}", place(one.made_at).c_str());
        std::fputs("}", to_);
        open_ = true;
    }
    void begin_sleep(const event& one) {
        const auto number = [&](std::size_t i) {
            return static_cast<unsigned long long>(one.counts[i]);
        };
        std::fprintf(
            to_,
            "%s{\"ph\":\"B\",\"pid\":1,\"tid\":%zu,\"ts\":%s,\"name\":\"asleep\",\"args\":{"
            "\"steal requests\":%llu,\"scans\":%llu,\"barriers\":%llu}}",
            separator(), track_, us(one.when_ns).c_str(), number(0), number(1), number(2));
        open_ = true;
    }
    void end(std::int64_t when_ns) {
        std::fprintf(to_, "%s{\"ph\":\"E\",\"pid\":1,\"tid\":%zu,\"ts\":%s}", separator(), track_,
                     us(when_ns).c_str());
        open_ = false;
    }
    void instant(const event& one, const std::string& name) {
        std::fprintf(to_,
                     "%s{\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":%zu,\"ts\":%s,\"name\":\"%s\","
                     "\"args\":{\"strand\":%llu}}",
                     separator(), track_, us(one.when_ns).c_str(), name.c_str(),
                     static_cast<unsigned long long>(one.who));
    }
    void add(const event& one) {
        last_ = one.when_ns;
        switch (one.kind) {
        case trace_kind::runs: {
            if (open_) end(one.when_ns);
            if (one.who == 0) return;
            std::string name = one.name[0] != '\0' ? quoted(one.name.data()) : "strand";
            name.append(" ").append(std::to_string(one.who));
            begin(one, name.c_str());
            return;
        }
        case trace_kind::suspends:
            instant(one, "waits for " + quoted(one.what ? one.what : "something"));
            return;
        case trace_kind::wakes:
            instant(one, "wakes " + std::to_string(one.who));
            return;
        case trace_kind::steals:
            instant(one, "steals " + quoted(one.what ? one.what : ""));
            return;
        case trace_kind::sleeps:
            if (open_) end(one.when_ns);
            begin_sleep(one);
            return;
        case trace_kind::rises:
            if (open_) end(one.when_ns);
            return;
        case trace_kind::steps:
            instant(one, quoted(one.name.data()));
            return;
        }
    }

    std::FILE* to_;
    const recording& of_;
    std::size_t track_ = 0;
    bool first_ = true;
    bool open_ = false;
    std::int64_t last_ = 0;
    std::map<const void*, std::string> places_;
};

} // namespace

void start_trace(const std::string& path) {
    if (!sched::tracing::compiled_in)
        throw std::invalid_argument(
            "sennit: [SNT-023] SENNIT_TRACE is set, but this library was built with "
            "SENNIT_TRACE_HOOKS=OFF; unset it, or build the library with SENNIT_TRACE_HOOKS=ON");
    // opened now, while the caller can still report an error
    std::FILE* file = std::fopen(path.c_str(), "we");
    if (!file)
        throw std::system_error(errno, std::generic_category(),
                                "sennit: [SNT-024] SENNIT_TRACE: cannot write the file " + path);
    std::fclose(file);
    // Lives to the end of the process, because threads may record until then.
    current = new recording;
    current->path = path;
    sched::tracing::start(&record);
}

// A child of fork() has its parent's recording and the name of its file. The lock may be held by a
// thread that the child does not have.
void leave_trace_to_parent() noexcept {
    if (current && current->process != sys::this_process()) sched::tracing::stop();
}

void write_trace() noexcept {
    if (!current || current->process != sys::this_process()) return;
    std::lock_guard guard(current->mutex);
    std::FILE* file = std::fopen(current->path.c_str(), "we");
    if (!file) {
        sys::report({"sennit: [SNT-025] the trace is lost: the file cannot be written: ",
                     current->path.c_str(), "\n"});
        return;
    }
    try {
        std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file);
        writer to(file, *current);
        for (std::size_t i = 0; i < current->buffers.size(); ++i)
            to.write(*current->buffers[i], i + 1);
        std::fputs("\n]}\n", file);
    } catch (const std::exception&) {
        sys::report(
            {"sennit: [SNT-026] the trace is incomplete: there is no memory to write the rest\n"});
    }
    if (std::fclose(file) != 0)
        sys::report(
            {"sennit: [SNT-027] the trace is incomplete, perhaps because the disk is full: ",
             current->path.c_str(), "\n"});
}

} // namespace sennit::obs
