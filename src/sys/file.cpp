// SPDX-License-Identifier: Apache-2.0
#include "sys/file.hpp"

#include "sys/result.hpp"
#include "sys/without_sigpipe.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace sennit::sys {

namespace {

off_t as_offset(std::uint64_t offset) noexcept {
    return static_cast<off_t>(offset); // An offset that is too large is negative, and refused.
}

} // namespace

int open_file(const char* path, const open_request& how) noexcept {
    int flags = O_CLOEXEC | (how.write ? (how.read ? O_RDWR : O_WRONLY) : O_RDONLY);
    if (how.create) flags |= O_CREAT;
    if (how.exclusive) flags |= O_EXCL;
    if (how.truncate) flags |= O_TRUNC;
    if (how.append) flags |= O_APPEND;
    int made;
    do made = ::open(path, flags, static_cast<mode_t>(how.permissions));
    while (made < 0 && errno == EINTR);
    return int_result_of(made);
}
std::ptrdiff_t read_file(int file, void* into, std::size_t size, std::uint64_t offset) noexcept {
    return result_of(::pread(file, into, size, as_offset(offset)));
}
std::ptrdiff_t write_file(int file, const void* from, std::size_t size,
                          std::uint64_t offset) noexcept {
    return result_of(::pwrite(file, from, size, as_offset(offset)));
}
std::ptrdiff_t read_cached(int file, void* into, std::size_t size, std::uint64_t offset) noexcept {
    const iovec part{into, size};
    return result_of(::preadv2(file, &part, 1, as_offset(offset), RWF_NOWAIT));
}
std::ptrdiff_t write_cached(int file, const void* from, std::size_t size,
                            std::uint64_t offset) noexcept {
    // SAFETY: the call only reads the bytes.
    const iovec part{const_cast<void*>(from), size};
    return result_of(::pwritev2(file, &part, 1, as_offset(offset), RWF_NOWAIT));
}
bool would_need_disk(std::ptrdiff_t result) noexcept {
    // The file system, the kernel, or a container's filter does not know the flag.
    return result == -EAGAIN || result == -EOPNOTSUPP || result == -ENOSYS || result == -EPERM;
}
int sync_file(int file, bool with_metadata) noexcept {
    return int_result_of(with_metadata ? ::fsync(file) : ::fdatasync(file));
}
int truncate_file(int file, std::uint64_t size) noexcept {
    int result;
    do result = ::ftruncate(file, as_offset(size));
    while (result < 0 && errno == EINTR);
    return int_result_of(result);
}
std::int64_t size_of_file(int file) noexcept {
    struct stat found{};
    return ::fstat(file, &found) < 0 ? -errno : static_cast<std::int64_t>(found.st_size);
}
std::ptrdiff_t send_file(int socket, int file, std::uint64_t offset, std::size_t size) noexcept {
    without_sigpipe quiet;
    off_t at = as_offset(offset);
    const std::ptrdiff_t result = result_of(::sendfile(socket, file, &at, size));
    if (result == -EPIPE) quiet.take_raised();
    return result;
}
bool cannot_send(std::ptrdiff_t result) noexcept {
    return result == -EINVAL || result == -ENOSYS;
}

} // namespace sennit::sys
