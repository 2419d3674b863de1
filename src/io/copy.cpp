// SPDX-License-Identifier: Apache-2.0
#include "sennit/io/copy.hpp"

#include "io/access.hpp"
#include "io/runtime/io_file.hpp"
#include "sennit/blocking.hpp"

#include <algorithm>
#include <memory>

namespace sennit::io::detail {

namespace {

constexpr std::size_t buffer_size = std::size_t{64} << 10;
// One call of sendfile. The socket's buffer rarely takes more.
constexpr std::size_t part_size = std::size_t{256} << 10;

std::size_t at_most(std::size_t limit, std::uint64_t left) noexcept {
    return static_cast<std::size_t>(std::min<std::uint64_t>(limit, left));
}

bool is_cached(int file, std::uint64_t offset) noexcept {
    char byte;
    return !sys::would_need_disk(sys::read_cached(file, &byte, 1, offset));
}

// Reads the part into memory, so that sendfile does not block the worker for a disk. The first and
// the last byte stand for all: the system reads ahead.
void load(const sched::io_file_part& part) {
    if (is_cached(part.file, part.offset) && is_cached(part.file, part.offset + part.size - 1))
        return;
    blocking([&] {
        const auto unused = std::make_unique_for_overwrite<std::byte[]>(buffer_size);
        std::size_t done = 0;
        while (done < part.size) {
            const std::ptrdiff_t n =
                sys::read_file(part.file, unused.get(), buffer_size, part.offset + done);
            if (n <= 0) return; // sendfile reports it.
            done += static_cast<std::size_t>(n);
        }
    });
}

// Copies up to `most` bytes. `read(into, done)` reads the bytes behind the first `done` ones, and
// returns 0 at the end.
template <class Read>
std::uint64_t copy_by_buffer(const handle& to, std::uint64_t most, Read read) {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(buffer_size);
    std::uint64_t done = 0;
    std::error_code failed;
    while (done < most) {
        const std::size_t n = read(bytes(buffer.get(), at_most(buffer_size, most - done)), done);
        if (n == 0) break;
        (void)write_all(to, const_bytes(buffer.get(), n), failed);
        check(failed, "copy", to);
        done += n;
    }
    return done;
}

std::uint64_t copy_by_buffer(const file& from, const handle& to, std::uint64_t offset,
                             std::uint64_t most) {
    return copy_by_buffer(to, most, [&](bytes into, std::uint64_t done) {
        return from.read_at(into, offset + done);
    });
}

} // namespace

std::uint64_t copy(const handle& from, const handle& to, std::uint64_t most) {
    return copy_by_buffer(to, most, [&](bytes into, std::uint64_t) {
        std::error_code failed;
        const std::size_t n = read_some(from, into, failed);
        check(failed, "copy", from);
        return n;
    });
}

std::uint64_t copy_file(const file& from, const handle& to, std::uint64_t offset,
                        std::uint64_t most) {
    sched::io_record* const record = handle_access::record(to);
    if (!record || !record->is_socket()) return copy_by_buffer(from, to, offset, most);
    std::uint64_t done = 0;
    while (done < most) {
        sched::io_file_part part{from.native_handle(), offset + done,
                                 at_most(part_size, most - done)};
        load(part);
        std::error_code failed;
        const std::ptrdiff_t n = run(to, sched::send_file(part), failed);
        if (failed && sys::cannot_send(-failed.value()))
            return done + copy_by_buffer(from, to, offset + done, most - done);
        check(failed, "copy", to);
        if (n == 0) break;
        done += static_cast<std::uint64_t>(n);
    }
    return done;
}

} // namespace sennit::io::detail
