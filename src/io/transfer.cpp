// SPDX-License-Identifier: Apache-2.0
// The calls that move bytes: sennit/io/stream.hpp.
#include "io/access.hpp"
#include "io/async_run.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/io/detail/whole.hpp"
#include "sennit/io/stream.hpp"

#include <algorithm>
#include <array>

namespace sennit::io::detail {

using sched::io_bytes;
using sched::io_operation;
using sched::io_record;
using sched::io_result;
using sched::io_use;

namespace {

std::error_code closed_handle() noexcept {
    return std::make_error_code(std::errc::bad_file_descriptor);
}

bool is_socket(const handle& on) noexcept {
    const io_record* record = handle_access::record(on);
    return record && record->is_socket();
}

io_operation reading(const handle& from, io_bytes& into) noexcept {
    return is_socket(from) ? sched::receive_from_socket(into) : sched::read_from_pipe(into);
}
io_operation writing(const handle& to, io_bytes& from) noexcept {
    return is_socket(to) ? sched::send_to_socket(from) : sched::write_to_pipe(from);
}

io_bytes bytes_into(bytes into) noexcept {
    return {into.data(), into.size()};
}
io_bytes bytes_from(const_bytes from) noexcept {
    // SAFETY: an operation that writes only reads these bytes.
    return {const_cast<std::byte*>(from.data()), from.size()};
}

// The error of a further step of a call: the call began before the handle was closed.
void note_close_during_call(const handle& on, std::error_code& failed) noexcept {
    if (failed == std::errc::bad_file_descriptor && !on.is_open())
        failed = std::make_error_code(std::errc::operation_canceled);
}

std::string text_of(const handle& on) {
    const int descriptor = on.native_handle();
    if (descriptor < 0) return {};
    sys::socket_address peer;
    if (is_socket(on) && sys::remote_address(descriptor, peer) >= 0)
        if (std::string text = sys::text_of(peer); text.size() > 5) return text;
    return "descriptor " + std::to_string(descriptor);
}

} // namespace

std::error_code code_of(int negative_error) noexcept {
    return {-negative_error, std::generic_category()};
}

std::ptrdiff_t run(const handle& on, const io_operation& what, std::error_code& failed) {
    io_record* const record = handle_access::record(on);
    if (!record) {
        failed = closed_handle();
        return 0;
    }
    const io_result done = sched::io_run(*record, what);
    if (done.scope_canceled) throw cancelled();
    failed = done.error;
    return done.count;
}

std::ptrdiff_t try_run(const handle& on, const io_operation& what,
                       std::error_code& failed) noexcept {
    io_record* const record = handle_access::record(on);
    io_result done;
    if (!record) {
        done.error = closed_handle();
    } else if (io_use use(*record); !use.attempt(what, done)) {
        done.error = std::make_error_code(std::errc::operation_would_block);
    }
    failed = done.error;
    return done.count;
}

void check(const std::error_code& failed, const char* operation, const handle& on) {
    if (failed) throw error(failed, operation, text_of(on));
}

std::size_t read_some(const handle& from, bytes into, std::error_code& failed) {
    failed.clear();
    if (into.empty()) return 0;
    io_bytes where = bytes_into(into);
    return static_cast<std::size_t>(run(from, reading(from, where), failed));
}

std::size_t read_all(const handle& from, bytes into, std::error_code& failed) {
    return read_whole(into, failed, [&](bytes rest, std::error_code& error) {
        const std::size_t n = read_some(from, rest, error);
        if (rest.size() != into.size()) note_close_during_call(from, error);
        return n;
    });
}

std::size_t write_some(const handle& to, const_bytes from, std::error_code& failed) {
    failed.clear();
    if (from.empty()) return 0;
    io_bytes what = bytes_from(from);
    return static_cast<std::size_t>(run(to, writing(to, what), failed));
}

std::size_t write_all(const handle& to, const_bytes from, std::error_code& failed) {
    return write_whole(from, failed, [&](const_bytes rest, std::error_code& error) {
        const std::size_t n = write_some(to, rest, error);
        if (rest.size() != from.size()) note_close_during_call(to, error);
        return n;
    });
}

std::size_t write_parts(const handle& to, std::span<const const_bytes> parts,
                        std::error_code& failed) {
    constexpr std::size_t at_once = 64;
    std::size_t done = 0;
    std::size_t skipped = 0; // Bytes of the first part that are written.
    bool begun = false;
    failed.clear();
    while (!parts.empty() && !failed) {
        if (skipped == parts.front().size()) {
            parts = parts.subspan(1);
            skipped = 0;
            continue;
        }
        if (!is_socket(to)) {
            const std::size_t n = write_some(to, parts.front().subspan(skipped), failed);
            if (begun) note_close_during_call(to, failed);
            begun = true;
            done += n;
            skipped += n;
            continue;
        }
        std::array<sys::const_part, at_once> list{};
        const std::size_t count = std::min(parts.size(), at_once);
        for (std::size_t i = 0; i < count; ++i) list[i] = {parts[i].data(), parts[i].size()};
        list[0] = {parts.front().data() + skipped, parts.front().size() - skipped};
        sched::io_parts what{list.data(), count};
        auto n = static_cast<std::size_t>(run(to, sched::send_parts(what), failed));
        done += n;
        if (begun) note_close_during_call(to, failed);
        begun = true;
        for (n += skipped; !parts.empty() && n >= parts.front().size(); parts = parts.subspan(1))
            n -= parts.front().size();
        skipped = n;
    }
    return done;
}

// ---- tasks

// Awaits an event of a record.
struct readiness : sched::awaitable {
    readiness(io_record& on, io_record::pending& what) noexcept : record(&on), pending(&what) {}
    static constexpr bool await_ready() noexcept { return false; }
    [[gnu::noinline]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> at) {
        return record->begin_wait(at, *pending);
    }
    sched::io_wake await_resume() noexcept { return record->end_wait(*pending); }

    io_record* record;
    io_record::pending* pending;
};

task<std::ptrdiff_t> async_run(io_record& on, io_operation what, const char* name, const handle& of,
                               bool begun) {
    io_result result;
    {
        io_use use(on);
        while (!use.attempt(what, result)) {
            io_record::pending wait{.how = use.request_of(what), .error = {}};
            const sched::io_wake how = co_await readiness(on, wait);
            if (use.after_wait(how, wait.error, result)) break;
        }
    }
    if (result.scope_canceled) throw cancelled();
    if (begun) note_close_during_call(of, result.error);
    check(result.error, name, of);
    co_return result.count;
}

namespace {
// `begun`: not the first step of a call.
task<std::size_t> async_read_step(const handle& from, bytes into, bool begun) {
    if (into.empty()) co_return 0;
    io_record* const record = handle_access::record(from);
    if (!record) check(closed_handle(), "async_read_some", from);
    io_bytes where = bytes_into(into);
    co_return static_cast<std::size_t>(
        co_await async_run(*record, reading(from, where), "async_read_some", from, begun));
}

task<std::size_t> async_write_step(const handle& to, const_bytes from, bool begun) {
    if (from.empty()) co_return 0;
    io_record* const record = handle_access::record(to);
    if (!record) check(closed_handle(), "async_write_some", to);
    io_bytes what = bytes_from(from);
    co_return static_cast<std::size_t>(
        co_await async_run(*record, writing(to, what), "async_write_some", to, begun));
}
} // namespace

task<std::size_t> async_read_some(const handle& from, bytes into) {
    return async_read_step(from, into, false);
}

task<void> async_read(const handle& from, bytes into) {
    for (bool begun = false; !into.empty(); begun = true) {
        const std::size_t n = co_await async_read_step(from, into, begun);
        if (n == 0) check(errc::unexpected_end, "async_read", from);
        into = into.subspan(n);
    }
}

task<std::size_t> async_write_some(const handle& to, const_bytes from) {
    return async_write_step(to, from, false);
}

task<void> async_write(const handle& to, const_bytes from) {
    for (bool begun = false; !from.empty(); begun = true)
        from = from.subspan(co_await async_write_step(to, from, begun));
}

} // namespace sennit::io::detail
