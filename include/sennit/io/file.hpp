// SPDX-License-Identifier: Apache-2.0
// io::file: a file whose calls block a fiber and never its worker.
//
//     sennit::io::file log("log.txt", {.read = false, .write = true, .create = true,
//                                      .append = true});
//     log.append("a line\n");
//     std::string all = sennit::io::read_file("settings.json");
//
// Use it where workers must not wait for a disk. For the names, the times and the contents of
// folders call std::filesystem inside `sennit::blocking`.
//
// A call first asks the system for the bytes that are in memory (preadv2, RWF_NOWAIT). Only if that
// does not suffice, the call goes to a thread of `blocking`. So a cached read costs as much as
// pread, and a read that needs the disk 10 to 200 us more. Some file systems answer no such
// question; there each call goes to a thread. Opening, `truncate` and `sync` always do. Offsets are
// explicit: no call has a position that another one moves. The calls are no points of cancellation,
// because the system cannot interrupt them; they call no other code. In a task they take a stack
// while they block. Thread safety: several strands may use a file at a time. Moving, closing and
// destroying require that no other strand uses it. Errors: io::error with the path. The form with
// an error returns the bytes that were transferred.
#pragma once

#include "sennit/io/error.hpp"
#include "sennit/io/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace sennit::io {

struct open_options {
    bool read = true;
    bool write = false;
    bool create = false;         // Make the file if it does not exist.
    bool exclusive = false;      // With `create`: fail with std::errc::file_exists if it exists.
    bool truncate = false;       // Drop the contents. Requires `write`.
    bool append = false;         // Each write goes to the end, and its offset is ignored.
    unsigned permissions = 0666; // Of a new file, less the umask.
};

class file {
public:
    file() noexcept = default; // Closed.
    // Opens a file for reading, or as `how` says. It is closed at exec.
    explicit file(std::string path, const open_options& how = {});
    file(file&& from) noexcept
        : descriptor_(std::exchange(from.descriptor_, -1)), appends_(from.appends_),
          path_(std::move(from.path_)) {}
    file& operator=(file&& from) noexcept;
    ~file() { close(); }

    bool is_open() const noexcept { return descriptor_ >= 0; }
    int native_handle() const noexcept { return descriptor_; }
    const std::string& path() const noexcept { return path_; }
    // Does nothing if the file is closed. Writes that the system has taken may still be lost if the
    // machine fails: see `sync`.
    void close() noexcept;

    // Fill `into` with the bytes at `offset`. Return the number of bytes, which is less only at the
    // end of the file.
    std::size_t read_at(bytes into, std::uint64_t offset) const;
    std::size_t read_at(bytes into, std::uint64_t offset, std::error_code& failed) const;
    // Write all bytes at `offset`. A hole before the offset is zero.
    void write_at(const_bytes from, std::uint64_t offset);
    std::size_t write_at(const_bytes from, std::uint64_t offset, std::error_code& failed);
    void write_at(std::string_view text, std::uint64_t offset) { write_at(bytes_of(text), offset); }
    // Write all bytes at the end. The file must be open with `append` (std::errc::invalid_argument
    // otherwise); two appends never overwrite each other.
    void append(const_bytes from);
    void append(std::string_view text) { append(bytes_of(text)); }

    std::string read_all() const; // From the beginning to the present end.
    std::uint64_t size() const;
    void truncate(std::uint64_t size);
    // Blocks until the contents are on the disk; with `metadata` also the times of the file.
    void sync(bool metadata = false);

private:
    void check(const std::error_code& failed, const char* operation) const;

    int descriptor_ = -1;
    bool appends_ = false;
    std::string path_;
};

// The whole file. Throws io::error, std::bad_alloc.
std::string read_file(const std::string& path);
// Replaces the contents of a file, or makes it. Not atomic: another process may see a part. Throws
// io::error.
void write_file(const std::string& path, const_bytes contents);
inline void write_file(const std::string& path, std::string_view contents) {
    write_file(path, bytes_of(contents));
}

} // namespace sennit::io
