// SPDX-License-Identifier: Apache-2.0
// System calls on files. Each returns a negative error number where it fails.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::sys {

struct open_request {
    bool read, write, create, exclusive, truncate, append;
    unsigned permissions;
};

// The calls that are not said to return at once may block their thread for a disk.
int open_file(const char* path, const open_request& how) noexcept;
std::ptrdiff_t read_file(int file, void* into, std::size_t size, std::uint64_t offset) noexcept;
std::ptrdiff_t write_file(int file, const void* from, std::size_t size,
                          std::uint64_t offset) noexcept;
// Return at once: with the bytes that are cached, 0 at the end of the file, or an error for which
// would_need_disk is true.
std::ptrdiff_t read_cached(int file, void* into, std::size_t size, std::uint64_t offset) noexcept;
std::ptrdiff_t write_cached(int file, const void* from, std::size_t size,
                            std::uint64_t offset) noexcept;
bool would_need_disk(std::ptrdiff_t result) noexcept;

int sync_file(int file, bool with_metadata) noexcept;
int truncate_file(int file, std::uint64_t size) noexcept;
std::int64_t size_of_file(int file) noexcept;
// Sends from a file to a socket that does not block, and raises no SIGPIPE.
std::ptrdiff_t send_file(int socket, int file, std::uint64_t offset, std::size_t size) noexcept;
// True if the file is of a kind that send_file refuses.
bool cannot_send(std::ptrdiff_t result) noexcept;

} // namespace sennit::sys
